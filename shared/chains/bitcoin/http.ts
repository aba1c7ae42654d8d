import { readRetryAfter } from '../budget.ts';
import { ChainUnavailable, type Trouble } from '../chain.ts';
import { type Reply, textOf, TooLarge, TooLate } from '../post.ts';
import type { Failure } from '../rpc.ts';
import { replyMemory } from '../reply-memory.ts';
import { leaveUnread, scanReply } from '../unread.ts';
import { parseExact } from './json.ts';
import { cutAnswers, putBack, readAnswer } from './unread-hex.ts';

/** Where to send requests to, and what to call it in messages. */
export interface HttpEndpoint {
  target: URL;
  provider: string;
  headers: Record<string, string>;
}

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
  return { target, provider: target.host, headers: { 'content-type': 'application/json', accept: 'application/json', ...authorization } };
}

/** A bare per cent sign, which people forget to escape in a password, stands for itself. */
function decoded(text: string): string {
  return decodeURIComponent(text.replace(/%(?![0-9a-fA-F]{2})/g, '%25'));
}

/** What an HTTP reply says: JSON whatever its status, since older nodes answer errors with 500 and 404. Throws what `failureOf` explains. */
export function readReply(reply: Reply): unknown {
  const text = textOf(reply);
  replyMemory.giveBack(reply.body);
  return judged(parsed(text), reply);
}

/**
 * The same without making text of long answers, as many as there were calls: they come as `UnreadHex`. Those to calls of these ids come as `Unread`, where nothing about the whole reply
 * is unusual.
 */
export function readUnread(reply: Reply, unread: ReadonlySet<number>, calls: number): unknown {
  const cut = cutAnswers(reply.body, calls);
  return judged(putBack(scanned(cut.rest, unread) ?? parsed(textOf({ body: cut.rest })), cut), reply);
}

function scanned(bytes: Buffer, unread: ReadonlySet<number>): unknown {
  const entries = unread.size === 0 ? null : scanReply(bytes);
  if (entries === null) return undefined;
  const answers = leaveUnread(bytes, [entries].flat(), unread, readAnswer);
  return Array.isArray(entries) ? answers : answers[0];
}

function judged(answer: unknown, { status, retryAfter }: Reply): unknown {
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
  if (error instanceof TooLate) return { ...plain, problem: 'timed out', trouble: 'slow' };
  return { ...plain, problem: (error as { code?: string } | undefined)?.code ?? 'the connection failed', trouble: 'down', passing: true };
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
