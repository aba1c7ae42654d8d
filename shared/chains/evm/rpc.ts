import { setTimeout as pause } from 'node:timers/promises';
import { ResponseBodyTooLargeError, TimeoutError } from 'viem';
import { getHttpRpcClient } from 'viem/utils';
import { pauseBeforeTry, readRetryAfter } from '../budget.ts';
import { type Gate, openGate } from '../budget-gate.ts';
import { ChainUnavailable, type Trouble, type Unavailability } from '../chain.ts';
import { type Answer, answersById, isBusy, isTooMuch, refusesBatch, refusesList } from './rpc-answers.ts';

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
 * One JSON-RPC request. Requests made in the same turn share one HTTP request.
 * @throws RpcRefused when the node answers with an error, ChainUnavailable when it gives no answer
 */
export type Rpc = (method: string, params: readonly unknown[]) => Promise<unknown>;

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

const TIMEOUT_MS = 10_000;
const TRIES = 3;
const BATCH = 64;
/** An endpoint that asks for more patience than this is left to whoever can ask another one. */
const LONGEST_PAUSE_MS = 500;
/** Twenty full blocks of receipts of a busy chain fit; an endless reply does not. */
const LARGEST_REPLY_BYTES = 256 * 1024 * 1024;

interface Asked {
  id: number;
  method: string;
  params: readonly unknown[];
  resolve(answer: unknown): void;
  reject(error: Error): void;
}

/** Why a whole HTTP request brought nothing. */
interface Failure {
  problem: string;
  trouble: Trouble;
  retryAfterMs: number | undefined;
  /** Whether it may go better at once. */
  passing: boolean;
  /** Whether fewer requests in one go may go better. */
  tooMuch: boolean;
}

/**
 * Speaks JSON-RPC with one endpoint. Answers are matched to requests by their ids, never by their order: a node or a proxy
 * that mixes them up is one that did not answer. What a batch is too large for is asked again in halves; what the endpoint
 * was too busy for, after a pause, the rest of the batch being kept.
 */
