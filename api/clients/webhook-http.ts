import { lookup } from 'node:dns/promises';
import http from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { POLICY } from '#shared/core/policy.ts';
import { mayReach, parseWebhookTarget, type WebhookPolicy } from './webhook-target.ts';

/** How one attempt to deliver a webhook ended. */
export type WebhookOutcome =
  | { kind: 'answered'; status: number; retryAfter: string | null; durationMs: number }
  | { kind: 'failed'; result: 'timeout' | 'dns' | 'tls' | 'refused' | 'blocked'; problem: string; durationMs: number };

/** Sends a body to a merchant's URL; never follows a redirect and never reaches an address the policy forbids. */
export interface WebhookHttp {
  post(url: string, headers: Record<string, string>, body: string): Promise<WebhookOutcome>;
}

export interface WebhookHttpOptions {
  policy: WebhookPolicy;
  /** Every address of a name; the system resolver when absent. */
  resolve?(hostname: string): Promise<string[]>;
  /** Whole attempt, name resolution included; 10 s when absent (decisions 6). */
  deadlineMs?: number;
}

/**
 * Makes the client for outgoing webhooks. The host is classified when it is an IP literal (for which Node never calls a
 * lookup) and by every address it resolves to otherwise; the connection is pinned to the address that was checked, so a
 * second, different DNS answer is never asked for.
 */
export function createWebhookHttp(options: WebhookHttpOptions): WebhookHttp {
  const resolve = options.resolve ?? systemResolve;
  const deadlineMs = options.deadlineMs ?? POLICY.webhookDeadlineMs;

  return {
    post: async (text, headers, body) => {
      const started = performance.now();
      const failed = (result: 'timeout' | 'dns' | 'tls' | 'refused' | 'blocked', problem: string): WebhookOutcome => ({
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
      const [address] = addresses;
      if (address === undefined) return failed('dns', 'the name has no address');
      // One forbidden address among several is enough: which one a connection would use is the name owner's choice.
      if (addresses.some((one) => !mayReach(one, options.policy))) return failed('blocked', 'the host resolves to a private or reserved address');

      try {
        const answer = await send(target.url, address, headers, body, deadline);
        return { kind: 'answered', ...answer, durationMs: Math.round(performance.now() - started) };
      } catch (error) {
        return deadline.aborted ? failed('timeout', 'no answer in time') : failed(classify(error), (error as Error).message);
      }
    },
  };
}

async function systemResolve(hostname: string): Promise<string[]> {
  const found = await lookup(hostname, { all: true, verbatim: true });
  return found.map((one) => one.address);
}

async function addressesOf(url: URL, resolve: (hostname: string) => Promise<string[]>, deadline: AbortSignal): Promise<string[]> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) return [host];
  return new Promise((done, reject) => {
    deadline.addEventListener('abort', () => reject(new Error('deadline')), { once: true });
    resolve(host).then(done, reject);
  });
}

function send(
  url: URL,
  address: string,
  headers: Record<string, string>,
  body: string,
  deadline: AbortSignal,
): Promise<{ status: number; retryAfter: string | null }> {
  return new Promise((done, reject) => {
    const request = (url.protocol === 'https:' ? https : http).request(url, {
      method: 'POST',
      headers: { ...headers, 'content-length': String(Buffer.byteLength(body)), connection: 'close' },
      agent: false,
      lookup: pinnedTo(address),
      signal: deadline,
      maxHeaderSize: 16_384,
    });
    // The status line is the answer: a body that breaks off, stalls until the deadline or never ends does not take it back.
    let answer: { status: number; retryAfter: string | null } | undefined;
    const settle = (error?: Error): void => {
      if (answer === undefined) reject(error ?? new Error('the connection was closed without an answer'));
      else done(answer);
      request.destroy();
    };
    request.on('error', settle);
    request.on('close', () => settle());
    request.on('response', (response) => {
      answer = { status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'] ?? null };
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

/** A lookup that knows one address and answers in both shapes Node asks for. */
function pinnedTo(address: string): LookupFunction {
  const family = isIP(address);
  return (_hostname, options, callback) => (options.all ? callback(null, [{ address, family }]) : callback(null, address, family));
}

function classify(error: unknown): 'tls' | 'refused' {
  const code = String((error as { code?: unknown }).code ?? '');
  return /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|EPROTO|ERR_OSSL)/.test(code) ? 'tls' : 'refused';
}
