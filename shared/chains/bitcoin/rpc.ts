import { setTimeout as pause } from 'node:timers/promises';
import { pauseBeforeTry } from '../budget.ts';
import { openGate } from '../budget-gate.ts';
import { ChainUnavailable, type Unavailability } from '../chain.ts';
import { type Rpc, type RpcObserver, type RpcOptions, RpcRefused } from '../evm/rpc.ts';
import { type Answer, answersById, refusesBatch, refusesList } from '../evm/rpc-answers.ts';
import { endpointOf, type Failure, failureOf, postPatiently, readReply } from './http.ts';

const TIMEOUT_MS = 30_000;
/** What reads every unspent output of the chain takes minutes on mainnet. */
const PATIENCE_MS: Readonly<Record<string, number>> = { scantxoutset: 15 * 60_000 };
const TRIES = 3;
const BATCH = 64;
/** An endpoint that asks for more patience than this is left to whoever can ask another one. */
const LONGEST_PAUSE_MS = 500;
/** As much of a node's own words as anybody reads; they end up in logs and notes. */
const LONGEST_REFUSAL = 300;
/** Told while a node starts: "Loading block index…". */
const WARMING_UP = -28;

interface Asked {
  id: number;
  method: string;
  params: readonly unknown[];
  resolve(answer: unknown): void;
  reject(error: Error): void;
}

/**
 * Speaks JSON-RPC with one bitcoind. Requests say 2.0; answers of both conventions are understood: older nodes, and some
 * gateways, answer 1.x, where an error comes with HTTP 500 or 404 and each answer has both `result` and `error`. Requests made
 * in the same turn share one HTTP request, answers are matched by their ids. Amounts arrive as the text they were written in
 * (json.ts). User name and password of the URL go into a header and never into a message; redirects are never followed.
 */
export function openBitcoinRpc(url: string, observe: RpcObserver = () => undefined, options: RpcOptions = {}): Rpc {
  const { target, provider, headers } = endpointOf(url);
  const gate = options.gate ?? openGate(url);
  let largestBatch = BATCH;
  const unavailable = (method: string, problem: string, why: Unavailability): ChainUnavailable =>
    new ChainUnavailable(`${provider} did not answer ${method}: ${problem}`, why);

  const post = (batch: readonly Asked[]): Promise<unknown> => {
    const calls = batch.map(({ id, method, params }) => ({ jsonrpc: '2.0', id, method, params }));
    // A list that was put together before lists were refused is sent as one, so that none of it goes unasked.
    const body = JSON.stringify(largestBatch === 1 && calls.length === 1 ? calls[0] : calls);
    const patienceMs = Math.max(0, ...batch.map(({ method }) => PATIENCE_MS[method] ?? 0));
    const signal = AbortSignal.timeout(Math.max(patienceMs, options.timeoutMs ?? TIMEOUT_MS));
    const request = { method: 'POST', headers, body, redirect: 'error' as const, signal };
    return gate.pass(batch.length, async () => readReply(await (patienceMs > 0 ? postPatiently(target, request) : fetch(target, request))));
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
      if (left.length > 0) again = { problem: 'it is still starting', trouble: 'down', retryAfterMs: undefined, passing: true, tooMuch: false };
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

  /** Hands out the answers; returns the requests that the node is not ready for yet. */
  const settle = (batch: readonly Asked[], answers: Map<number, Answer>): Asked[] => {
    const early: Asked[] = [];
    for (const asked of batch) {
      const answer = answers.get(asked.id);
      if (answer === undefined) asked.reject(unavailable(asked.method, 'no answer carries its id', { trouble: 'untrusted' }));
      else if ('result' in answer) asked.resolve(answer.result);
      else if (answer.error.code === WARMING_UP) early.push(asked);
      else asked.reject(new RpcRefused(asked.method, answer.error.code, answer.error.message.slice(0, LONGEST_REFUSAL), undefined));
    }
    return early;
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
      const asked = { id: lastId, method, params, resolve, reject };
      // What takes minutes is asked by itself: nothing else should wait for it.
      if (PATIENCE_MS[method] !== undefined) return void send([asked]);
      waiting.push(asked);
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
