import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { pipeline, type Readable } from 'node:stream';
import { urlToHttpOptions } from 'node:url';
import { createGunzip } from 'node:zlib';
import { gatherBytes } from './gathered-bytes.ts';
import { replyMemory } from './reply-memory.ts';

/** What is posted, and how long and how large a reply may be. */
export interface Posted {
  headers: Readonly<Record<string, string>>;
  body: string;
  timeoutMs: number;
  largestBytes: number;
}

/** A whole HTTP reply. */
export interface Reply<Body extends Buffer | string = Buffer> {
  status: number;
  retryAfter: string | null;
  body: Body;
}

/** A reply that never ends, or would not fit. */
export class TooLarge extends Error {}
/** A reply that was not there in time. */
export class TooLate extends Error {}

/** Connections nobody uses are closed before nodes and gateways do so themselves, or a request would be lost with one. */
const IDLE_MS = 4_000;
/** How much of a long reply becomes text at once. */
const PIECE_BYTES = 1024 * 1024;
/** Keeps a connection alive on which nothing is said for minutes. */
const KEEP_ALIVE_MS = 30_000;
const secure = new https.Agent({ keepAlive: true, timeout: IDLE_MS });
const plain = new http.Agent({ keepAlive: true, timeout: IDLE_MS });

/**
 * Posts JSON to a node and reads the whole reply. Follows no redirects. A name and password in the URL are sent as such. Over `node:http`, because `fetch`
 * and its streams cost more CPU than all that is read of most replies (ops/docs/benchmarks.md).
 * A reply that is longer than `textBeyond` bytes comes as text, so that its bytes are never held beside it. Whoever has read a reply may give its memory back (reply-memory.ts).
 * @throws TooLate after `timeoutMs`, TooLarge beyond `largestBytes` once unpacked, or what broke the connection
 */
export function post(target: URL, posted: Posted & { textBeyond: number }): Promise<Reply<Buffer | string>>;
export function post(target: URL, posted: Posted): Promise<Reply>;
export function post(target: URL, { headers, body, timeoutMs, ...limits }: Posted & { textBeyond?: number }): Promise<Reply<Buffer | string>> {
  return new Promise((resolve, reject) => {
    const request = (target.protocol === 'https:' ? https : http).request({
      ...optionsOf(target),
      headers: { ...headers, 'accept-encoding': 'gzip', 'content-length': Buffer.byteLength(body) },
    });
    if (timeoutMs > KEEP_ALIVE_MS) request.setSocketKeepAlive(true, KEEP_ALIVE_MS);
    const fail = (error: Error): void => {
      reject(error);
      request.destroy();
    };
    const timer = setTimeout(() => fail(new TooLate('no answer in time')), timeoutMs);
    let answered = false;
    request.on('response', (answer) => {
      answered = true;
      readAll(answer, limits, fail, (told) => resolve({ status: answer.statusCode ?? 0, retryAfter: answer.headers['retry-after'] ?? null, body: told }));
    });
    request.on('error', fail);
    // An answer that is none, such as another protocol, may end without a word.
    request.on('close', () => {
      clearTimeout(timer);
      if (!answered) reject(new Error('the connection was closed'));
    });
    request.end(body);
  });
}

/** Where requests go, of the same URLs again and again. */
const known = new WeakMap<URL, http.RequestOptions>();

/** How a request to this URL is made, which nobody changes. */
function optionsOf(target: URL): http.RequestOptions {
  const before = known.get(target);
  if (before !== undefined) return before;
  const { protocol, hostname, port, path, auth } = urlToHttpOptions(target);
  const options = { protocol, hostname, port, path, auth, method: 'POST', agent: protocol === 'https:' ? secure : plain };
  known.set(target, options);
  return options;
}

/** The text of a reply, whatever it came as. */
export function textOf({ body }: Pick<Reply<Buffer | string>, 'body'>): string {
  return typeof body === 'string' ? body : new TextDecoder().decode(body);
}

function readAll(
  answer: IncomingMessage,
  { largestBytes, textBeyond = largestBytes }: { largestBytes: number; textBeyond?: number },
  fail: (error: Error) => void,
  take: (body: Buffer | string) => void,
): void {
  const length = Number(answer.headers['content-length'] ?? 0);
  const tooLarge = (): void => fail(new TooLarge('the answer is too large'));
  if (length > largestBytes) {
    tooLarge();
    return;
  }
  const told: Readable = answer.headers['content-encoding'] === 'gzip' ? pipeline(answer, createGunzip(), () => undefined) : answer;
  let size = 0;
  // Of one that is packed it is not known how long it is.
  let gathered = gatherBytes(told === answer && length <= textBeyond ? length : 0, replyMemory);
  let text: string | undefined;
  const decoder = new TextDecoder();
  const decode = (stream: boolean): string => {
    const bytes = gathered.take();
    gathered = gatherBytes(0, replyMemory);
    const part = decoder.decode(bytes, { stream });
    replyMemory.giveBack(bytes);
    return part;
  };
  told.on('data', (part: Buffer) => {
    size += part.length;
    if (size > largestBytes) return tooLarge();
    gathered.add(part);
    // In pieces that are not as small as whoever answers likes: text is held piece by piece, too.
    if (size > textBeyond && gathered.length >= PIECE_BYTES) text = (text ?? '') + decode(true);
  });
  told.on('error', fail);
  told.on('end', () => take(size > textBeyond ? (text ?? '') + decode(false) : gathered.take()));
}
