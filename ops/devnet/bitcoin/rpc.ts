import type { Method, Methods } from './method.ts';
import type { BitcoinNode } from './node.ts';
import { Rejected, RPC, RpcError } from './refusal.ts';
import { argumentsOf, type Call } from './request.ts';
import { blockMethods } from './rpc-blocks.ts';
import { mempoolMethods } from './rpc-mempool.ts';
import { miningMethods } from './rpc-mining.ts';
import { nodeMethods } from './rpc-node.ts';
import { transactionMethods } from './rpc-transactions.ts';
import { walletMethods } from './rpc-wallet.ts';

const METHODS: Methods = { ...blockMethods, ...transactionMethods, ...mempoolMethods, ...miningMethods, ...walletMethods, ...nodeMethods };

/** What became of a call. */
export type Outcome = { result: unknown } | { error: { code: number; message: string } };

/** Reads one call of a request. @throws RpcError for what is none */
export function callOf(value: unknown): Call {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new RpcError(RPC.invalidRequest, 'Invalid Request object');
  const { method, params, id, jsonrpc } = value as Record<string, unknown>;
  if (method === undefined) throw new RpcError(RPC.invalidRequest, 'Missing method');
  if (typeof method !== 'string') throw new RpcError(RPC.invalidRequest, 'Method must be a string');
  if (params !== undefined && params !== null && typeof params !== 'object') throw new RpcError(RPC.invalidRequest, 'Params must be an array or object');
  const modern = jsonrpc === '2.0';
  return { method, params: (params ?? []) as Call['params'], id: id ?? null, modern, notification: modern && id === undefined };
}

/** Runs a call; every refusal becomes an error object. */
export function run(node: BitcoinNode, call: Call, wallet: string | null): Outcome {
  try {
    const found: Method | undefined = Object.hasOwn(METHODS, call.method) ? METHODS[call.method] : undefined;
    if (found === undefined) throw new RpcError(RPC.methodNotFound, 'Method not found');
    return { result: found.run(node, argumentsOf(call.method, found.names, call.params), wallet) };
  } catch (error) {
    return { error: errorOf(error) };
  }
}

export function errorOf(error: unknown): { code: number; message: string } {
  if (error instanceof RpcError) return { code: error.code, message: error.message };
  if (error instanceof Rejected) return { code: RPC.verifyRejected, message: error.message };
  return { code: RPC.misc, message: error instanceof Error ? error.message : String(error) };
}

/** The reply to one call: 2.0 has a result or an error, 1.x both, one of them null. */
export function replyTo(outcome: Outcome, id: unknown, modern: boolean): Record<string, unknown> {
  if (modern) return { jsonrpc: '2.0', ...outcome, id };
  return 'error' in outcome ? { result: null, error: outcome.error, id } : { result: outcome.result, error: null, id };
}

/** HTTP status of a 1.x reply that is an error. */
export function statusOf(code: number): number {
  if (code === RPC.methodNotFound) return 404;
  return code === RPC.invalidRequest ? 400 : 500;
}
