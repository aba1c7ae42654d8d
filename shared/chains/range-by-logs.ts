import { type BlockContent, type BlockRef, ChainUnavailable, type LogPlace, type RangeContent, type Reader, type WatchSet } from './chain.ts';
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

/** What one provider says of a range. */
interface Told {
  places: LogPlace[];
  first: BlockRef;
  last: BlockRef;
}

/**
 * Blocks `from` to `to` as the indexes of logs of two providers tell of them: the blocks in which one of these tokens moved to or from a watched address
 * are read whole by `readBlock`, and of the others only that both providers say the same (decision 0053). It ends earlier once it holds `enough` transfers.
 * Answers a doubt where fewer than two providers say anything, or not the same, or where a block they tell of cannot be read.
 * @throws ChainUnavailable when it was too much to ask for at once
 */
export async function rangeByLogs(
  { endpoints, readers, readBlock }: { endpoints: Endpoints; readers: readonly Reader[]; readBlock(hash: string): Promise<BlockContent> },
  { from, to }: { from: number; to: number },
  how: ByLogs,
): Promise<RangeContent | Doubt> {
  const two = twoProviders(endpoints);
  if (two.length < 2) return { doubt: 'fewer than two providers are well' };
  const tell = async (at: number): Promise<Told> => {
    const { tokenPlaces, blockAt } = readers[at] as Required<Reader>;
    const [places, first, last] = await Promise.all([tokenPlaces(from, to, how.watched, how.contracts), blockAt(from), blockAt(to)]);
    return { places, first, last };
  };
  // How long thousands of blocks of logs take says nothing about how fast an endpoint is at the head.
  const ask = (at: number): Promise<Told> => endpoints.ask(at, () => tell(at), 'untimed');
  try {
    const [one, other] = (await Promise.all(two.map(ask))) as [Told, Told];
    if (one.first.hash !== other.first.hash || one.last.hash !== other.last.hash) return { doubt: 'two providers have different blocks' };
    if (namesOf(one.places) !== namesOf(other.places)) return { doubt: 'two providers tell of different logs' };
    const contents: BlockContent[] = [];
    const { parentHash } = one.first;
    const blocks = blocksOf(one.places);
    if (new Set(blocks.map(([height]) => height)).size < blocks.length) return { doubt: 'two blocks are said to be at one height' };
    let transfers = 0;
    while (blocks.length > 0) {
      const part = blocks.splice(0, BLOCKS_AT_ONCE);
      const read = await Promise.all(part.map(([, hash]) => readBlock(hash)));
      for (const [i, content] of read.entries()) {
        const { block } = content;
        if (block.height !== part[i]?.[0]) return { doubt: `block ${block.hash} is at ${block.height}, and not where its logs are said to be` };
        contents.push(content);
        transfers += content.transfers.length;
        if (transfers >= how.enough) return { parentHash, last: block, contents, internalUnseen: true };
      }
    }
    return { parentHash, last: one.last, contents, internalUnseen: true };
  } catch (error) {
    if (!(error instanceof ChainUnavailable) || isTooMuch(error)) throw error;
    return { doubt: error.message };
  }
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
