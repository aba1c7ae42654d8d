import http from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction, type TcpNetConnectOpts } from 'node:net';
import { POLICY } from '#shared/core/policy.ts';
import { nameServers, type ResolveName, systemNames } from './webhook-names.ts';
import { mayReach, parseWebhookTarget, type WebhookPolicy } from './webhook-target.ts';

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
  const resolve = options.resolve ?? (options.policy.privateTargets === false ? nameServers() : systemNames);
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
      const target = parseWebhookTarget(text, options.policy);
      if (!target.ok) return failed('blocked', `the URL ${target.problem}`);
      const deadline = AbortSignal.timeout(deadlineMs);

      let addresses: string[];
      try {
        addresses = await addressesOf(target.url, resolve, deadline);
      } catch (error) {
        return deadline.aborted ? failed('timeout', 'name resolution took too long') : failed('dns', (error as Error).message);
      }
      if (addresses.length === 0) return failed('dns', 'the name has no address');
      // One forbidden address among several is enough: which one a connection would use is the name owner's choice.
      if (addresses.some((one) => !mayReach(one, options.policy))) return failed('blocked', 'the host resolves to a private or reserved address');

      try {
        const answer = await send(target.url, addresses, headers, body, deadline);
        return { kind: 'answered', ...answer, durationMs: Math.round(performance.now() - started) };
      } catch (error) {
        return deadline.aborted ? failed('timeout', 'no answer in time') : failed(classify(error), (error as Error).message);
      }
    },
  };
}

async function addressesOf(url: URL, resolve: ResolveName, deadline: AbortSignal): Promise<string[]> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) return [host];
  return new Promise((done, reject) => {
    deadline.addEventListener('abort', () => reject(new Error('deadline')), { once: true });
    resolve(host, deadline).then(done, reject);
  });
}

/** How long one of several checked addresses may take to connect before the next is tried. */
const CONNECT_MILLISECONDS = 2_000;

function send(
  url: URL,
  addresses: readonly string[],
  headers: Record<string, string>,
  body: string,
  deadline: AbortSignal,
): Promise<{ status: number; retryAfter: string | null }> {
  return new Promise((done, reject) => {
    const options: https.RequestOptions & Pick<TcpNetConnectOpts, 'autoSelectFamily' | 'autoSelectFamilyAttemptTimeout'> = {
      method: 'POST',
      headers: { ...headers, 'content-length': String(Buffer.byteLength(body)), connection: 'close' },
      agent: false,
      lookup: pinnedTo(addresses),
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: CONNECT_MILLISECONDS,
      rejectUnauthorized: true,
      signal: deadline,
      maxHeaderSize: 16_384,
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

/** A lookup that knows the checked addresses only and answers in both shapes Node asks for. */
function pinnedTo(addresses: readonly string[]): LookupFunction {
  const pinned = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, options, callback) => (options.all ? callback(null, pinned) : callback(null, pinned[0]?.address ?? '', pinned[0]?.family));
}

function classify(error: unknown): Failure {
  const code = String((error as { code?: unknown }).code ?? '');
  if (code === 'ETIMEDOUT') return 'timeout';
  return /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_|INVALID_|EPROTO|ERR_OSSL)/.test(code) ? 'tls' : 'refused';
}
