import type { NetworkConfig } from '#shared/core/assets.ts';
import { type BlockContent, type BlockRef, ChainUnavailable, type Reader, type WatchSet } from '../chain.ts';
import type { Rpc } from '../rpc.ts';
import { openBalances } from './balance.ts';
import { openBlocks } from './blocks.ts';
import { contentOf, refOf } from './content.ts';
import { readMempool } from './mempool.ts';
import { bitcoinParams } from './params.ts';
import { type Block, unsure } from './replies.ts';
import { openLookUp } from './transaction.ts';
import { openScans, unspentAmounts, waitingSpenders } from './unspent.ts';

/**
 * Most blocks that share one request, and how many bytes of transactions they may have: told in JSON it is ten to twenty times
 * as much. How large blocks are is learned from those before, beginning with one and never more than twice as many.
 */
const BLOCKS_PER_REQUEST = 20;
const BYTES_PER_REQUEST = 4_000_000;

/**
 * Reads a Bitcoin network over the RPC of a node without any wallet. Header hashes, transaction ids, merkle roots, witness
 * commitments and heights are recomputed from bytes, amounts are read from bytes, and inputs must fit what they are said to
 * spend, before a word of a block is believed.
 * @throws Error when the chain id is none of Bitcoin's
 */
export function bitcoinReader(network: Pick<NetworkConfig, 'chainId' | 'name'>, rpc: Rpc): Reader {
  const params = bitcoinParams(network.chainId);
  const blocks = openBlocks(rpc, params);
  const unspent = openScans(blocks, params);
  const balanceOf = openBalances(blocks, unspent, params);
  const lookUp = openLookUp(blocks, params);
  let atOnce = 1;

  const readChunk = async (from: number, to: number, watched: WatchSet): Promise<BlockContent[]> => {
    const hashes = await Promise.all(Array.from({ length: to - from + 1 }, (_, i) => blocks.hashAt(from + i)));
    const read = await Promise.all(hashes.map((hash) => blocks.block(hash)));
    const bytes = read.reduce((sum, block) => sum + bytesOf(block), 0);
    atOnce = Math.max(1, Math.min(BLOCKS_PER_REQUEST, 2 * read.length, Math.floor((BYTES_PER_REQUEST * read.length) / bytes)));
    const contents: BlockContent[] = [];
    for (const [i, block] of read.entries())
      contents.push(block.height === from + i ? await contentOf(block, params, watched) : unsure(`asked for block ${from + i}, got ${block.height}`));
    return contents;
  };

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
      return contentOf(await blocks.block(hash), params, watched);
    },

    async range(from, to, watched, { enough = Number.POSITIVE_INFINITY } = {}) {
      if (from > to) throw new RangeError(`an empty range of blocks: ${from}..${to}`);
      const contents: BlockContent[] = [];
      let parentHash: string | undefined;
      let last: BlockRef | undefined;
      let transfers = 0;
      for (let start = from; start <= to && transfers < enough; ) {
        const end = Math.min(to, start + atOnce - 1);
        for (const content of await readChunk(start, end, watched)) {
          const { block } = content;
          if (last !== undefined && block.parentHash !== last.hash) unsure(`block ${block.height} does not follow block ${last.height}`);
          parentHash ??= block.parentHash;
          last = block;
          transfers += content.transfers.length;
          if (content.transfers.length > 0 || content.sent.length > 0) contents.push(content);
        }
        start = end + 1;
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

function bytesOf({ transactions }: Block): number {
  return transactions.reduce((sum, { bytes }) => sum + bytes.length, 0);
}
