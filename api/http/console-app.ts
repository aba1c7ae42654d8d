import { join } from 'node:path';
import express, { type Express, type Request, type Response } from 'express';
import type { ConsoleAssets, PageModel, ProblemKind, Screen } from '#api/console/page/model.ts';
import { renderConsole } from '#api/console/page/render.tsx';
import { type Translate, translator } from '#api/console/page/texts.ts';
import type { FollowedPages } from '#api/console/followed-pages.ts';
import type { PeopleDesk } from '#api/people/desk.ts';
import { readSession } from '#api/people/sign-in.ts';
import type { Deps } from '#api/deps.ts';
import { matchLanguage } from '#api/page/language.ts';
import { ERRORS, invalid, ServiceError } from '#shared/core/errors.ts';
import { parseUrl } from '#shared/core/parse-url.ts';
import { POLICY } from '#shared/core/policy.ts';
import { packageRoot } from '#shared/platform/package-root.ts';
import { readContract } from './read-contract.ts';
import { readBody } from './body.ts';
import { brandStylesRouter } from './brand-styles.ts';
import { loadCatalogues } from './catalogues.ts';
import { checkoutAssetsRouter, loadCheckoutAssets } from './checkout-assets.ts';
import { sendLogo } from './checkout-logo.ts';
import { pageHeaders, sendPage } from './checkout-page-answer.ts';
import { clientIp } from './client-ip.ts';
import { consoleApiRouter } from './console-api.ts';
import { mailedLink, PEOPLE_ROUTES, profile, signInScreen } from './console-people-routes.ts';
import { ACT_PATH, afterRefusedAct, afterRefusedOperatorAct, OPERATOR_ACT_PATH, PLACE_ROUTES, REVIEW_PATH } from './console-place-routes.ts';
import { CONSOLE_COOKIE, consoleCookie, LANGUAGE_COOKIE, PROVIDER_COOKIE, refuseForeign } from './console-request.ts';
import { type Answer, field, languageOf, namedIn, type Redirection, type Route, type Visit } from './console-visit.ts';
import { tellChanges } from './console-changes.ts';
import { errorHeaders } from './envelope.ts';
import { answerErrors, noteFailure, notesOf, observe } from './observe.ts';
import { credentialOf, rateLimit } from './rate-limit.ts';
import { sendFile, sendLines } from './send-file.ts';

/** Where people read what keys may read; the same path as at the api's own host. */
const API_ROOT = '/api/v1';
/** A year: somebody who chose a language reads it the next time too. */
const LANGUAGE_SECONDS = 365 * 86_400;

const ROUTES: readonly Route[] = [...PEOPLE_ROUTES, { method: 'POST', path: '/language', signedIn: false, run: changeLanguage }, ...PLACE_ROUTES];

/**
 * Builds what listens where the console is: pages drawn here, changed by forms, with the passkeys' program beside them. Requests of other sites' pages are refused,
 * all but following a link. What says who somebody is, `desk` does, which is the http role's.
 */