export function openRpc(url: string, observe: RpcObserver = () => undefined, options: RpcOptions = {}): Rpc {
  const provider = new URL(url).host;
  const gate = options.gate ?? openGate(url);
  const client = getHttpRpcClient(url, { timeout: options.timeoutMs ?? TIMEOUT_MS, maxResponseBodySize: LARGEST_REPLY_BYTES });
  let largestBatch = BATCH;
  const unavailable = (method: string, problem: string, why: Unavailability): ChainUnavailable =>
    new ChainUnavailable(`${provider} did not answer ${method}: ${problem}`, why);

  const post = (batch: readonly Asked[]): Promise<unknown> => {
    const body = batch.map(({ id, method, params }) => ({ id, method, params }));
    const [only] = body;
    // Endpoints that take no batches at all take one request by itself.
    const request = (): Promise<unknown> => (largestBatch === 1 && only !== undefined ? client.request({ body: only }) : client.request({ body }));
    return gate.pass(batch.length, request);
  };

  const halve = (batch: readonly Asked[], tried: number): Promise<unknown> => {
    const half = Math.ceil(batch.length / 2);
    largestBatch = Math.min(largestBatch, half);
    return Promise.all([send(batch.slice(0, half), tried), send(batch.slice(half), tried)]);
  };

  /** Settles every request of the batch. */
  const send = async (batch: readonly Asked[], tried = 1): Promise<void> => {
    let again: Failure | undefined;
    let left: readonly Asked[] = batch;
    // Another batch may learn meanwhile that lists are refused.
    const listed = largestBatch > 1;
    try {
      const answered = await post(batch);
      if (batch.length > 1 && refusesBatch(answered)) return void (await halve(batch, tried));
      if (listed && refusesList(answered)) {
        largestBatch = 1;
        return send(batch, tried);
      }
      left = settle(batch, answersById(answered));
      gate.answered(batch.length - left.length);
      if (left.length > 0) again = { problem: 'it is asked too much', trouble: 'busy', retryAfterMs: undefined, passing: true, tooMuch: false };
    } catch (error) {
      again = failureOf(error);
      if (again.tooMuch && batch.length > 1) return void (await halve(batch, tried));
    }
    if (again === undefined) return;
    const pauseMs = Math.max(again.retryAfterMs ?? 0, pauseBeforeTry(tried, options.retryMs));
    if (again.trouble === 'busy') gate.refused(again.retryAfterMs);
    if (again.passing && tried < TRIES && pauseMs <= LONGEST_PAUSE_MS) {
      await pause(pauseMs);
      return send(left, tried + 1);
    }
    const { problem, trouble, retryAfterMs } = again;
    for (const { method, reject } of left) reject(unavailable(method, problem, { trouble, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }));
  };

  /** Hands out the answers; returns the requests that the endpoint was too busy for. */
  const settle = (batch: readonly Asked[], answers: Map<number, Answer>): Asked[] => {
    const busy: Asked[] = [];
    const large: Asked[] = [];
    for (const asked of batch) {
      const answer = answers.get(asked.id);
      if (answer === undefined) asked.reject(unavailable(asked.method, 'no answer carries its id', { trouble: 'untrusted' }));
      else if ('result' in answer) asked.resolve(answer.result);
      else if (isBusy(answer.error)) busy.push(asked);
      else if (batch.length > 1 && isTooMuch(answer.error.message)) large.push(asked);
      else asked.reject(new RpcRefused(asked.method, answer.error.code, answer.error.message, answer.error.data));
    }
    // Alone they may fit.
    for (const asked of large) void send([asked]);
    return busy;
  };

  let lastId = 0;
  let waiting: Asked[] = [];
  const flush = (): void => {
    const batch = waiting;
    waiting = [];
    for (let from = 0; from < batch.length; from += largestBatch) void send(batch.slice(from, from + largestBatch));
  };
  const ask = (method: string, params: readonly unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      lastId += 1;
      waiting.push({ id: lastId, method, params, resolve, reject });
      if (waiting.length === BATCH) flush();
      else if (waiting.length === 1) setTimeout(flush, 0);
    });

  return async (method, params) => {
    const started = performance.now();
    const report = (result: 'ok' | 'refused' | 'failed'): void => observe({ method, provider, result, seconds: (performance.now() - started) / 1000 });
    try {
      const answer = await ask(method, params);
      report('ok');
      return answer;
    } catch (error) {
      report(error instanceof RpcRefused ? 'refused' : 'failed');
      throw error;
    }
  };
}

/** What a failed HTTP request says about the endpoint, without a word of its URL. Whoever reads ranges looks for "timed out" and sizes (too-much.ts). */
function failureOf(error: unknown): Failure {
  const plain = { retryAfterMs: undefined, passing: false, tooMuch: false };
  if (error instanceof ChainUnavailable) return { ...plain, problem: error.message, trouble: error.trouble, retryAfterMs: error.retryAfterMs };
  if (error instanceof TimeoutError) return { ...plain, problem: 'timed out', trouble: 'slow' };
  if (error instanceof ResponseBodyTooLargeError) return { ...plain, problem: 'the response size is too large', trouble: 'untrusted', tooMuch: true };
  const { status, headers, details, cause } = error as { status?: number; headers?: Headers; details?: string; cause?: unknown };
  if (status === undefined) {
    // fetch tells a broken link by a TypeError; everything else is an answer that is none. Neither may be quoted: it may name the URL.
    const down = cause instanceof TypeError;
    return { ...plain, problem: down ? 'the connection failed' : 'the answer is not what was asked for', trouble: down ? 'down' : 'untrusted', passing: true };
  }
  const retryAfterMs = readRetryAfter(headers?.get('retry-after'), Date.now());
  const problem = `HTTP ${status}`;
  if (status === 413 || (status < 500 && status !== 429 && isTooMuch(String(details))))
    return { ...plain, problem: `${problem}, too much at once`, trouble: 'refused', tooMuch: true };
  if (status === 429) return { problem, trouble: 'busy', retryAfterMs, passing: true, tooMuch: false };
  return { problem, trouble: 'down', retryAfterMs, passing: status === 408 || status >= 500, tooMuch: false };
}
