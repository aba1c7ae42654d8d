import { setTimeout as pause } from 'node:timers/promises';
import { BaseError, HttpRequestError, RpcRequestError, TimeoutError } from 'viem';
import { getHttpRpcClient } from 'viem/utils';
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

export interface RpcOptions {
  /** Longest wait for one HTTP answer. */
  timeoutMs?: number;
  /** Pause before the second try; the third waits twice as long. */
  retryMs?: number;
}

const TIMEOUT_MS = 10_000;
const RETRY_MS = 100;
const TRIES = 3;
const BATCH = 64;
/** Twenty full blocks of receipts of a busy chain fit; an endless reply does not. */
const LARGEST_REPLY_BYTES = 256 * 1024 * 1024;
/** Errors about the endpoint rather than the question: busy, out of resources, over the limit; 429 is how some write that. */
const ABOUT_THE_ENDPOINT = new Set([-32_005, -32_002, 429]);

interface Asked {
  id: number;
  method: string;
  params: readonly unknown[];
  resolve(answer: unknown): void;
  reject(error: Error): void;
}

/**
 * Speaks JSON-RPC with the first of `urls`. Answers are matched to requests by their ids, never by their order: a node or
 * a proxy that mixes them up is one that did not answer.
 */
export function openRpc(urls: readonly string[], observe: RpcObserver = () => undefined, options: RpcOptions = {}): Rpc {
  const url = urls[0];
  if (url === undefined) throw new Error('a network needs at least one RPC URL');
  const provider = new URL(url).host;
  const client = getHttpRpcClient(url, { timeout: options.timeoutMs ?? TIMEOUT_MS, maxResponseBodySize: LARGEST_REPLY_BYTES });
  const unavailable = (method: string, problem: string, cause?: unknown): ChainUnavailable =>
    new ChainUnavailable(`${provider} did not answer ${method}: ${problem}`, { cause });

  const post = async (batch: readonly Asked[]): Promise<unknown[]> => {
    const body = batch.map(({ id, method, params }) => ({ id, method, params }));
    for (let tried = 1; ; tried++) {
      try {
        return await client.request({ body });
      } catch (error) {
        if (tried === TRIES || !isWorthAnotherTry(error)) throw error;
        await pause((options.retryMs ?? RETRY_MS) * tried);
      }
    }
  };

  const send = async (batch: readonly Asked[]): Promise<void> => {
    try {
      const answers = answersById(await post(batch));
      for (const { id, method, resolve, reject } of batch) {
        const answer = answers.get(id);
        if (answer === undefined) reject(unavailable(method, 'no answer carries its id'));
        else if ('result' in answer) resolve(answer.result);
        else if (ABOUT_THE_ENDPOINT.has(answer.error.code)) reject(unavailable(method, answer.error.message));
        else reject(new RpcRefused(method, answer.error.code, answer.error.message, answer.error.data));
      }
    } catch (error) {
      for (const { method, reject } of batch) reject(unavailable(method, error instanceof BaseError ? error.shortMessage : String(error), error));
    }
  };

  let lastId = 0;
  let waiting: Asked[] = [];
  const flush = (): void => {
    const batch = waiting;
    waiting = [];
    if (batch.length > 0) void send(batch);
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

type Answer = { result: unknown } | { error: { code: number; message: string; data?: unknown } };

/** What can be believed of a batch's answers: those with a result or an error, and an id no other one has. */
function answersById(answers: readonly unknown[]): Map<number, Answer> {
  const byId = new Map<number, Answer>();
  const seen = new Set<number>();
  for (const entry of answers) {
    const { id, result, error } = (entry ?? {}) as { id?: unknown; result?: unknown; error?: { code?: unknown; message?: unknown; data?: unknown } | null };
    if (typeof id !== 'number') continue;
    if (seen.has(id)) byId.delete(id);
    else if (error !== undefined && error !== null) {
      if (typeof error.code === 'number') byId.set(id, { error: { code: error.code, message: String(error.message), data: error.data } });
    } else if (result !== undefined) byId.set(id, { result });
    seen.add(id);
  }
  return byId;
}

/** Whether a failed HTTP request may go better: a link that broke, an endpoint that is busy or down for a moment. */
function isWorthAnotherTry(error: unknown): boolean {
  if (error instanceof TimeoutError) return false;
  if (!(error instanceof HttpRequestError || error instanceof RpcRequestError)) return false;
  const { status } = error as { status?: number | undefined };
  return status === undefined || status === 408 || status === 429 || status >= 500;
}
