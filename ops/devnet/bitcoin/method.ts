import type { Block } from './block.ts';
import type { BitcoinNode } from './node.ts';
import { RPC, RpcError } from './refusal.ts';
import type { Arguments } from './request.ts';

/** One method of the RPC: the names of its arguments in order, and what it does; `wallet` is the one named by the URL. */
export interface Method {
  names: readonly string[];
  run(node: BitcoinNode, ask: Arguments, wallet: string | null): unknown;
}

export type Methods = Record<string, Method>;

export function method(names: readonly string[], run: Method['run']): Method {
  return { names, run };
}

/** A hash given by a client. @throws RpcError in bitcoind's words */
export function hashArgument(ask: Arguments, name: string): string {
  return readHash(ask.text(name), name);
}

export function readHash(text: string, name: string): string {
  if (text.length !== 64) throw new RpcError(RPC.invalidParameter, `${name} must be of length 64 (not ${text.length}, for '${text}')`);
  if (!/^[0-9a-fA-F]{64}$/.test(text)) throw new RpcError(RPC.invalidParameter, `${name} must be hexadecimal string (not '${text}')`);
  return text.toLowerCase();
}

/** The block at the head as this node shows it: an older one while it pretends to lag. */
export function headOf({ chain, behaviour }: BitcoinNode): Block {
  return chain.at(Math.max(0, chain.tip().height - behaviour.staleBlocks)) ?? chain.tip();
}

/** @throws RpcError when there is none, or none that this node shows */
export function blockArgument(node: BitcoinNode, hash: string): Block {
  const block = node.chain.find(hash);
  if (block === undefined || (node.chain.active(block) && block.height > headOf(node).height)) throw new RpcError(RPC.addressOrKey, 'Block not found');
  return block;
}
