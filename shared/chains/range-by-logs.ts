import { type BlockContent, ChainUnavailable, type HeardLogs, type LogPlace, type RangeContent, type Reader, type WatchSet } from './chain.ts';
import { isTooMuch } from './too-much.ts';
import type { Endpoints } from './watch-endpoints.ts';

/** What is looked for in logs. */
export interface ByLogs {
  watched: WatchSet;
  /** Canonical addresses of tokens. */
  contracts: ReadonlySet<string>;
  /** As for any range. */
  enough: number;
}

/** Why blocks have to be read in another way. */
export interface Doubt {
  doubt: string;
}

/** Blocks read whole at once. */
const BLOCKS_AT_ONCE = 16;
/** Questions that each of two endpoints has at a time. */
const PIECES_AT_ONCE = 2;
/**
 * How long an answer about a piece of a range should be. Longer ones take more CPU: nothing of them is in the processor's caches by the time they are
 * looked through.
 */
const PIECE_BYTES = 3 * 1024 * 1024;
const FIRST_PIECE = 200;
/** Whatever an endpoint fills its answers with, a range is no more questions than this makes it. */
const SHORTEST_PIECE = 100;
const GROWS_AT_MOST = 4;

/** Reads a range by logs, as `JoinedReader.rangeByLogs`. */
type ReadByLogs = (from: number, to: number, how: ByLogs) => Promise<RangeContent | Doubt>;

/**
 * Blocks `from` to `to` as the indexes of logs of two providers tell of them: the blocks in which one of these tokens moved to or from a watched address
 * are read whole by `readBlock`, and of the others only that both providers say the same (decision 0053). It ends earlier once it holds `enough` transfers.
 * Answers a doubt where fewer than two providers say anything, or not the same, or where a block they tell of cannot be read. A range is asked for in
 * pieces, as long as answers about it have turned out to be.
 * @throws ChainUnavailable when it was too much to ask for at once
 */
export function openLogRanges({
  endpoints,
  readers,
  readBlock,
}: {
  endpoints: Endpoints;
  readers: readonly Reader[];
  readBlock(hash: string, watched: WatchSet): Promise<BlockContent>;
}): ReadByLogs {
  let pieceBlocks = FIRST_PIECE;
  const learn = (blocks: number, heard: readonly HeardLogs[]): void => {
    const longest = Math.max(1, ...heard.map(({ told }) => told.bytes.length));
    pieceBlocks = Math.max(SHORTEST_PIECE, Math.min(GROWS_AT_MOST * blocks, Math.floor((blocks * PIECE_BYTES) / longest)));
  };
  // How long thousands of blocks of logs take says nothing about how fast an endpoint is at the head.
  const askBoth = <T>(two: readonly number[], question: (one: Required<Reader>) => Promise<T>): Promise<[T, T]> =>
    Promise.all(two.map((at) => endpoints.ask(at, () => question(readers[at] as Required<Reader>), 'untimed'))) as Promise<[T, T]>;

  /** What both tell of a range; undefined where that is not the same. */
  const placesIn = async (two: readonly number[], from: number, to: number, { watched, contracts }: ByLogs): Promise<LogPlace[] | undefined> => {
    const told: LogPlace[] = [];
    let next = from;
    let differ = false;
    const askPieces = async (): Promise<void> => {
      while (next <= to) {
        const [first, last] = [next, Math.min(to, next + pieceBlocks - 1)];
        next = last + 1;
        const heard: HeardLogs[] = [];
        const [one, other] = await askBoth(two, ({ tokenPlaces }) => tokenPlaces(first, last, watched, contracts, heard)).catch((error: unknown) => {
          next = to + 1;
          throw error;
        });
        learn(last - first + 1, heard);
        for (const { told: answer } of heard) answer.release();
        for (const place of one) told.push(place);
        if (namesOf(one) === namesOf(other)) continue;
        differ = true;
        next = to + 1;
      }
    };
    await Promise.all(Array.from({ length: PIECES_AT_ONCE }, askPieces));
    return differ ? undefined : told;
  };

  return async (from, to, how) => {
    const two = twoProviders(endpoints);
    if (two.length < 2) return { doubt: 'fewer than two providers are well' };
    try {
      const ends = askBoth(two, ({ blockAt }) => Promise.all([blockAt(from), blockAt(to)]));
      const [[[first, last], [otherFirst, otherLast]], places] = await Promise.all([ends, placesIn(two, from, to, how)]);
      if (first.hash !== otherFirst.hash || last.hash !== otherLast.hash) return { doubt: 'two providers have different blocks' };
      if (places === undefined) return { doubt: 'two providers tell of different logs' };
      const contents: BlockContent[] = [];
      const { parentHash } = first;
      const blocks = blocksOf(places);
      if (new Set(blocks.map(([height]) => height)).size < blocks.length) return { doubt: 'two blocks are said to be at one height' };
      let transfers = 0;
      while (blocks.length > 0) {
        const part = blocks.splice(0, BLOCKS_AT_ONCE);
        const read = await Promise.all(part.map(([, hash]) => readBlock(hash, how.watched)));
        for (const [i, content] of read.entries()) {
          const { block } = content;
          if (block.height !== part[i]?.[0]) return { doubt: `block ${block.hash} is at ${block.height}, and not where its logs are said to be` };
          contents.push(content);
          transfers += content.transfers.length;
          if (transfers >= how.enough) return { parentHash, last: block, contents, internalUnseen: true };
        }
      }
      return { parentHash, last, contents, internalUnseen: true };
    } catch (error) {
      if (!(error instanceof ChainUnavailable) || isTooMuch(error)) throw error;
      return { doubt: error.message };
    }
  };
}

/** The best endpoint and the best one of another provider, of those that are well. */
function twoProviders(endpoints: Endpoints): number[] {
  const well = endpoints.inOrder().filter((at) => endpoints.standing(at) === 'well');
  const [best] = well;
  return best === undefined ? [] : [best, ...well.filter((at) => endpoints.providerOf(at) !== endpoints.providerOf(best)).slice(0, 1)];
}

/** The same text for the same places, in whichever order they were told. */
function namesOf(places: readonly LogPlace[]): string {
  return places
    .map(({ height, blockHash, txid, index }) => `${height} ${blockHash} ${txid} ${index}`)
    .sort()
    .join('\n');
}

/** Heights and hashes of the blocks these are in, lowest first. */
function blocksOf(places: readonly LogPlace[]): [number, string][] {
  return [...new Map(places.map(({ height, blockHash }) => [blockHash, height]))]
    .map(([hash, height]): [number, string] => [height, hash])
    .sort(([a], [b]) => a - b);
}
