import { BaseError, createClient, http, RpcRequestError } from 'viem';
import { ChainUnavailable } from '../chain.ts';

/** The node's own error reply: it was reached and said no. */
export class RpcRefused extends Error {
  readonly code: number;
  readonly data: unknown;
  constructor(method: string, code: number, message: string, data: unknown) {
    super(`${method}: ${message}`);
    this.name = 'RpcRefused';
    this.code = code;
    this.data = data;
  }
}

/**
 * One JSON-RPC request. Requests made in the same turn share one HTTP request.
 * @throws RpcRefused when the node answers with an error, ChainUnavailable when it gives no answer
 */
export type Rpc = (method: string, params: readonly unknown[]) => Promise<unknown>;

/** Told of every request, for metrics. */
export type RpcObserver = (request: { method: string; provider: string; result: 'ok' | 'refused' | 'failed'; seconds: number }) => void;

const TIMEOUT_MS = 10_000;
const BATCH = 64;
/** Twenty full blocks of receipts of a busy chain fit; an endless reply does not. */
const LARGEST_REPLY_BYTES = 256 * 1024 * 1024;

/** Speaks JSON-RPC with the first of `urls`. */
export function openRpc(urls: readonly string[], observe: RpcObserver = () => undefined): Rpc {
  const url = urls[0];
  if (url === undefined) throw new Error('a network needs at least one RPC URL');
  const provider = new URL(url).host;
  const client = createClient({
    transport: http(url, {
      batch: { batchSize: BATCH, wait: 0 },
      timeout: TIMEOUT_MS,
      retryCount: 2,
      retryDelay: 100,
      maxResponseBodySize: LARGEST_REPLY_BYTES,
    }),
  });
  const request = client.request as (args: { method: string; params: readonly unknown[] }) => Promise<unknown>;
  return async (method, params) => {
    const started = performance.now();
    const report = (result: 'ok' | 'refused' | 'failed'): void => observe({ method, provider, result, seconds: (performance.now() - started) / 1000 });
    try {
      const answer = await request({ method, params });
      report('ok');
      return answer;
    } catch (error) {
      const refused = error instanceof BaseError ? error.walk((cause) => cause instanceof RpcRequestError) : null;
      report(refused === null ? 'failed' : 'refused');
      if (refused instanceof RpcRequestError) throw new RpcRefused(method, refused.code, refused.details, refused.data);
      throw new ChainUnavailable(`${provider} did not answer ${method}: ${error instanceof BaseError ? error.shortMessage : String(error)}`, { cause: error });
    }
  };
}
