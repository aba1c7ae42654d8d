import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { POLICY } from '#shared/core/policy.ts';
import { type CheckedTarget, checkTarget, namesFor, pinnedOptions } from './guarded-http.ts';
import type { ResolveName } from './webhook-names.ts';
import type { WebhookPolicy } from './webhook-target.ts';

/** A merchant's logo as it is handed on. */
export interface Logo {
  type: string;
  body: Buffer;
}

/** Fetches merchants' logos, each once in a while. */
export interface LogoClient {
  /** Null when there is no image there that may be shown. */
  logo(url: string): Promise<Logo | null>;
}

/** Images that browsers draw everywhere; a vector image runs no script where it is an image. */
const TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/svg+xml'];

interface Kept {
  /** Wall time until which it is not asked for again. */
  until: number;
  found: Promise<Logo | null>;
}

/**
 * Makes the client for logos. Payers' browsers never meet the merchant's host (ux 0.7): the service asks it, by the rules of
 * webhook targets, follows no redirect, and takes an image of 24 KB at most. What it found, and that it found nothing, is
 * kept in memory for a while; any number of askers at once cause one request.
 */
export function createLogoClient(options: { policy: WebhookPolicy; now(): number; resolve?: ResolveName }): LogoClient {
  const { policy, now, resolve = namesFor(policy) } = options;
  const kept = new Map<string, Kept>();

  const fetchLogo = async (text: string): Promise<Logo | null> => {
    const deadline = AbortSignal.timeout(POLICY.logoDeadlineMs);
    const target = await checkTarget(text, { policy, resolve, deadline });
    return target.ok ? get(target, deadline).catch(() => null) : null;
  };

  return {
    logo: (url) => {
      const present = kept.get(url);
      if (present !== undefined && present.until > now()) return present.found;
      const found = fetchLogo(url);
      const entry: Kept = { until: now() + POLICY.logoKeptSeconds * 1_000, found };
      kept.delete(url);
      kept.set(url, entry);
      const [oldest] = kept.keys();
      if (kept.size > POLICY.logosKept && oldest !== undefined) kept.delete(oldest);
      return found.then((logo) => {
        if (logo === null) entry.until = now() + POLICY.logoRetrySeconds * 1_000;
        return logo;
      });
    },
  };
}

function get({ url, addresses }: CheckedTarget, deadline: AbortSignal): Promise<Logo | null> {
  return new Promise((done, reject) => {
    const options = { ...pinnedOptions(addresses), headers: { accept: TYPES.join(', '), connection: 'close' }, signal: deadline };
    const request = (url.protocol === 'https:' ? https : http).request(url, options);
    const settle = (logo: Logo | null): void => {
      done(logo);
      request.destroy();
    };
    request.on('error', reject);
    request.on('close', () => settle(null));
    request.on('response', (response) => {
      const type = typeOf(response);
      if (response.statusCode !== 200 || type === undefined) return settle(null);
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        size += chunk.length;
        if (size > POLICY.logoBytes) settle(null);
      });
      response.on('end', () => settle(size === 0 ? null : { type, body: Buffer.concat(chunks) }));
      response.on('error', reject);
    });
    request.end();
  });
}

/** The image type that is told, without parameters; undefined for anything that is not handed on as it came. */
function typeOf({ headers }: IncomingMessage): string | undefined {
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') return undefined;
  const [told = ''] = (headers['content-type'] ?? '').split(';');
  return TYPES.find((type) => type === told.trim().toLowerCase());
}
