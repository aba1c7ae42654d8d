import type { Gate } from './budget-gate.ts';
import type { Trouble } from './chain.ts';

/** The node's own error reply: it was reached and said no. */
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
 * One JSON-RPC request. Requests made in the same turn share one HTTP request. Whoever asks for it `unread` may be answered with an `Unread`.
 * @throws RpcRefused when the node answers with an error, ChainUnavailable when it gives no answer
 */
export type Rpc = (method: string, params: readonly unknown[], as?: 'unread') => Promise<unknown>;

/** Told of every request, for metrics. */
export type RpcObserver = (request: { method: string; provider: string; result: 'ok' | 'refused' | 'failed'; seconds: number }) => void;

export interface RpcOptions {
  /** Longest wait for one HTTP answer. */
  timeoutMs?: number;
  /** Pause before the second try; doubled before the third. */
  retryMs?: number;
  /** Shared with whoever else asks this endpoint. */
  gate?: Gate;
}

/** Why a whole HTTP request brought nothing. */
export interface Failure {
  problem: string;
  trouble: Trouble;
  retryAfterMs: number | undefined;
  /** Whether it may go better at once. */
  passing: boolean;
  /** Whether fewer requests in one go may go better. */
  tooMuch: boolean;
}
