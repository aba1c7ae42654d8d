import http from 'node:http';
import https from 'node:https';
import { Readable } from 'node:stream';
import { readRetryAfter } from '../budget.ts';
import { ChainUnavailable, type Trouble } from '../chain.ts';
import { gatherBytes } from '../gathered-bytes.ts';
import type { Failure } from '../rpc.ts';
import { parseExact } from './json.ts';
import { cutAnswers, putBack } from './unread-hex.ts';

/** Where to send requests to, and what to call it in messages. */
export interface HttpEndpoint {
  target: string;
  provider: string;
  headers: Record<string, string>;
}

/** A few full blocks with all they spend fit; an endless reply does not. */
const LARGEST_REPLY_BYTES = 256 * 1024 * 1024;

class TooLarge extends Error {}

/** An HTTP response that holds no answer. */
class NoAnswer extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.problem);
    this.failure = failure;
  }
}

/** Takes user name and password out of the URL and into a header. */
export function endpointOf(url: string): HttpEndpoint {
  const target = new URL(url);
  const [user, password] = [target.username, target.password].map(decoded) as [string, string];
  target.username = '';
  target.password = '';
  const authorization = user === '' && password === '' ? {} : { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` };
  return { target: target.href, provider: target.host, headers: { 'content-type': 'application/json', accept: 'application/json', ...authorization } };
}

/** A bare per cent sign, which people forget to escape in a password, stands for itself. */
function decoded(text: string): string {
  return decodeURIComponent(text.replace(/%(?![0-9a-fA-F]{2})/g, '%25'));
}

/** Keeps a connection alive on which nothing is said for minutes. */
const KEEP_ALIVE_MS = 30_000;

interface HttpRequest {
  headers: Record<string, string>;
  body: string;
  signal: AbortSignal;
}

/** Posts like `fetch` without redirects, but for as long as the signal says: `fetch` gives up when no answer begins for five minutes. */
export async function postPatiently(target: string, request: HttpRequest): Promise<Response> {
  const answer = await post(target, request);
  const retryAfter = answer.headers['retry-after'];
  return new Response(Readable.toWeb(answer) as ReadableStream, {
    status: answer.statusCode ?? 500,
    headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
  });
}

function post(target: string, { headers, body, signal }: HttpRequest): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { request: open } = target.startsWith('https:') ? https : http;
    const request = open(target, { method: 'POST', headers: { ...headers, 'content-length': Buffer.byteLength(body) }, signal }, resolve);
    request.setSocketKeepAlive(true, KEEP_ALIVE_MS);
    request.on('error', (error) => reject(signal.aborted ? signal.reason : error));
    // An answer that is none, such as the change to another protocol, ends without a word, and leaves nothing for the signal to end.
    request.on('close', () => reject(new Error('the connection was closed')));
    request.end(body);
  });
}

/** What an HTTP response says: JSON whatever its status, since older nodes answer errors with 500 and 404. Throws what `failureOf` explains. */
export async function readReply(response: Response): Promise<unknown> {
  const answer = parsed(await readText(response));
  return judged(answer, response.status, response.headers.get('retry-after'));
}

/**
 * Posts, and reads what the response says without making text of long answers: they come as `UnreadHex`. The streams of `fetch` would cost more than everything
 * that is done with the bytes. Throws what `failureOf` explains.
 */
export async function postForUnread(target: string, request: HttpRequest): Promise<unknown> {
  const response = await post(target, request);
  const cut = cutAnswers(await readBytes(response, request.signal));
  const answer = putBack(parsed(new TextDecoder().decode(cut.rest)), cut);
  return judged(answer, response.statusCode ?? 500, response.headers['retry-after'] ?? null);
}

function judged(answer: unknown, status: number, retryAfter: string | null): unknown {
  const failed = (problem: string, trouble: Trouble, more: Partial<Failure> = {}): NoAnswer =>
    new NoAnswer({ problem, trouble, retryAfterMs: readRetryAfter(retryAfter, Date.now()), passing: false, tooMuch: false, ...more });
  if (status === 401 || status === 403) throw failed(`HTTP ${status}: user name and password in its URL, or this host, are not let in`, 'down');
  if (status === 429) throw failed('it is asked too much', 'busy', { passing: true });
  if (status === 413) throw failed('HTTP 413, too much at once', 'refused', { tooMuch: true });
  if (answer !== undefined && (status === 200 || speaksRpc(answer))) return answer;
  // "Work queue depth exceeded" is all a node says that has more requests than threads.
  if (status === 503) throw failed('it has too much to do', 'busy', { passing: true });
  if (status >= 500 || status === 408) throw failed(`HTTP ${status}`, 'down', { passing: true });
  throw status === 200 ? failed('the answer is not JSON', 'untrusted', { passing: true }) : failed(`HTTP ${status}`, 'down');
}

/** What a failed HTTP request says about the endpoint, without a word of its URL, which may hold a key. */
export function failureOf(error: unknown): Failure {
  const plain = { retryAfterMs: undefined, passing: false, tooMuch: false };
  if (error instanceof NoAnswer) return error.failure;
  if (error instanceof ChainUnavailable) return { ...plain, problem: error.message, trouble: error.trouble, retryAfterMs: error.retryAfterMs };
  if (error instanceof TooLarge) return { ...plain, problem: 'the response size is too large', trouble: 'untrusted', tooMuch: true };
  if (error instanceof Error && error.name === 'TimeoutError') return { ...plain, problem: 'timed out', trouble: 'slow' };
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return { ...plain, problem: (cause as { code?: string } | undefined)?.code ?? 'the connection failed', trouble: 'down', passing: true };
}

function speaksRpc(answer: unknown): boolean {
  const [one] = Array.isArray(answer) ? answer : [answer];
  return typeof one === 'object' && one !== null && 'id' in one && ('result' in one || 'error' in one);
}

function parsed(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}

async function readText(response: Response): Promise<string> {
  if (response.body === null) return '';
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  for await (const part of response.body) {
    const bytes = part as Uint8Array;
    size += bytes.length;
    if (size > LARGEST_REPLY_BYTES) throw new TooLarge();
    text += decoder.decode(bytes, { stream: true });
  }
  return text + decoder.decode();
}

function readBytes(response: http.IncomingMessage, signal: AbortSignal): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const gathered = gatherBytes();
    response.on('data', (part: Buffer) => {
      gathered.add(part);
      if (gathered.length > LARGEST_REPLY_BYTES) response.destroy(new TooLarge());
    });
    response.once('end', () => resolve(gathered.take()));
    response.once('error', (error) => reject(signal.aborted ? signal.reason : error));
  });
}