export async function createConsoleApp(
  deps: Deps,
  {
    desk,
    followed,
    pageFolder = join(packageRoot(), 'dist/console'),
    checkoutFolder = join(packageRoot(), 'dist/checkout'),
    contractFolder = join(packageRoot(), 'api/contract'),
  }: { desk: PeopleDesk; followed: FollowedPages; pageFolder?: string; checkoutFolder?: string; contractFolder?: string },
): Promise<Express> {
  const assets = loadCheckoutAssets(pageFolder);
  const catalogues = loadCatalogues(join(pageFolder, 'locales'));
  const ownOrigin = new URL(deps.config.SLUICE_CONSOLE_URL as string).origin;
  const headers = consoleHeaders(ownOrigin);
  const [framed, shows] = [framedHeaders(headers), dataImageHeaders(headers)];
  const checkoutAssets = loadCheckoutAssets(checkoutFolder);
  const checkout = { assets: checkoutAssets.page, catalogues: loadCatalogues(join(checkoutFolder, 'locales')) };
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.use(observe(deps));
  app.use(checkoutAssetsRouter(deps, assets, () => undefined));
  // What owners look at before they save how their pages look.
  app.use(checkoutAssetsRouter(deps, checkoutAssets, () => undefined));
  app.use(brandStylesRouter(deps, checkoutAssets.files, () => undefined));
  const document = readContract(join(contractFolder, 'openapi.yaml'));
  app.use(API_ROOT, await consoleApiRouter(deps, { document, apiRoot: API_ROOT, ownOrigin }));
  app.use(async (request, response: Response) => {
    const address = clientIp(request, deps.config.SLUICE_TRUSTED_PROXIES);
    const visit: Visit = {
      deps,
      desk,
      request,
      response,
      address,
      session: undefined,
      place: null,
      catalogues,
      follows: null,
      body: Buffer.alloc(0),
      checkout,
      form: new URLSearchParams(),
    };
    const language = languageOf(visit);
    const page = (screen: Screen, notice: string | null): PageModel => ({
      language,
      languages: catalogues.choices,
      assets: assets.page as ConsoleAssets,
      person: visit.session?.email ?? null,
      place: visit.place,
      screen,
      follows: visit.follows,
      notice,
    });
    const found = routeOf(request);
    notesOf(response).route = found?.route.path ?? 'other';
    try {
      const cookie = consoleCookie(request);
      // Strangers behind the same address do not use up what those have who were signed in there.
      const credential = credentialOf('token', cookie);
      const admission = await rateLimit(deps, { operationId: request.method === 'POST' ? 'consoleForm' : 'consolePage', clientIp: address, credential });
      if (found === undefined) throw new ServiceError('not_found');
      refuseForeign(request, ownOrigin);
      visit.session = await readSession(deps, cookie);
      if (visit.session !== undefined) admission.prove();
      if (found.route.signedIn && visit.session === undefined) return redirect(response, headers, { to: '/sign-in' });
      if (request.method === 'POST') {
        visit.body = await readBody(request, response);
        visit.form = new URLSearchParams(visit.body.toString('utf8'));
      }
      const answer = await found.route.run(visit, found.named);
      if ('to' in answer) return redirect(response, headers, answer);
      if ('json' in answer) return sendJson(response, headers, answer.json);
      if ('follow' in answer) return tellChanges(response, followed, answer.follow, headers);
      if ('lines' in answer) return await sendLines(deps, request, response, answer.lines, headers);
      if ('logo' in answer) return sendLogo(response, answer.logo);
      if ('framed' in answer) return await sendPage(request, response, { status: 200, html: answer.framed, headers: framed });
      if ('file' in answer) return await sendFile(deps, request, response, answer.file, headers);
      const own = 'provider' in answer ? { ...headers, ...setCookies(answer) } : answer.screen.kind === 'logo-review' ? shows : headers;
      return await sendPage(request, response, { status: 200, html: renderConsole(page(answer.screen, null)), headers: own });
    } catch (thrown) {
      const error = noteFailure(deps, response, thrown);
      const { screen, notice } = await screenOf(visit, found?.route, error);
      return sendPage(request, response, { status: error.status, html: renderConsole(page(screen, notice)), headers: { ...headers, ...errorHeaders(error) } });
    }
  });
  app.use(answerErrors(deps));
  return app;
}

/** A route's own page says what went wrong where there is something to do about it; everything else is a page of its own. */
async function screenOf(visit: Visit, route: Route | undefined, error: ServiceError): Promise<{ screen: Screen; notice: string | null }> {
  const t = translator(languageOf(visit));
  if (route?.path === '/sign-in' && error.code === 'forbidden' && visit.form.has('credential'))
    return { screen: signInScreen(visit), notice: t('notice.passkey-refused') };
  if (route?.path.startsWith('/sign-in/provider') && error.code !== 'not_found' && error.code !== 'rate_limit_exceeded') {
    const notice = t(error.code === 'conflict' ? 'provider.known' : error.status < 500 ? 'provider.refused' : 'provider.away');
    return { screen: visit.session === undefined ? signInScreen(visit) : await profile(visit), notice };
  }
  if (route?.path === '/sign-in/link/{token}' && (error.code === 'forbidden' || error.code === 'rate_limit_exceeded') && visit.form.has('code')) {
    const screen = await mailedLink(visit, visit.request.path.split('/').at(-1) ?? '').catch(() => undefined);
    if (screen !== undefined) return { screen, notice: wrongCode(t, error) };
  }
  if (route?.path.startsWith('/profile') && visit.form.get('code') && (error.code === 'forbidden' || error.code === 'rate_limit_exceeded'))
    return { screen: await profile(visit), notice: wrongCode(t, error) };
  if ((route?.path === ACT_PATH || route?.path === REVIEW_PATH || route?.path === OPERATOR_ACT_PATH) && error.status < 500 && visit.place !== null) {
    const screen = await (route.path === OPERATOR_ACT_PATH ? afterRefusedOperatorAct(visit, route) : afterRefusedAct(visit, route));
    // Without words of its own it is the proof that was refused.
    const unproven = error.code === 'forbidden' && error.message === ERRORS.forbidden.message;
    if (screen !== undefined) return { screen, notice: unproven ? t('act.refused') : error.message };
  }
  if (route?.path.startsWith('/profile/passkeys') && error.code === 'conflict')
    return { screen: await profile(visit), notice: t(route.path.endsWith('/remove') ? 'notice.only-passkey' : 'notice.too-many-passkeys') };
  const problem: ProblemKind =
    error.code === 'not_found'
      ? route?.path.startsWith('/invitations/') || route?.path.startsWith('/sign-in/link/')
        ? 'link-gone'
        : 'not-found'
      : error.code === 'rate_limit_exceeded'
        ? 'busy'
        : error.code === 'forbidden' && visit.place !== null
          ? 'no-permission'
          : error.status < 500
            ? 'refused'
            : 'unavailable';
  return { screen: { kind: 'problem', problem, field: error.field ?? null, requestId: notesOf(visit.response).requestId }, notice: null };
}

