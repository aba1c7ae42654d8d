import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { pipeline, type Readable } from 'node:stream';
import { urlToHttpOptions } from 'node:url';
import { createGunzip } from 'node:zlib';
import { gatherBytes } from '../gathered-bytes.ts';

/** A whole HTTP reply. */
export interface Reply {
  status: number;
  retryAfter: string | undefined;
  bytes: Buffer;
}

/** A reply that never ends, or would not fit. */
export class TooLarge extends Error {}
/** A reply that was not there in time. */
export class TooLate extends Error {}

/** Ten full blocks fit; an endless reply does not. */
const LARGEST_REPLY_BYTES = 64 * 1024 * 1024;
/** Connections nobody uses are closed before nodes and gateways do so themselves, or a request would be lost with one. */
const IDLE_MS = 4_000;
const secure = new https.Agent({ keepAlive: true, timeout: IDLE_MS });
const plain = new http.Agent({ keepAlive: true, timeout: IDLE_MS });
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Whether a status says that what was asked for is somewhere else. */
export function isRedirect(status: number): boolean {
  return REDIRECTS.has(status);
}

/**
 * Posts JSON and reads the whole reply. Every block of this chain takes a request of its own, of which `fetch` alone costs more CPU than all that is read of
 * the block. Follows no redirects.
 * @throws TooLate after `timeoutMs`, TooLarge, or what broke the connection
 */
export function post(target: URL, headers: Readonly<Record<string, string>>, body: string, timeoutMs: number): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const isSecure = target.protocol === 'https:';
    const request = (isSecure ? https : http).request({
      ...urlToHttpOptions(target),
      method: 'POST',
      agent: isSecure ? secure : plain,
      headers: { ...headers, 'accept-encoding': 'gzip', 'content-length': Buffer.byteLength(body) },
    });
    const fail = (error: Error): void => {
      reject(error);
      request.destroy();
    };
    const timer = setTimeout(() => fail(new TooLate()), timeoutMs);
    let answered = false;
    request.on('response', (answer) => {
      answered = true;
      readAll(answer, fail, (bytes) => resolve({ status: answer.statusCode ?? 0, retryAfter: answer.headers['retry-after'], bytes }));
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

function readAll(answer: IncomingMessage, fail: (error: Error) => void, take: (bytes: Buffer) => void): void {
  const told: Readable = answer.headers['content-encoding'] === 'gzip' ? pipeline(answer, createGunzip(), () => undefined) : answer;
  const gathered = gatherBytes();
  told.on('data', (part: Buffer) => {
    if (gathered.length + part.length > LARGEST_REPLY_BYTES) fail(new TooLarge('the answer is too large'));
    else gathered.add(part);
  });
  told.on('error', fail);
  told.on('end', () => take(gathered.take()));
}
