import type { NetworkConfig } from '#shared/core/assets.ts';
import { type BlockContent, type BlockRef, ChainUnavailable, type Reader, type WatchSet } from '../chain.ts';
import type { Rpc } from '../rpc.ts';
import { openBalances } from './balance.ts';
import { openBlocks } from './blocks.ts';
import { contentOf, refOf } from './content.ts';
import { readMempool } from './mempool.ts';
import { bitcoinParams } from './params.ts';
import { type Block, unsure } from './replies.ts';
import { type KeySet, openRawBlocks, type ToldBlocks } from './raw-blocks.ts';
import { openLookUp } from './transaction.ts';
import { openScans, unspentAmounts, waitingSpenders } from './unspent.ts';

/**
 * Most blocks that share one request, and how many bytes of transactions they may have: told in JSON it is ten to twenty times
 * as much. How large blocks are is learned from those before, beginning with one and never more than twice as many.
 */
const BLOCKS_PER_REQUEST = 20;
const BYTES_PER_REQUEST = 4_000_000;
/** The same of blocks as bytes, of which two answers may be held at a time: as many as share a request with a header and as many hashes. */
const RAW_BLOCKS_PER_REQUEST = 31;
const FIRST_RAW_BLOCKS = 4;

/**
 * Reads a Bitcoin network over the RPC of a node without any wallet. Header hashes, transaction ids, merkle roots, witness
 * commitments and heights are recomputed from bytes, amounts are read from bytes, and inputs of what concerns us must fit what they are
 * said to spend, before a word of a block is believed.
 * @throws Error when the chain id is none of Bitcoin's
 */
