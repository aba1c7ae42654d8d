import http from 'node:http';
import https from 'node:https';
import { POLICY } from '#shared/core/policy.ts';
import { type CheckedTarget, checkTarget, namesFor, pinnedOptions } from './guarded-http.ts';
import { readWebhookAnswer, type WebhookAnswer } from './webhook-answer.ts';
import { keptConnection } from './webhook-connections.ts';
import type { ResolveName } from './webhook-names.ts';
import { reachOf, type WebhookPolicy } from './webhook-target.ts';

/**
 * How one attempt to deliver a webhook ended: with a status of 2xx to 5xx, or without one. `refused` covers every way to
 * fail after the name was found: no connection, one that broke off, an answer that is not HTTP.
 */
export type WebhookOutcome = ({ kind: 'answered'; durationMs: number } & Answered) | { kind: 'failed'; result: Failure; problem: string; durationMs: number };

interface Answered {
  status: number;
  retryAfter: string | null;
  /** How the answer began; absent where the receiver is an address of a private network that the deployment opened, whose services answer for no merchant's eyes. */
  answer?: WebhookAnswer;
}

/** The ways to fail without a status. */
export type Failure = 'timeout' | 'dns' | 'tls' | 'refused' | 'blocked';

/** Sends a body to a merchant's URL; never follows a redirect and never reaches an address the policy forbids. */
export interface WebhookHttp {
  /** Only one that may `reuse` a connection takes what an earlier one left open, and leaves its own open: it may reach a receiver that drops it twice. */
  post(url: string, headers: Record<string, string>, body: string, options?: { reuse: boolean }): Promise<WebhookOutcome>;
}

export interface WebhookHttpOptions {
  policy: WebhookPolicy;
  /** Every address of a name; when absent the machine's own way where private targets are allowed, else its name servers. */
  resolve?: ResolveName;
  /** Whole attempt, name resolution included; 10 s when absent (decisions 6). */
  deadlineMs?: number;
}

/**
 * Makes the client for outgoing webhooks. The host is classified when it is an IP literal (for which Node never calls a
 * lookup) and by every address it resolves to otherwise; the connection is pinned to the addresses that were checked, so
 * a second, different DNS answer is never asked for. A connection that an earlier attempt left open is used where it leads to the very addresses that this
 * one checked. The URL's own name stays in `Host` and in the TLS handshake. No
 * proxy is used, whatever the environment says: it would resolve the name again.
 */
export function createWebhookHttp(options: WebhookHttpOptions): WebhookHttp {
  const resolve = options.resolve ?? namesFor(options.policy);
  const deadlineMs = options.deadlineMs ?? POLICY.webhookDeadlineMs;

  return {
    post: async (text, headers, body, { reuse } = { reuse: false }) => {
      const started = performance.now();
      const failed = (result: Failure, problem: string): WebhookOutcome => ({
        kind: 'failed',
        result,
        problem,
        durationMs: Math.round(performance.now() - started),
      });
      const deadline = AbortSignal.timeout(deadlineMs);
      const target = await checkTarget(text, { policy: options.policy, resolve, deadline });
      if (!target.ok) return failed(target.result, target.problem);

      try {
        const { answer, ...answered } = await (reuse ? sendByKept : sendAlone)(target, headers, body, deadline);
        const shown = options.policy.privateTargets === true || target.addresses.every((one) => reachOf(one) === 'public');
        return { kind: 'answered', ...answered, ...(shown && { answer }), durationMs: Math.round(performance.now() - started) };
      } catch (error) {
        return deadline.aborted ? failed('timeout', 'no answer in time') : failed(classify(error), (error as Error).message);
      }
    },
  };
}

type Send = (target: CheckedTarget, headers: Record<string, string>, body: string, deadline: AbortSignal) => Promise<Required<Answered>>;

const sendAlone: Send = (...given) => exchange(...given, { agent: false });

