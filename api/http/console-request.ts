import type { IncomingMessage } from 'node:http';
import { isNavigation } from '#api/checkout/foreign-page.ts';
import { ServiceError } from '#shared/core/errors.ts';

/** The session's cookie: of this host alone, over a connection that nobody listens in to. */
export const CONSOLE_COOKIE = '__Host-sluice';
/** What a browser keeps until it comes back from an identity provider. */
export const PROVIDER_COOKIE = '__Host-sluice-provider';
/** The language that somebody chose; a secret to nobody. */
export const LANGUAGE_COOKIE = 'lang';

/** What the browser sent as its session. Pure. */
export function consoleCookie(request: Pick<IncomingMessage, 'headers'>): string | undefined {
  return cookieNamed(request, CONSOLE_COOKIE);
}

/** What the browser sent as a cookie of that name. Pure. */
export function cookieNamed({ headers }: Pick<IncomingMessage, 'headers'>, name: string): string | undefined {
  for (const part of (headers.cookie ?? '').split(/;\s*/)) if (part.startsWith(`${name}=`)) return part.slice(name.length + 1);
  return undefined;
}

/**
 * A form counts only when the browser says that a page of ours sent it; the cookie alone would not tell (SameSite=Lax lets another port or subdomain through). A page may be
 * opened by a link from anywhere. @throws forbidden
 */
export function refuseForeign({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>, ownOrigin: string): void {
  const site = headers['sec-fetch-site'];
  const own = site === undefined ? headers.origin === ownOrigin : site === 'same-origin';
  if (method === 'POST' ? !own : site !== undefined && site !== 'same-origin' && site !== 'none' && !isNavigation(headers)) throw new ServiceError('forbidden');
}
