import { setTimeout as pause } from 'node:timers/promises';
import { pauseBeforeTry, readRetryAfter } from '../budget.ts';
import { openGate } from '../budget-gate.ts';
import { ChainUnavailable, type Trouble, type Unavailability } from '../chain.ts';
import { isAt } from '../json-bytes.ts';
import { post, type Reply, textOf, TooLarge, TooLate } from '../post.ts';
import { printable } from '../printable.ts';
import { replyMemory } from '../reply-memory.ts';
import type { RpcObserver, RpcOptions } from '../rpc.ts';
import { keyHider } from '../url-keys.ts';
import { parseLossless } from './json.ts';
import { UnreadReply } from './unread-reply.ts';

/** The node's own error reply: it was reached and said no. */
export class TronRefused extends Error {
  readonly trouble: Trouble = 'refused';
  constructor(path: string, message: string) {
    super(`${path}: ${message}`);
    this.name = 'TronRefused';
  }
}

/**
 * One request to a node's HTTP API, `wallet/…` or `walletsolidity/…`. Integers that a double cannot hold come as bigint. Whoever asks for it `unread` may be
 * answered with an `UnreadReply`.
 * @throws TronRefused when the node answers with an error, ChainUnavailable when it gives no answer
 */
export type TronApi = (path: string, body: Record<string, unknown>, as?: 'unread') => Promise<unknown>;

const TIMEOUT_MS = 10_000;
/** Ten full blocks fit; an endless reply does not. */
const LARGEST_REPLY_BYTES = 64 * 1024 * 1024;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const TRIES = 3;
/** An endpoint that asks for more patience than this is left to whoever can ask another one. */
const LONGEST_PAUSE_MS = 500;
/** As much of a node's own words as anybody reads; they end up in logs and notes. */
const LONGEST_REFUSAL = 300;
/** Errors about the endpoint rather than the question: java-tron's own limiter, and how gateways say the same. */
const ABOUT_THE_ENDPOINT = /lack of computing resources|request rate|rate limit|frequency|suspended|too many requests/i;

/** What came of one try: an answer, the node's refusal, or why there is none and whether it may go better at once. */
type Attempt = { answer: unknown } | { refusal: string } | { problem: string; trouble: Trouble; passing: boolean; retryAfterMs?: number | undefined };

/**
 * Speaks with one TRON endpoint. Credentials in its URL never show in messages or metrics: a query (`?apikey=…`) goes along
 * with every request; a password or, without one, a user name (`https://:KEY@api.trongrid.io`) is sent as the header
 * `TRON-PRO-API-KEY`. A node of one's own serves its solid view on another port: `http://node:8090#solidity=8091`.
 * Redirects are never followed.
 */