export function bitcoinReader(network: Pick<NetworkConfig, 'chainId' | 'name'>, rpc: Rpc): Reader {
  const params = bitcoinParams(network.chainId);
  const blocks = openBlocks(rpc, params);
  const unspent = openScans(blocks, params);
  const balanceOf = openBalances(blocks, unspent, params);
  const lookUp = openLookUp(blocks, params);
  const raw = openRawBlocks(blocks, params);
  let atOnce = 1;
  let rawAtOnce = FIRST_RAW_BLOCKS;

  const hashesOf = (from: number, to: number): Promise<string[]> =>
    Promise.all(Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => blocks.hashAt(from + i)));

  const readWithCare = async (hashes: readonly string[], watched: WatchSet): Promise<BlockContent[]> => {
    const contents: BlockContent[] = [];
    while (contents.length < hashes.length) {
      const read = await Promise.all(hashes.slice(contents.length, contents.length + atOnce).map((hash) => blocks.block(hash)));
      const bytes = read.reduce((sum, block) => sum + bytesIn(block), 0);
      atOnce = Math.max(1, Math.min(BLOCKS_PER_REQUEST, 2 * read.length, Math.floor((BYTES_PER_REQUEST * read.length) / bytes)));
      for (const block of read) contents.push(await contentOf(block, params, watched));
    }
    return contents;
  };

  /** `before` is the reading of the blocks before these: what is told in JSON of two lots of blocks is never held at a time. */
  const readTold = async (told: ToldBlocks, watched: KeySet, before?: Promise<unknown>): Promise<BlockContent[]> => {
    const found = await raw.contents(told, watched);
    const doubtful = told.hashes.filter((_, i) => found[i] === null);
    if (doubtful.length > 0) await before?.catch(() => undefined);
    const read = (await readWithCare(doubtful, watched)).values();
    return found.map((content) => content ?? (read.next().value as BlockContent));
  };

  /** Contents of consecutive blocks, some at a time. */
  async function* contentsOf(from: number, to: number, watched: WatchSet): AsyncGenerator<BlockContent[]> {
    if (!knowsKeys(watched)) {
      for (let start = from, end = from; start <= to; start = end + 1) {
        end = Math.min(to, start + atOnce - 1);
        yield readWithCare(await hashesOf(start, end), watched);
      }
      return;
    }
    const first = await hashesOf(from, Math.min(to, from + rawAtOnce - 1));
    let asked = raw.ask(first);
    asked.catch(() => undefined);
    const hashes = [...first, ...(await hashesOf(from + first.length, to))];
    let before: Promise<BlockContent[]> | undefined;
    for (let done = 0; done < hashes.length; ) {
      const told = await asked;
      done += told.hashes.length;
      const largest = Math.max(...told.blocks.map((bytes) => bytes?.length ?? BYTES_PER_REQUEST));
      rawAtOnce = Math.max(1, Math.min(RAW_BLOCKS_PER_REQUEST, 2 * told.hashes.length, Math.floor(BYTES_PER_REQUEST / largest)));
      // The node answers for the next ones while these are walked over; whoever wants no more of them need not know what became of that.
      if (done < hashes.length) asked = raw.ask(hashes.slice(done, done + rawAtOnce));
      asked.catch(() => undefined);
      // While the node says what hits of these spend, the next ones are walked over.
      const reading = readTold(told, watched, before);
      reading.catch(() => undefined);
      if (before !== undefined) yield before;
      before = reading;
    }
    if (before !== undefined) yield before;
  }

  return {
    async genesisHash() {
      const hash = await blocks.hashAt(0);
      if (hash === params.genesis) return hash;
      throw new ChainUnavailable(`the node's first block is ${hash}, but ${network.name} is configured as ${network.chainId}`, { trouble: 'wrong-chain' });
    },

    async head() {
      return { latest: refOf(await blocks.head()), safeHeight: null, finalizedHeight: null };
    },

    async blockAt(height) {
      return refOf(await blocks.headerAt(height));
    },

    async block(hash, watched) {
      const [content] = await (knowsKeys(watched) ? readTold(await raw.ask([hash]), watched) : readWithCare([hash], watched));
      return content as BlockContent;
    },

    async range(from, to, watched, { enough = Number.POSITIVE_INFINITY } = {}) {
      if (from > to) throw new RangeError(`an empty range of blocks: ${from}..${to}`);
      const contents: BlockContent[] = [];
      let parentHash: string | undefined;
      let last: BlockRef | undefined;
      let transfers = 0;
      let height = from;
      for await (const some of contentsOf(from, to, watched)) {
        for (const content of some) {
          const { block } = content;
          if (block.height !== height) unsure(`asked for block ${height}, got ${block.height}`);
          if (last !== undefined && block.parentHash !== last.hash) unsure(`block ${block.height} does not follow block ${last.height}`);
          parentHash ??= block.parentHash;
          last = block;
          height += 1;
          transfers += content.transfers.length;
          if (content.transfers.length > 0 || content.sent.length > 0) contents.push(content);
        }
        if (transfers >= enough) break;
      }
      return { parentHash: parentHash as string, last: last as BlockRef, contents };
    },

    transaction: lookUp,

    async balance(address, contract, height) {
      if (contract !== null) throw new ChainUnavailable(`there are no tokens on ${network.name}`, { trouble: 'refused' });
      return balanceOf(address, height);
    },

    /** Whatever moves coins here is in the bytes of a transaction. */
    seesInternal: () => Promise.resolve(true),

    mempool: (watched, known) => readMempool(blocks, params, watched, known),
    outputs: (wanted) => unspentAmounts(blocks, wanted),

    async unspentAt(address) {
      const { at, outputs } = await unspent(address);
      return { at: refOf(at), outputs };
    },

    waitingSpenders: (wanted) => waitingSpenders(blocks, wanted),

    close: () => Promise.resolve(),
  };
}

function knowsKeys(watched: WatchSet): watched is KeySet {
  return watched.hasKey !== undefined;
}

function bytesIn({ transactions }: Block): number {
  return transactions.reduce((sum, { bytes }) => sum + bytes.length, 0);
}
