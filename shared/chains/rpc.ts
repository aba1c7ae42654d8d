import type { Gate } from './budget-gate.ts';
import type { Trouble } from './chain.ts';

/** The node was reached and answered with an error. */
export class RpcRefused extends Error {
  readonly code: number;
  readonly data: unknown;
  readonly trouble: Trouble = 'refused';
  constructor(method: string, code: number, message: string, data: unknown) {
    super(`${method}: ${message}`);
    this.name = 'RpcRefused';
    this.code = code;
    this.data = data;
  }
}

/**
 * One JSON-RPC request. Requests made in the same turn share one HTTP request. With `unread` the answer may be an `Unread`.
 * @throws RpcRefused when the node answers with an error, ChainUnavailable when it gives no answer
 */
export type Rpc = (method: string, params: readonly unknown[], as?: 'unread') => Promise<unknown>;

/** Gets every request, for metrics. */
export type RpcObserver = (request: { method: string; provider: string; result: 'ok' | 'refused' | 'failed'; seconds: number }) => void;

export interface RpcOptions {
  /** Longest wait for one HTTP answer. */
  timeoutMs?: number;
  /** Pause before the second try; doubled before the third. */
  retryMs?: number;
  /** Shared with everything else in the process that asks this endpoint. */
  gate?: Gate;
}

/** Why a whole HTTP request failed. */
export interface Failure {
  problem: string;
  trouble: Trouble;
  retryAfterMs: number | undefined;
  /** Whether trying again at once may help. */
  passing: boolean;
  /** Whether fewer requests at once may help. */
  tooMuch: boolean;
}
