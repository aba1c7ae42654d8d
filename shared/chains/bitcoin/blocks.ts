import { ChainUnavailable } from '../chain.ts';
import { type Rpc, RpcRefused } from '../rpc.ts';
import type { BitcoinParams } from './params.ts';
import { type Block, type Header, readBlock, readHash, readHeader, unsure } from './replies.ts';

/** Proven headers and blocks of one node. */
export interface Blocks {
  /** Refusals of the node come as `ChainUnavailable`, whose cause they are. */
  call: Rpc;
  header(hash: string): Promise<Header>;
  /** On the node's own chain. */
  headerAt(height: number): Promise<Header>;
  /** The block of the node's tip. */
  head(): Promise<Header>;
  /** On the node's own chain, with what its transactions spend. */
  block(hash: string): Promise<Block>;
  hashAt(height: number): Promise<string>;
}

/** A tip can lose its place between two questions; more often than this it is no accident. */
const TRIES = 3;

/** The code of the refusal an error came from; undefined when the node refused nothing. */
export function refusalOf(error: unknown): RpcRefused | undefined {
  const cause = error instanceof ChainUnavailable ? error.cause : error;
  return cause instanceof RpcRefused ? cause : undefined;
}

/** Reads headers and blocks over a node's RPC and proves each of them. */
export function openBlocks(rpc: Rpc, params: BitcoinParams): Blocks {
  const call: Rpc = async (method, args, as) => {
    try {
      return await rpc(method, args, as);
    } catch (error) {
      if (error instanceof RpcRefused) throw new ChainUnavailable(error.message, { cause: error });
      throw error;
    }
  };

  const hashAt = async (height: number): Promise<string> => readHash(await call('getblockhash', [height]), 'a block hash');

  const header = async (hash: string): Promise<Header> => {
    const read = readHeader(await call('getblockheader', [hash]), params);
    return read.hash === hash ? read : unsure(`asked for block ${hash}, got ${read.hash}`);
  };

  let tip: Header | undefined;

  return {
    call,
    header,
    hashAt,

    async headerAt(height) {
      const read = await header(await hashAt(height));
      if (read.confirmations === null) unsure(`block ${read.hash} is no longer on its chain`);
      return read.height === height ? read : unsure(`asked for block ${height}, got ${read.height}`);
    },

    async head() {
      for (let tried = 1; tried <= TRIES; tried++) {
        const best = readHash(await call('getbestblockhash', []), 'the hash of the head');
        // Asked several times a block: what was proven of this very block is still so, and the node has just said that it is its tip.
        if (tip?.hash === best) return tip;
        const found = await header(best);
        tip = found.confirmations === null ? undefined : found;
        if (tip !== undefined) return tip;
      }
      return unsure(`its head lost its place ${TRIES} times`);
    },

    async block(hash) {
      const read = readBlock(await call('getblock', [hash, 3]), params);
      if (read.hash !== hash) unsure(`asked for block ${hash}, got ${read.hash}`);
      return read.confirmations === null ? unsure(`block ${hash} is no longer on its chain`) : read;
    },
  };
}
