import { readRetryAfter } from '../budget.ts';
import { openGate } from '../budget-gate.ts';
import { ChainUnavailable } from '../chain.ts';
import { post, type Reply, textOf, TooLarge, TooLate } from '../post.ts';
import { printable } from '../printable.ts';
import { type Failure, type Rpc, type RpcObserver, type RpcOptions, RpcRefused } from '../rpc.ts';
import { isBusy, isTooMuch } from '../rpc-answers.ts';
import { type Call, openBatches } from '../rpc-batches.ts';
import { replyMemory } from '../reply-memory.ts';
import { frameReply, leaveUnread, readAnswer, scanReply } from '../unread.ts';
import { keyHider } from '../url-keys.ts';

const TIMEOUT_MS = 10_000;
const HEADERS = { 'content-type': 'application/json' };
/** A contract that reverts may choose a megabyte of the words. */
const LONGEST_REFUSAL = 500;
/** Twenty full blocks of receipts of a busy chain fit; an endless reply does not. */
const LARGEST_REPLY_BYTES = 256 * 1024 * 1024;

/** Asked for alone, and only looked through for what names an address: what it tells of is proven by other answers. */
const LOGS = 'eth_getLogs';
const LEFT_UNREAD = new Set(['eth_getBlockReceipts', 'trace_block', 'debug_traceBlockByHash', LOGS]);
/** What is walked over rather than parsed: most of what a node answers, of which nearly nothing concerns anybody. */
function isLeftUnread({ method, params }: Pick<Call, 'method' | 'params'>): boolean {
  return LEFT_UNREAD.has(method) || (method === 'eth_getBlockByHash' && params[1] === true);
}
/** A reply that is looked over in some twenty milliseconds; a larger one is parsed as it comes, whatever is in it. */
const LARGEST_SCANNED_BYTES = 32 * 1024 * 1024;

/** A reply whose HTTP status says that the request failed. */
class Failed extends Error {
  readonly status: number;
  readonly retryAfterMs: number | undefined;
  /** What it says about that, as far as anybody reads. */
  readonly words: string;
  constructor(reply: Reply<Buffer | string>) {
    super(`HTTP ${reply.status}`);
    this.status = reply.status;
    this.retryAfterMs = readRetryAfter(reply.retryAfter, Date.now());
    this.words = textOf(reply).slice(0, LONGEST_REFUSAL);
  }
}

/**
 * Speaks JSON-RPC with one endpoint of an EVM network: what it is too busy for is asked again, what was too much in a list is asked alone.
 * The receipts, transactions and traces of whole blocks may be had `unread`, where nothing about the whole reply is unusual (decision 0046).
 */
export function openRpc(url: string, observe: RpcObserver = () => undefined, options: RpcOptions = {}): Rpc {
  const hide = keyHider(url);
  const target = new URL(url);
  const request = async (body: Call | Call[]): Promise<unknown> => {
    const calls = [body].flat();
    const reply = await post(target, {
      headers: HEADERS,
      body: JSON.stringify(body),
      timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
      // Logs of fewer blocks can be asked for.
      largestBytes: calls[0]?.method === LOGS ? LARGEST_SCANNED_BYTES : LARGEST_REPLY_BYTES,
      textBeyond: LARGEST_SCANNED_BYTES,
    });
    if (reply.status < 200 || reply.status > 299) throw new Failed(reply);
    const unread = calls.some(isLeftUnread) && typeof reply.body !== 'string' ? answersOf(reply.body, body) : undefined;
    if (unread !== undefined) return unread;
    const parsed = parse(reply, body);
    if (typeof reply.body !== 'string') replyMemory.giveBack(reply.body);
    return parsed;
  };
  const ask = openBatches(
    {
      provider: target.host,
      gate: options.gate ?? openGate(url),
      retryMs: options.retryMs,
      post: request,
      failureOf,
      judge(error, { method, alone }) {
        if (isBusy(error)) return 'again';
        if (!alone && isTooMuch(error.message)) return 'alone';
        const { code, data } = error;
        return new RpcRefused(
          method,
          code,
          printable(hide(error.message), LONGEST_REFUSAL),
          typeof data === 'string' ? printable(hide(data), LONGEST_REFUSAL) : undefined,
        );
      },
      again: { problem: 'it is asked too much', trouble: 'busy' },
      goesAlone: (method) => method === LOGS,
    },
    observe,
  );
  return async (method, params, as) => {
    const answer = await ask(method, params);
    return as === 'unread' ? answer : readAnswer(answer);
  };
}

/** The answers to these calls, of which the large ones are left unread; undefined where the reply has to be parsed as a whole. */
function answersOf(bytes: Buffer, body: Call | Call[]): unknown {
  const entries = ([body].flat()[0]?.method === LOGS ? frameReply(bytes) : null) ?? scanReply(bytes);
  if (entries === null || Array.isArray(entries) !== Array.isArray(body)) return undefined;
  const calls = [body].flat();
  const told = [entries].flat();
  if (told.length !== calls.length) return undefined;
  const unread = new Set(calls.filter(isLeftUnread).map(({ id }) => id));
  const answers = leaveUnread(bytes, told, unread, (one) => one.read());
  return Array.isArray(entries) ? answers : answers[0];
}

/** A list is answered one by one, or refused as a whole by one error, which nobody may take for their own; else none of it is believed. */
function parse(reply: Reply<Buffer | string>, body: Call | Call[]): unknown {
  const told = JSON.parse(textOf(reply)) as unknown;
  if (!Array.isArray(body) || (Array.isArray(told) && told.length >= body.length)) return told;
  const only = (Array.isArray(told) && told.length === 1 ? told[0] : told) as { error?: { code?: unknown; message?: unknown } } | null;
  if (typeof only?.error?.code !== 'number' || typeof only.error.message !== 'string') throw new SyntaxError(`${body.length} calls are not answered by this`);
  return body.map(() => only);
}

/** What a failed HTTP request says about the endpoint, without a word of its URL. Whoever reads ranges looks for "timed out" and sizes (too-much.ts). */
function failureOf(error: unknown): Failure {
  const plain = { retryAfterMs: undefined, passing: false, tooMuch: false };
  if (error instanceof ChainUnavailable) return { ...plain, problem: error.message, trouble: error.trouble, retryAfterMs: error.retryAfterMs };
  if (error instanceof TooLate) return { ...plain, problem: 'timed out', trouble: 'slow' };
  if (error instanceof TooLarge) return { ...plain, problem: 'the response size is too large', trouble: 'untrusted', tooMuch: true };
  if (error instanceof SyntaxError) return { ...plain, problem: 'the answer is not what was asked for', trouble: 'untrusted', passing: true };
  // What broke a connection may name the URL, so that it is not quoted.
  if (!(error instanceof Failed)) return { ...plain, problem: 'the connection failed', trouble: 'down', passing: true };
  const { status, retryAfterMs, words } = error;
  const problem = `HTTP ${status}`;
  if (status === 413 || (status < 500 && status !== 429 && isTooMuch(words)))
    return { ...plain, problem: `${problem}, too much at once`, trouble: 'refused', tooMuch: true };
  if (status === 429) return { problem, trouble: 'busy', retryAfterMs, passing: true, tooMuch: false };
  return { problem, trouble: 'down', retryAfterMs, passing: status === 408 || status >= 500, tooMuch: false };
}
