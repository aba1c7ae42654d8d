import { ReadableStream as Stream } from 'node:stream/web';
import { ResponseBodyTooLargeError, TimeoutError } from 'viem';
import { getHttpRpcClient } from 'viem/utils';
import { readRetryAfter } from '../budget.ts';
import { openGate } from '../budget-gate.ts';
import { ChainUnavailable } from '../chain.ts';
import { printable } from '../printable.ts';
import { type Failure, type Rpc, type RpcObserver, type RpcOptions, RpcRefused } from '../rpc.ts';
import { isBusy, isTooMuch } from '../rpc-answers.ts';
import { type Call, openBatches } from '../rpc-batches.ts';
import { frameReply, readAnswer, scanReply } from '../unread.ts';
import { keyHider } from '../url-keys.ts';

const TIMEOUT_MS = 10_000;
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

/**
 * Speaks JSON-RPC with one endpoint of an EVM network: what it is too busy for is asked again, what was too much in a list is asked alone.
 * The receipts, transactions and traces of whole blocks may be had `unread`, where nothing about the whole reply is unusual (decision 0046).
 */
export function openRpc(url: string, observe: RpcObserver = () => undefined, options: RpcOptions = {}): Rpc {
  const hide = keyHider(url);
  const client = getHttpRpcClient(url, { timeout: options.timeoutMs ?? TIMEOUT_MS, maxResponseBodySize: LARGEST_REPLY_BYTES });
  const request = async (body: Call | Call[]): Promise<unknown> => {
    const calls = [body].flat();
    if (!calls.some(isLeftUnread)) return client.request({ body });
    const logs = calls[0]?.method === LOGS;
    let scanned: unknown;
    const fetchFn = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
      const response = await fetch(input, init);
      if (!response.ok || response.body === null || (!logs && Number(response.headers.get('content-length')) > LARGEST_SCANNED_BYTES)) return response;
      const told = await readBytes(response.body);
      // Logs of fewer blocks can be asked for.
      if (logs && !Buffer.isBuffer(told)) {
        await told.cancel();
        throw new ResponseBodyTooLargeError({ maxSize: LARGEST_SCANNED_BYTES, size: Number(response.headers.get('content-length')) });
      }
      scanned = Buffer.isBuffer(told) ? answersOf(told, body) : undefined;
      // Whoever reads replies with care gets the same bytes, or answers that say nothing where nothing is left to read. The words of a status, which
      // an endpoint may choose so that no Response can be made with them, are of no use to anybody.
      const { status, headers } = response;
      return new Response(scanned === undefined ? told : JSON.stringify(Array.isArray(body) ? calls.map(() => null) : null), { status, headers });
    };
    const careful = await client.request({ body, fetchFn });
    return scanned ?? careful;
  };
  const ask = openBatches(
    {
      provider: new URL(url).host,
      gate: options.gate ?? openGate(url),
      retryMs: options.retryMs,
      post: (body) => request(body),
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

/** All bytes of a reply that is looked over; of a larger one, which is never held whole beside what is parsed of it, the same stream from its beginning. */
async function readBytes(body: ReadableStream<Uint8Array>): Promise<Buffer<ArrayBuffer> | ReadableStream<Uint8Array>> {
  const left = body[Symbol.asyncIterator]();
  const parts: Uint8Array[] = [];
  let size = 0;
  for (let next = await left.next(); next.done !== true; next = await left.next()) {
    parts.push(next.value);
    size += next.value.length;
    if (size > LARGEST_SCANNED_BYTES) return Stream.from(joined(parts, left)) as ReadableStream<Uint8Array>;
  }
  return Buffer.concat(parts, size);
}

async function* joined(parts: readonly Uint8Array[], left: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* parts;
  yield* left;
}

/** The answers to these calls, of which the large ones are left unread; undefined where the reply has to be parsed as a whole. */
function answersOf(bytes: Buffer, body: Call | Call[]): unknown {
  const entries = ([body].flat()[0]?.method === LOGS ? frameReply(bytes) : null) ?? scanReply(bytes);
  if (entries === null || Array.isArray(entries) !== Array.isArray(body)) return undefined;
  const calls = [body].flat();
  const told = [entries].flat();
  if (told.length !== calls.length) return undefined;
  const unread = new Set(calls.filter(isLeftUnread).map(({ id }) => id));
  const answers = told.map(({ id, result }) => ({ id, result: unread.has(id) ? result : result.read() }));
  return Array.isArray(entries) ? answers : answers[0];
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
