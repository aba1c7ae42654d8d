import { setTimeout as pause } from 'node:timers/promises';
import { pauseBeforeTry } from './budget.ts';
import type { Gate } from './budget-gate.ts';
import { ChainUnavailable, type Unavailability } from './chain.ts';
import { type Failure, type Rpc, type RpcObserver, RpcRefused } from './rpc.ts';
import { type Answer, answersById, type RpcError, refusesBatch, refusesList } from './rpc-answers.ts';

/** One call as it is written into a request. */
export interface Call {
  jsonrpc: '2.0';
  id: number;
  method: string;
  params: readonly unknown[];
}

/** One endpoint: how it is asked, and what its errors mean in its chain family. */
export interface Endpoint {
  /** Its name in messages and metrics; never its whole URL, which may hold a key. */
  provider: string;
  gate: Gate;
  /** Pause before the second try, in milliseconds; doubled before the third. */
  retryMs: number | undefined;
  /** Sends one HTTP request, a list or a single call, and returns the JSON of the answer. Throws errors that `failureOf` can explain. */
  post(body: Call | Call[]): Promise<unknown>;
  failureOf(error: unknown): Failure;
  /** What to do about an error reply: ask `again` after a pause, ask it `alone` because the whole list was too much, or reject the call with it. */
  judge(error: RpcError, asked: { method: string; alone: boolean }): 'again' | 'alone' | RpcRefused;
  /** Reported when calls are asked again and still not answered. */
  again: Pick<Failure, 'problem' | 'trouble'>;
  /** Whether a call goes alone because it takes minutes or brings megabytes, so that no other call should wait for it. */
  goesAlone(method: string): boolean;
}

const TRIES = 3;
const BATCH = 64;
/** If an endpoint asks for a longer pause than this, the call fails, so that the caller can ask another endpoint. */
const LONGEST_PAUSE_MS = 500;

interface Asked {
  call: Call;
  resolve(answer: unknown): void;
  reject(error: Error): void;
}

/**
 * Asks an endpoint in batches. Answers are matched to requests by id and never by order, so an endpoint that mixes them up counts as one that did
 * not answer.
 * A batch that is too large is asked again in halves. Calls that the endpoint was too busy for are asked again after a pause, and the other answers
 * are kept.
 */
export function openBatches(endpoint: Endpoint, observe: RpcObserver): Rpc {
  const { provider, gate } = endpoint;
  let largestBatch = BATCH;
  const unavailable = ({ call }: Asked, problem: string, why: Unavailability): ChainUnavailable =>
    new ChainUnavailable(`${provider} did not answer ${call.method}: ${problem}`, why);

  const post = (batch: readonly Asked[]): Promise<unknown> => {
    const calls = batch.map(({ call }) => call);
    const [only] = calls;
    // An endpoint that accepts no lists gets a single call without a list. A list that was put together before that was known is sent as a list, so
    // that no call of it is lost.
    return gate.pass(batch.length, () => endpoint.post(largestBatch === 1 && calls.length === 1 && only !== undefined ? only : calls));
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
    // Another batch may find out meanwhile that lists are refused.
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
      if (left.length > 0) again = { ...endpoint.again, retryAfterMs: undefined, passing: true, tooMuch: false };
    } catch (error) {
      again = endpoint.failureOf(error);
      if (again.tooMuch && batch.length > 1) return void (await halve(batch, tried));
    }
    if (again === undefined) return;
    const pauseMs = Math.max(again.retryAfterMs ?? 0, pauseBeforeTry(tried, endpoint.retryMs));
    if (again.trouble === 'busy') gate.refused(again.retryAfterMs);
    if (again.passing && tried < TRIES && pauseMs <= LONGEST_PAUSE_MS) {
      await pause(pauseMs);
      return send(left, tried + 1);
    }
    const { problem, trouble, retryAfterMs } = again;
    for (const asked of left) asked.reject(unavailable(asked, problem, { trouble, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }));
  };

  /** Delivers the answers; returns the requests to ask again after a pause. */
  const settle = (batch: readonly Asked[], answers: Map<number, Answer>): Asked[] => {
    const again: Asked[] = [];
    for (const asked of batch) {
      const answer = answers.get(asked.call.id);
      if (answer === undefined) asked.reject(unavailable(asked, 'no answer carries its id', { trouble: 'untrusted' }));
      else if ('result' in answer) asked.resolve(answer.result);
      else {
        const verdict = endpoint.judge(answer.error, { method: asked.call.method, alone: batch.length === 1 });
        if (verdict === 'again') again.push(asked);
        else if (verdict === 'alone') void send([asked]);
        else asked.reject(verdict);
      }
    }
    return again;
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
      const asked: Asked = { call: { jsonrpc: '2.0', id: lastId, method, params }, resolve, reject };
      if (endpoint.goesAlone(method)) return void send([asked]);
      waiting.push(asked);
      if (waiting.length === BATCH) flush();
      else if (waiting.length === 1) setImmediate(flush);
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