export function openTronApi(url: string, observe: RpcObserver = () => undefined, options: RpcOptions = {}): TronApi {
  const { base, solidityPort, provider, headers } = endpointOf(url);
  const gate = options.gate ?? openGate(url);
  const hide = keyHider(url);

  const read = (reply: Reply, path: string): unknown => {
    const came = judge(reply);
    if ('answer' in came) return came.answer;
    const [problem, trouble] = 'refusal' in came ? [printable(hide(came.refusal), LONGEST_REFUSAL), 'refused' as const] : [came.problem, came.trouble];
    throw new ChainUnavailable(`${provider} did not answer ${path}: ${problem}`, { trouble });
  };

  /** By path, of which there are some dozens. */
  const targets = new Map<string, URL>();
  const targetOf = (path: string): URL => {
    const target = targets.get(path) ?? new URL(base);
    if (targets.has(path)) return target;
    target.pathname = `${target.pathname.replace(/\/$/, '')}/${path}`;
    if (solidityPort !== undefined && path.startsWith('walletsolidity/')) target.port = solidityPort;
    targets.set(path, target);
    return target;
  };

  const attempt = async (path: string, body: string, unread: boolean): Promise<Attempt> => {
    const target = targetOf(path);
    try {
      return await gate.pass(1, async () => {
        const reply = await post(target, { headers, body, timeoutMs: options.timeoutMs ?? TIMEOUT_MS, largestBytes: LARGEST_REPLY_BYTES });
        const released = (): void => replyMemory.giveBack(reply.body);
        if (unread && mayBeWalked(reply)) return { answer: new UnreadReply(withoutLineEnd(reply.body), (body) => read({ ...reply, body }, path), released) };
        const came = judge(reply);
        released();
        return came;
      });
    } catch (error) {
      if (error instanceof ChainUnavailable) throw error;
      return error instanceof TooLate
        ? { problem: 'no answer in time', trouble: 'slow', passing: false }
        : { problem: problemOf(error), trouble: 'down', passing: !(error instanceof TooLarge) };
    }
  };

  const ask: TronApi = async (path, body, as) => {
    const text = JSON.stringify(body);
    for (let tried = 1; ; tried++) {
      const came = await attempt(path, text, as === 'unread');
      if ('answer' in came || 'refusal' in came) gate.answered(1);
      if ('answer' in came) return came.answer;
      if ('refusal' in came) throw new TronRefused(path, printable(hide(came.refusal), LONGEST_REFUSAL));
      const { problem, trouble, passing, retryAfterMs } = came;
      if (trouble === 'busy') gate.refused(retryAfterMs);
      const pauseMs = Math.max(retryAfterMs ?? 0, pauseBeforeTry(tried, options.retryMs));
      if (!passing || tried === TRIES || pauseMs > LONGEST_PAUSE_MS) {
        const why: Unavailability = { trouble, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
        throw new ChainUnavailable(`${provider} did not answer ${path}: ${problem}`, why);
      }
      await pause(pauseMs);
    }
  };

  return async (path, body, as) => {
    const started = performance.now();
    const report = (result: 'ok' | 'refused' | 'failed'): void => observe({ method: path, provider, result, seconds: (performance.now() - started) / 1000 });
    try {
      const answer = await ask(path, body, as);
      report('ok');
      return answer;
    } catch (error) {
      report(error instanceof TronRefused ? 'refused' : 'failed');
      throw error;
    }
  };
}

interface Endpoint {
  base: string;
  solidityPort: string | undefined;
  provider: string;
  headers: Record<string, string>;
}

function endpointOf(url: string): Endpoint {
  const base = new URL(url);
  const solidityPort = /^#solidity=(\d{1,5})$/.exec(base.hash)?.[1];
  base.hash = '';
  const key = decodeURIComponent(base.password || base.username);
  base.username = '';
  base.password = '';
  return {
    base: base.href,
    solidityPort,
    provider: base.host,
    headers: { 'content-type': 'application/json', accept: 'application/json', ...(key === '' ? {} : { 'TRON-PRO-API-KEY': key }) },
  };
}

/** What a list of outcomes, a block and a list of blocks begin with; a node's own error does not. */
const WALKED = ['[', '{"blockID"', '{"block_header"', '{"transactions"', '{"block":['].map((text) => Buffer.from(text));
const LINE_END = 0x0a;

function mayBeWalked({ status, body }: Reply): boolean {
  return status === 200 && WALKED.some((begin) => isAt(body, 0, begin));
}

/** java-tron ends its replies with one. */
function withoutLineEnd(bytes: Buffer): Buffer {
  return bytes.at(-1) === LINE_END ? bytes.subarray(0, -1) : bytes;
}

function judge(reply: Reply): Attempt {
  const { status, retryAfter } = reply;
  if (REDIRECTS.has(status)) return { problem: 'it sends elsewhere', trouble: 'down', passing: true };
  const text = textOf(reply);
  const answer = parseLossless(text);
  const error = (answer as { Error?: unknown } | null | undefined)?.Error;
  const refusal = typeof error === 'string' || error === undefined ? error : 'it tells no reason';
  const busy = status === 429 || (status === 403 && ABOUT_THE_ENDPOINT.test(text)) || (refusal !== undefined && ABOUT_THE_ENDPOINT.test(refusal));
  if (busy) {
    const retryAfterMs = readRetryAfter(retryAfter ?? null, Date.now());
    return { problem: 'it is asked too much', trouble: 'busy', passing: true, retryAfterMs };
  }
  if (status >= 500 || status === 408) return { problem: `HTTP ${status}`, trouble: 'down', passing: true };
  if (status !== 200) return { problem: `HTTP ${status}`, trouble: 'refused', passing: false };
  if (answer === undefined) return { problem: 'the answer is not JSON', trouble: 'down', passing: false };
  return refusal === undefined ? { answer } : { refusal };
}

/** What broke, without the URL, whose path or query may be a key. */
function problemOf(error: unknown): string {
  if (error instanceof TooLarge) return error.message;
  return (error as { code?: string }).code ?? 'the connection failed';
}
