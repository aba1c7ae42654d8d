import { openTronApi } from '#shared/chains/tron/http.ts';

/** A TRON node's HTTP API as the development tools use it; addresses in and out are the node's hexadecimal ones. */
export interface TronNode {
  url: string;
  /** Integers that a number cannot hold exactly arrive as bigint. @throws with the node's own message when it refuses */
  call<T>(path: string, body?: Record<string, unknown>): Promise<T>;
  /** The block at the head. */
  head(): Promise<TronBlock>;
  /** Null when the chain is not that long. */
  block(height: number): Promise<TronBlock | null>;
}

/** What nodes leave out is what has its default value: nothing, zero, false. */
export interface TronBlock {
  blockID: string;
  block_header: { raw_data: { number?: number; timestamp?: number; parentHash?: string } };
  transactions?: { txID: string }[];
}

/** Talks to the node at `url`, which serves `/wallet` and `/walletsolidity`. */
export function tronNode(url: string): TronNode {
  const api = openTronApi(url);
  const call = async <T>(path: string, body: Record<string, unknown> = {}): Promise<T> => (await api(path, body)) as T;
  return {
    url,
    call,
    head: () => call('wallet/getnowblock'),
    async block(height) {
      const block = await call<Partial<TronBlock>>('wallet/getblockbynum', { num: height });
      return block.blockID === undefined ? null : (block as TronBlock);
    },
  };
}

/** Height of a block; the node leaves a zero out. */
export function heightOf(block: TronBlock): number {
  return block.block_header.raw_data.number ?? 0;
}

/** Text that nodes send as hexadecimal UTF-8. */
export function decodeText(hex: string): string {
  return Buffer.from(hex, 'hex').toString('utf8');
}