/** Sends it by a connection that an earlier one left open, if there is one; a receiver may have closed that in the same moment, which says nothing about this one. */
const sendByKept: Send = async (...given) => {
  const [{ url, addresses }, , , deadline] = given;
  try {
    return await exchange(...given, keptConnection(url.protocol, addresses));
  } catch (error) {
    if (!(error instanceof ClosedMeanwhile) || deadline.aborted) throw error;
    return sendAlone(...given);
  }
};

/** A connection that was used before ended without a word of an answer. */
class ClosedMeanwhile extends Error {}

function exchange(
  { url, addresses }: CheckedTarget,
  headers: Record<string, string>,
  body: string,
  deadline: AbortSignal,
  connection: ReturnType<typeof keptConnection> | { agent: false },
): Promise<Required<Answered>> {
  return new Promise((done, reject) => {
    const options = {
      ...pinnedOptions(addresses),
      ...connection,
      method: 'POST',
      headers: { ...headers, 'content-length': String(Buffer.byteLength(body)), connection: connection.agent === false ? 'close' : 'keep-alive' },
      signal: deadline,
    };
    const request = (url.protocol === 'https:' ? https : http).request(url, options);
    // The status line is the answer: a body that breaks off, stalls until the deadline or never ends does not take it back.
    let answered: { status: number; headers: http.IncomingHttpHeaders } | undefined;
    const begun: Buffer[] = [];
    let readBefore = 0;
    const readSince = (): number => (request.socket?.bytesRead ?? 0) - readBefore;
    const settle = (error?: Error): void => {
      if (answered !== undefined)
        done({ status: answered.status, retryAfter: answered.headers['retry-after'] ?? null, answer: beginningOf(begun, answered.headers) });
      else if (request.reusedSocket && readSince() === 0) reject(new ClosedMeanwhile(error?.message));
      else reject(error ?? new Error('the connection was closed without an answer'));
      request.destroy();
    };
    request.on('socket', (socket) => {
      readBefore = socket.bytesRead;
    });
    request.on('error', settle);
    request.on('close', () => settle());
    request.on('information', () => {
      if (readSince() > POLICY.webhookReadBytes) settle(new Error('interim answers without end'));
    });
    request.on('response', (response) => {
      const status = response.statusCode ?? 0;
      if (status < 200 || status > 599) {
        settle(new Error(`${status} is no status of an answer`));
        return;
      }
      answered = { status, headers: response.headers };
      let read = 0;
      response.on('data', (chunk: Buffer) => {
        if (read < POLICY.webhookAnswerBytes) begun.push(chunk);
        read += chunk.length;
        if (read > POLICY.webhookReadBytes) settle();
      });
      // Its connection waits for the next one when the whole answer was read; `close` comes once it does, or is gone. It never comes where the receiver does not
      // read the rest of the request.
      response.on('end', () => {
        if (!request.writableFinished) settle();
      });
      response.on('error', settle);
    });
    request.end(body);
  });
}

function beginningOf(chunks: readonly Buffer[], headers: http.IncomingHttpHeaders): WebhookAnswer {
  const bytes = Buffer.concat(chunks).subarray(0, POLICY.webhookAnswerBytes);
  return readWebhookAnswer(bytes, { contentType: headers['content-type'], retryAfter: headers['retry-after'] });
}

/** The class an attempt's outcome is counted under: 2xx, 3xx, 4xx, 5xx, timeout, dns, tls, refused or blocked. */
export function resultOf(outcome: WebhookOutcome): string {
  return outcome.kind === 'answered' ? `${Math.floor(outcome.status / 100)}xx` : outcome.result;
}

function classify(error: unknown): Failure {
  const code = String((error as { code?: unknown }).code ?? '');
  if (code === 'ETIMEDOUT') return 'timeout';
  return /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_|INVALID_|EPROTO|ERR_OSSL)/.test(code) ? 'tls' : 'refused';
}
