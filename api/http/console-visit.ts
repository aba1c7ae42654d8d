import type { Request, Response } from 'express';
import type { FollowedPage } from '#api/console/followed-pages.ts';
import type { PageModel, Screen, Surroundings } from '#api/console/page/model.ts';
import type { Held, PeopleDesk } from '#api/people/desk.ts';
import type { Deps, SentFile } from '#api/deps.ts';
import type { PageLanguage } from '#api/page/catalogue.ts';
import { chooseLanguage } from '#api/page/language.ts';
import type { Session } from '#api/store/sessions.ts';
import type { WrittenFile } from '#api/exports/whole-record.ts';
import type { Logo } from '#api/clients/merchant-logo.ts';
import type { Catalogues } from './catalogues.ts';
import type { CheckoutLooks } from './checkout-preview.ts';
import { consoleCookie, cookieNamed, LANGUAGE_COOKIE } from './console-request.ts';

/** Beginning of the path of all pages of the deployment. */
export const OPERATORS = '/ops';

/** One request for the console. */
export interface Visit {
  deps: Deps;
  desk: PeopleDesk;
  request: Request;
  response: Response;
  address: string;
  session: Session | undefined;
  /** The gateway, or the deployment, whose page it is, once its person was let in. */
  place: Surroundings | null;
  catalogues: Catalogues;
  /** Where the page tells of changes, and the mark of what it is drawn of; null for a page that follows nothing. */
  follows: PageModel['follows'];
  /** The bytes that were sent; none for a GET. */
  body: Buffer;
  /** What the checkout's pages are drawn with, for whoever looks at theirs. */
  checkout: CheckoutLooks;
  /** Fields of the form that was sent; none for a GET. */
  form: URLSearchParams;
}

/** What a page of the console comes to. */
export type Answer =
  | { screen: Screen; provider?: string }
  | Redirection
  | { json: object }
  | { file: SentFile }
  | { framed: string }
  | { logo: Logo }
  | { lines: WrittenFile }
  | { follow: Omit<FollowedPage, 'told' | 'ended'> };

/** Where a browser goes on, and what it keeps. */
export interface Redirection {
  to: string;
  /** The session that begins, or null where it ends. */
  cookie?: string | null;
  /** The language that was chosen. */
  language?: string;
  /** What the browser keeps until it comes back from the identity provider, or null once it did. */
  provider?: string | null;
}

/** What answers at one path. */
export interface Route {
  method: 'GET' | 'POST';
  /** Path template, for metrics and logs: what stands in place of `{token}` is never written down. */
  path: string;
  /** Whether only somebody who is signed in comes here. */
  signedIn: boolean;
  run(visit: Visit, named: Readonly<Record<string, string>>): Promise<Answer>;
}

/** The language that its reader chose here, else one that their browser asks for. */
export function languageOf({ request, catalogues }: Visit): PageLanguage {
  const asked = cookieNamed(request, LANGUAGE_COOKIE) ?? null;
  return catalogues.language(chooseLanguage(catalogues.tags, { asked, given: [], accepted: request.headers['accept-language'] }));
}

/** What stands behind the path. */
export function queryOf({ request }: Visit): URLSearchParams {
  return new URL(request.url, 'http://console').searchParams;
}

/** What a path names, by the names in braces of a template that it fits; each is one segment of letters, digits, `-` and `_`. Pure. */
export function namedIn(template: string, path: string): Record<string, string> | undefined {
  const [wanted, given] = [template.split('/'), path.split('/')];
  if (wanted.length !== given.length) return undefined;
  const named: Record<string, string> = {};
  for (const [at, part] of wanted.entries()) {
    const text = given[at] ?? '';
    if (!part.startsWith('{')) {
      if (part !== text) return undefined;
    } else if (/^[A-Za-z0-9_-]{1,64}$/.test(text)) named[part.slice(1, -1)] = text;
    else return undefined;
  }
  return named;
}

/** @throws Error for a route that lets strangers in */
export function signed({ session, address }: Visit): { session: Session; address: string } {
  if (session === undefined) throw new Error('nobody is signed in');
  return { session, address };
}

/** What is sent along so that the desk proves by itself who it is. */
export function held(visit: Visit): Held {
  return { cookie: cookieOf(visit) ?? '', address: visit.address };
}

/** The session's cookie, as it was sent. */
export function cookieOf({ request }: Visit): string | null {
  return consoleCookie(request) ?? null;
}

/** Who a session is begun for. */
export function visitor({ request, address }: Visit): { address: string; browser: string } {
  return { address, browser: String(request.headers['user-agent'] ?? '') };
}

/** A passkey's signature, or a code. */
export function proofOf(visit: Visit): string {
  return field(visit, 'code') || field(visit, 'proof');
}

/** A field of the form; empty where it is missing. */
export function field({ form }: Visit, name: string): string {
  return form.get(name) ?? '';
}
