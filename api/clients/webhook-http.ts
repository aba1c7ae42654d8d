import http from 'node:http';
import https from 'node:https';
import { POLICY } from '#shared/core/policy.ts';
import { type CheckedTarget, checkTarget, namesFor, pinnedOptions } from './guarded-http.ts';
import type { ResolveName } from './webhook-names.ts';
import type { WebhookPolicy } from './webhook-target.ts';

/**
 * How one attempt to deliver a webhook ended: with a status of 2xx to 5xx, or without one. `refused` covers every way to
 * fail after the name was found: no connection, one that broke off, an answer that is not HTTP.
 */
export type WebhookOutcome =
  | { kind: 'answered'; status: number; retryAfter: string | null; durationMs: number }
  | { kind: 'failed'; result: Failure; problem: string; durationMs: number };

type Failure = 'timeout' | 'dns' | 'tls' | 'refused' | 'blocked';

/** Sends a body to a merchant's URL; never follows a redirect and never reaches an address the policy forbids. */
export interface WebhookHttp {
  post(url: string, headers: Record<string, string>, body: string): Promise<WebhookOutcome>;
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
 * a second, different DNS answer is never asked for. The URL's own name stays in `Host` and in the TLS handshake. No
 * proxy is used, whatever the environment says: it would resolve the name again.
 */
export function createWebhookHttp(options: WebhookHttpOptions): WebhookHttp {
  const resolve = options.resolve ?? namesFor(options.policy);
  const deadlineMs = options.deadlineMs ?? POLICY.webhookDeadlineMs;

  return {
    post: async (text, headers, body) => {
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
        const answer = await send(target, headers, body, deadline);
        return { kind: 'answered', ...answer, durationMs: Math.round(performance.now() - started) };
      } catch (error) {
        return deadline.aborted ? failed('timeout', 'no answer in time') : failed(classify(error), (error as Error).message);
      }
    },
  };
}

function send(
  { url, addresses }: CheckedTarget,
  headers: Record<string, string>,
  body: string,
  deadline: AbortSignal,
): Promise<{ status: number; retryAfter: string | null }> {
  return new Promise((done, reject) => {
    const options = {
      ...pinnedOptions(addresses),
      method: 'POST',
      headers: { ...headers, 'content-length': String(Buffer.byteLength(body)), connection: 'close' },
      signal: deadline,
    };
    const request = (url.protocol === 'https:' ? https : http).request(url, options);
    // The status line is the answer: a body that breaks off, stalls until the deadline or never ends does not take it back.
    let answer: { status: number; retryAfter: string | null } | undefined;
    const settle = (error?: Error): void => {
      if (answer === undefined) reject(error ?? new Error('the connection was closed without an answer'));
      else done(answer);
      request.destroy();
    };
    request.on('error', settle);
    request.on('close', () => settle());
    request.on('information', () => {
      if ((request.socket?.bytesRead ?? 0) > POLICY.webhookReadBytes) settle(new Error('interim answers without end'));
    });
    request.on('response', (response) => {
      const status = response.statusCode ?? 0;
      if (status < 200 || status > 599) {
        settle(new Error(`${status} is no status of an answer`));
        return;
      }
      answer = { status, retryAfter: response.headers['retry-after'] ?? null };
      let read = 0;
      response.on('data', (chunk: Buffer) => {
        read += chunk.length;
        if (read > POLICY.webhookReadBytes) settle();
      });
      response.on('end', () => settle());
      response.on('error', settle);
    });
    request.end(body);
  });
}

function classify(error: unknown): Failure {
  const code = String((error as { code?: unknown }).code ?? '');
  if (code === 'ETIMEDOUT') return 'timeout';
  return /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_|INVALID_|EPROTO|ERR_OSSL)/.test(code) ? 'tls' : 'refused';
}