function wrongCode(t: Translate, { code, retryAfterSeconds = 0 }: ServiceError): string {
  return code === 'forbidden' ? t('notice.wrong-code') : t('notice.too-many-codes', { minutes: Math.ceil(retryAfterSeconds / 60) });
}

/** Keeps the language that was chosen, and shows the page again that it was chosen on; what answered a form has no page of its own. */
async function changeLanguage(visit: Visit): Promise<Answer> {
  const { request, catalogues } = visit;
  const language = matchLanguage(catalogues.tags, field(visit, 'lang'));
  if (language === undefined) throw invalid('lang', 'must be one of the languages');
  const { referer = '' } = request.headers;
  const from = parseUrl(referer);
  return { to: from !== null && routeOf({ method: 'GET', path: from.pathname }) !== undefined ? from.pathname + from.search : '/', language };
}

function routeOf(request: Pick<Request, 'method' | 'path'>): { route: Route; named: Readonly<Record<string, string>> } | undefined {
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  for (const route of ROUTES) {
    const named = route.method === method ? namedIn(route.path, request.path) : undefined;
    if (named !== undefined) return { route, named };
  }
  return undefined;
}

/** The checkout's, but that passkeys are asked for here, and that a form's origin is told to ourselves. */
function consoleHeaders(ownOrigin: string): Record<string, string> {
  const { 'Permissions-Policy': denied = '', 'Content-Security-Policy': policy = '', ...headers } = pageHeaders(ownOrigin);
  return {
    ...headers,
    'Content-Security-Policy': `${policy}; frame-src 'self'`,
    'Permissions-Policy': denied.replace('publickey-credentials-get=(), ', ''),
    'Referrer-Policy': 'same-origin',
  };
}

/** Of a page that stands in a frame of ours, and runs nothing. */
function framedHeaders({ 'Content-Security-Policy': policy = '', ...headers }: Record<string, string>): Record<string, string> {
  const own = policy
    .replace("frame-ancestors 'none'", "frame-ancestors 'self'")
    .replace("script-src 'self'", "script-src 'none'")
    .replace("form-action 'self'", "form-action 'none'");
  return { ...headers, 'Content-Security-Policy': own, 'X-Frame-Options': 'SAMEORIGIN' };
}

/** Of the page that shows an image which is nowhere yet. */
function dataImageHeaders({ 'Content-Security-Policy': policy = '', ...headers }: Record<string, string>): Record<string, string> {
  return { ...headers, 'Content-Security-Policy': policy.replace("img-src 'self'", "img-src 'self' data:") };
}

function setCookies({ cookie, language, provider }: Omit<Redirection, 'to'>): { 'Set-Cookie'?: string[] } {
  const attributes = 'Path=/; Secure; HttpOnly; SameSite=Lax';
  const cookies = [
    ...(cookie === undefined ? [] : [`${CONSOLE_COOKIE}=${cookie ?? ''}; ${attributes}; Max-Age=${cookie === null ? 0 : POLICY.sessionSeconds}`]),
    ...(language === undefined ? [] : [`${LANGUAGE_COOKIE}=${language}; ${attributes}; Max-Age=${LANGUAGE_SECONDS}`]),
    ...(provider === undefined ? [] : [`${PROVIDER_COOKIE}=${provider ?? ''}; ${attributes}; Max-Age=${provider === null ? 0 : POLICY.providerSignInSeconds}`]),
  ];
  return cookies.length === 0 ? {} : { 'Set-Cookie': cookies };
}

function redirect(response: Response, headers: Record<string, string>, { to, ...set }: Redirection): void {
  response.writeHead(303, { ...headers, Location: to, 'Content-Length': 0, ...setCookies(set) });
  response.end();
}

function sendJson(response: Response, headers: Record<string, string>, body: object): void {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(200, { ...headers, 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': bytes.length });
  response.end(bytes);
}
