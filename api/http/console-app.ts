import { join } from 'node:path';
import express, { type Express, type Request, type Response } from 'express';
import { GATEWAY_SCREENS, type GatewayScreen } from '#api/console/gateway-screens.ts';
import type { ConsoleAssets, PageModel, ProblemKind, Screen, Surroundings } from '#api/console/page/model.ts';
import { renderConsole } from '#api/console/page/render.tsx';
import { OPERATOR_PAGES, type OperatorPage } from '#api/console/operator-screens.ts';
import { READ_EVERYTHING } from '#api/console/page/operator-sections.ts';
import { permissionOf, type Section, SECTIONS } from '#api/console/page/sections.ts';
import { enterDeployment, enterGateway } from '#api/people/places.ts';
import { isGatewayAct, pathAfterAct, screenAfterAct } from '#api/console/after-act.ts';
import type { AskedAct } from '#api/people/do-gateway-act.ts';
import { type Translate, translator } from '#api/console/page/texts.ts';
import type { Held, PeopleDesk } from '#api/people/desk.ts';
import { readLink } from '#api/people/mailed-link.ts';
import { readInvitation, readSession } from '#api/people/sign-in.ts';
import { PROVIDER_CALLBACK } from '#api/clients/provider-callback.ts';
import { showIdentity } from '#api/store/identities.ts';
import { showAuthenticator } from '#api/store/authenticators.ts';
import type { Deps, SentFile } from '#api/deps.ts';
import { readExportFile } from '#api/exports/exports.ts';
import type { PageLanguage } from '#api/page/catalogue.ts';
import { chooseLanguage, matchLanguage } from '#api/page/language.ts';
import { listPasskeys } from '#api/store/passkeys.ts';
import { listMemberships } from '#api/store/people.ts';
import { listSessions, type Session } from '#api/store/sessions.ts';
import { displayNameOf } from '#shared/chains/networks.ts';
import { invalid, ServiceError } from '#shared/core/errors.ts';
import { POLICY } from '#shared/core/policy.ts';
import { packageRoot } from '#shared/platform/package-root.ts';
import { readContract } from './app.ts';
import { readBody } from './body.ts';
import { type Catalogues, loadCatalogues } from './catalogues.ts';
import { checkoutAssetsRouter, loadCheckoutAssets } from './checkout-assets.ts';
import { pageHeaders, sendPage } from './checkout-page-answer.ts';
import { clientIp } from './client-ip.ts';
import { consoleApiRouter } from './console-api.ts';
import { CONSOLE_COOKIE, PROVIDER_COOKIE, consoleCookie, cookieNamed, LANGUAGE_COOKIE, refuseForeign } from './console-request.ts';
import { errorHeaders } from './envelope.ts';
import { answerErrors, noteFailure, notesOf, observe } from './observe.ts';
import { rateLimit } from './rate-limit.ts';
import { sendFile } from './send-file.ts';

/** Where people read what keys may read; the same path as at the api's own host. */
const API_ROOT = '/api/v1';
/** Beginning of the path of all pages of the deployment. */
const OPERATORS = '/ops';
/** Where a form of a gateway's page is sent that changes something. */
const ACT_PATH = '/g/{gateway}/acts/{act}';
/** Where a cashout is looked at before it is asked for. */
const REVIEW_PATH = '/g/{gateway}/cashouts/review';
/** A year: somebody who chose a language reads it the next time too. */
const LANGUAGE_SECONDS = 365 * 86_400;
/** Longer than any e-mail address. */
const LONGEST_ADDRESS = 320;

/** One request for the console. */
interface Visit {
  deps: Deps;
  desk: PeopleDesk;
  request: Request;
  response: Response;
  address: string;
  session: Session | undefined;
  /** The gateway, or the deployment, whose page it is, once its person was let in. */
  place: Surroundings | null;
  catalogues: Catalogues;
  /** Fields of the form that was sent; none for a GET. */
  form: URLSearchParams;
}

/** What a page of the console comes to. */
type Answer = { screen: Screen; provider?: string } | Redirection | { json: object } | { file: SentFile };

interface Redirection {
  to: string;
  /** The session that begins, or null where it ends. */
  cookie?: string | null;
  /** The language that was chosen. */
  language?: string;
  /** What the browser keeps until it comes back from the identity provider, or null once it did. */
  provider?: string | null;
}

interface Route {
  method: 'GET' | 'POST';
  /** Path template, for metrics and logs: what stands in place of `{token}` is never written down. */
  path: string;
  /** Whether only somebody who is signed in comes here. */
  signedIn: boolean;
  run(visit: Visit, named: Readonly<Record<string, string>>): Promise<Answer>;
}

const ROUTES: readonly Route[] = [
  { method: 'GET', path: '/sign-in', signedIn: false, run: async (visit) => (visit.session === undefined ? { screen: signInScreen(visit) } : { to: '/' }) },
  { method: 'POST', path: '/sign-in/options', signedIn: false, run: async ({ desk, address }) => ({ json: await desk.signInOptions({ address }) }) },
  {
    method: 'POST',
    path: '/sign-in',
    signedIn: false,
    run: async (visit) => ({
      to: '/',
      ...(await visit.desk.signIn({ credential: field(visit, 'credential'), visitor: visitor(visit), cookie: cookieOf(visit) })),
    }),
  },
  {
    method: 'POST',
    path: '/sign-in/mail',
    signedIn: false,
    async run(visit) {
      await visit.desk.mailLink({ email: field(visit, 'email').slice(0, LONGEST_ADDRESS), visitor: visitor(visit) });
      return { screen: { kind: 'link-sent' } };
    },
  },
  // Followed as a link, since a form of these pages leads nowhere else.
  {
    method: 'GET',
    path: '/sign-in/provider',
    signedIn: false,
    async run({ desk, address }) {
      const { url, browser } = await desk.beginProviderSignIn({ address });
      return { to: url, provider: browser };
    },
  },
  // What changes here was agreed to in this browser, which has the other half of what the answer counts for.
  {
    method: 'GET',
    path: PROVIDER_CALLBACK,
    signedIn: false,
    async run(visit) {
      const browser = cookieNamed(visit.request, PROVIDER_COOKIE) ?? '';
      const query = new URL(visit.request.url, 'http://console').search;
      const { cookie } = await visit.desk.finishProviderSignIn({ query, browser, visitor: visitor(visit), cookie: cookieOf(visit) });
      return cookie === null ? { to: '/profile', provider: null } : { to: '/', cookie, provider: null };
    },
  },
  // Looking at a link uses nothing up: scanners of mail do it before people.
  { method: 'GET', path: '/sign-in/link/{token}', signedIn: false, run: async (visit, { token = '' }) => ({ screen: await mailedLink(visit, token) }) },
  {
    method: 'POST',
    path: '/sign-in/link/{token}',
    signedIn: false,
    run: async (visit, { token = '' }) => ({
      to: '/',
      ...(await visit.desk.signInByLink({ token, code: field(visit, 'code'), visitor: visitor(visit), cookie: cookieOf(visit) })),
    }),
  },
  {
    method: 'GET',
    path: '/invitations/{token}',
    signedIn: false,
    async run(visit, { token = '' }) {
      return { screen: await invitation(visit, token) };
    },
  },
  {
    method: 'POST',
    path: '/invitations/{token}/options',
    signedIn: false,
    run: async ({ desk, address }, { token = '' }) => ({ json: await desk.invitationOptions({ token, address }) }),
  },
  {
    method: 'POST',
    path: '/invitations/{token}',
    signedIn: false,
    async run(visit, { token = '' }) {
      const given = { token, credential: field(visit, 'credential'), visitor: visitor(visit), cookie: cookieOf(visit) };
      const { cookie } = await visit.desk.acceptInvitation(given);
      return { to: '/', ...(cookie !== null && { cookie }) };
    },
  },
  {
    method: 'GET',
    path: '/',
    signedIn: true,
    async run(visit) {
      const places = await listMemberships(visit.deps.db.sql, signed(visit).session.personId);
      return {
        screen: {
          kind: 'places',
          places: places.map(({ gatewayId, gatewayName: name, role }) => ({ href: gatewayId === null ? OPERATORS : `/g/${gatewayId}`, name, role })),
        },
      };
    },
  },
  { method: 'GET', path: '/profile', signedIn: true, run: async (visit) => ({ screen: await profile(visit) }) },
  {
    method: 'POST',
    path: '/profile/passkeys/options',
    signedIn: true,
    run: async (visit) => ({ json: await visit.desk.newPasskeyOptions(held(visit)) }),
  },
  {
    method: 'POST',
    path: '/profile/passkeys/proof',
    signedIn: true,
    run: async (visit) => ({ json: await visit.desk.passkeyProofOptions({ ...held(visit), credential: field(visit, 'credential') }) }),
  },
  {
    method: 'POST',
    path: '/profile/passkeys',
    signedIn: true,
    run: (visit) => changed(visit.desk.addPasskey({ ...held(visit), credential: field(visit, 'credential'), proof: proofOf(visit) })),
  },
  {
    method: 'POST',
    path: '/profile/authenticator/proof',
    signedIn: true,
    run: async (visit) => ({ json: await visit.desk.authenticatorProofOptions(held(visit)) }),
  },
  // What is shown once is the answer itself: a page that it led to would have to find it somewhere.
  {
    method: 'POST',
    path: '/profile/authenticator',
    signedIn: true,
    run: async (visit) => ({ screen: { kind: 'authenticator', ...(await visit.desk.makeAuthenticator({ ...held(visit), proof: proofOf(visit) })) } }),
  },
  {
    method: 'POST',
    path: '/profile/authenticator/start',
    signedIn: true,
    run: async (visit) => ({ screen: { kind: 'recovery-codes', ...(await visit.desk.startAuthenticator({ ...held(visit), code: field(visit, 'code') })) } }),
  },
  {
    method: 'POST',
    path: '/profile/authenticator/remove/proof',
    signedIn: true,
    run: async (visit) => ({ json: await visit.desk.authenticatorRemovalOptions(held(visit)) }),
  },
  {
    method: 'POST',
    path: '/profile/authenticator/remove',
    signedIn: true,
    run: (visit) => changed(visit.desk.removeAuthenticator({ ...held(visit), proof: proofOf(visit) })),
  },
  {
    method: 'POST',
    path: '/profile/passkeys/remove/proof',
    signedIn: true,
    run: async (visit) => ({ json: await visit.desk.passkeyRemovalOptions({ ...held(visit), id: field(visit, 'id') }) }),
  },
  {
    method: 'POST',
    path: '/profile/passkeys/remove',
    signedIn: true,
    run: (visit) => changed(visit.desk.removePasskey({ ...held(visit), id: field(visit, 'id'), proof: proofOf(visit) })),
  },
  {
    method: 'POST',
    path: '/profile/provider/proof',
    signedIn: true,
    run: async (visit) => ({ json: await visit.desk.providerProofOptions(held(visit)) }),
  },
  {
    method: 'POST',
    path: '/profile/provider',
    signedIn: true,
    async run(visit) {
      const { url, browser } = await visit.desk.connectProvider({ ...held(visit), proof: proofOf(visit) });
      return { screen: { kind: 'provider-leave', url, name: visit.deps.config.SLUICE_OIDC_NAME ?? '' }, provider: browser };
    },
  },
  {
    method: 'POST',
    path: '/profile/provider/remove/proof',
    signedIn: true,
    run: async (visit) => ({ json: await visit.desk.providerRemovalOptions(held(visit)) }),
  },
  {
    method: 'POST',
    path: '/profile/provider/remove',
    signedIn: true,
    run: (visit) => changed(visit.desk.removeProvider({ ...held(visit), proof: proofOf(visit) })),
  },
  {
    method: 'POST',
    path: '/profile/sessions/revoke',
    signedIn: true,
    run: (visit) => changed(visit.desk.revokeSession({ ...held(visit), id: field(visit, 'id') })),
  },
  {
    method: 'POST',
    path: '/sign-out',
    signedIn: true,
    async run(visit) {
      await visit.desk.signOut(held(visit));
      return { to: '/sign-in', cookie: null };
    },
  },
  { method: 'POST', path: '/language', signedIn: false, run: changeLanguage },
  { method: 'GET', path: '/g/{gateway}', signedIn: true, run: beginningOf },
  {
    method: 'POST',
    path: '/g/{gateway}/acts/{act}/proof',
    signedIn: true,
    run: async (visit, named) => ({ json: await visit.desk.gatewayActOptions({ ...held(visit), ...askedActOf(visit, named) }) }),
  },
  { method: 'GET', path: '/g/{gateway}/exports/{id}/file', signedIn: true, run: exportFile },
  { method: 'POST', path: ACT_PATH, signedIn: true, run: gatewayAct },
  { method: 'POST', path: REVIEW_PATH, signedIn: true, run: reviewCashout },
  ...GATEWAY_SCREENS.map(
    (screen): Route => ({ method: 'GET', path: `/g/{gateway}${screen.path}`, signedIn: true, run: (visit, named) => gatewayScreen(screen, visit, named) }),
  ),
  { method: 'GET', path: OPERATORS, signedIn: true, run: async () => ({ to: `${OPERATORS}/overview` }) },
  ...OPERATOR_PAGES.map(
    (page): Route => ({ method: 'GET', path: `${OPERATORS}${page.path}`, signedIn: true, run: (visit, named) => operatorPage(page, visit, named) }),
  ),
];

/**
 * Builds what listens where the console is: pages drawn here, changed by forms, with the passkeys' program beside them. Requests of other sites' pages are refused,
 * all but following a link. What says who somebody is, `desk` does, which is the http role's.
 */
export async function createConsoleApp(
  deps: Deps,
  {
    desk,
    pageFolder = join(packageRoot(), 'dist/console'),
    contractFolder = join(packageRoot(), 'api/contract'),
  }: { desk: PeopleDesk; pageFolder?: string; contractFolder?: string },
): Promise<Express> {
  const assets = loadCheckoutAssets(pageFolder);
  const catalogues = loadCatalogues(join(pageFolder, 'locales'));
  const ownOrigin = new URL(deps.config.SLUICE_CONSOLE_URL as string).origin;
  const headers = consoleHeaders(ownOrigin);
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.use(observe(deps));
  app.use(checkoutAssetsRouter(deps, assets, () => undefined));
  const document = readContract(join(contractFolder, 'openapi.yaml'));
  app.use(API_ROOT, await consoleApiRouter(deps, { document, apiRoot: API_ROOT, ownOrigin }));
  app.use(async (request, response: Response) => {
    const address = clientIp(request, deps.config.SLUICE_TRUSTED_PROXIES);
    const visit: Visit = { deps, desk, request, response, address, session: undefined, place: null, catalogues, form: new URLSearchParams() };
    const language = languageOf(visit);
    const page = (screen: Screen, notice: string | null): PageModel => ({
      language,
      languages: catalogues.choices,
      assets: assets.page as ConsoleAssets,
      person: visit.session?.email ?? null,
      place: visit.place,
      screen,
      notice,
    });
    const found = routeOf(request);
    notesOf(response).route = found?.route.path ?? 'other';
    try {
      await rateLimit(deps, { operationId: request.method === 'POST' ? 'consoleForm' : 'consolePage', clientIp: address });
      if (found === undefined) throw new ServiceError('not_found');
      refuseForeign(request, ownOrigin);
      visit.session = await readSession(deps, consoleCookie(request));
      if (found.route.signedIn && visit.session === undefined) return redirect(response, headers, { to: '/sign-in' });
      if (request.method === 'POST') visit.form = new URLSearchParams((await readBody(request, response)).toString('utf8'));
      const answer = await found.route.run(visit, found.named);
      if ('to' in answer) return redirect(response, headers, answer);
      if ('json' in answer) return sendJson(response, headers, answer.json);
      if ('file' in answer) return await sendFile(deps, request, response, answer.file, headers);
      const own = 'provider' in answer ? { ...headers, ...setCookies(answer) } : headers;
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
  if ((route?.path === ACT_PATH || route?.path === REVIEW_PATH) && error.status < 500 && visit.place !== null) {
    const screen = await afterRefusedAct(visit, route);
    if (screen !== undefined) return { screen, notice: error.code === 'forbidden' ? t('act.refused') : error.message };
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

function signInScreen({ deps }: Visit): Screen {
  return { kind: 'sign-in', provider: deps.config.SLUICE_OIDC_NAME ?? null };
}

async function mailedLink({ deps }: Visit, token: string): Promise<Screen> {
  const { email } = await readLink(deps, token);
  return { kind: 'link', action: `/sign-in/link/${encodeURIComponent(token)}`, email };
}

async function invitation({ deps, session }: Visit, token: string): Promise<Screen> {
  const { email, gatewayName, role, holderId } = await readInvitation(deps, token);
  const by = holderId === null ? 'passkey' : holderId === session?.personId ? 'session' : 'sign-in';
  return { kind: 'invitation', action: `/invitations/${encodeURIComponent(token)}`, email, place: gatewayName, role, by };
}

async function profile(visit: Visit): Promise<Screen> {
  const { session } = signed(visit);
  const { sql } = visit.deps.db;
  const name = visit.deps.config.SLUICE_OIDC_NAME;
  const [passkeys, sessions, authenticator, since] = await Promise.all([
    listPasskeys(sql, session.personId),
    listSessions(sql, session.personId),
    showAuthenticator(sql, session.personId),
    showIdentity(sql, session.personId),
  ]);
  return {
    kind: 'profile',
    provider: name === undefined ? null : { name, since: since?.toISOString() ?? null },
    authenticator: { ...authenticator, since: authenticator.since?.toISOString() ?? null },
    passkeys: passkeys.map(({ id, createdAt, usedAt }) => ({
      id,
      createdAt: createdAt.toISOString(),
      usedAt: usedAt?.toISOString() ?? null,
      only: passkeys.length === 1,
    })),
    sessions: sessions.map(({ id, browser, address, createdAt, seenAt }) => ({
      id,
      browser,
      address,
      createdAt: createdAt.toISOString(),
      seenAt: seenAt.toISOString(),
      here: id === session.id,
    })),
  };
}

async function changed(work: Promise<object>): Promise<Answer> {
  await work;
  return { to: '/profile' };
}

/** The language that its reader chose here, else one that their browser asks for. */
function languageOf({ request, catalogues }: Visit): PageLanguage {
  const asked = cookieNamed(request, LANGUAGE_COOKIE) ?? null;
  return catalogues.language(chooseLanguage(catalogues.tags, { asked, given: [], accepted: request.headers['accept-language'] }));
}

/** Keeps the language that was chosen, and shows the page again that it was chosen on; what answered a form has no page of its own. */
async function changeLanguage(visit: Visit): Promise<Answer> {
  const { request, catalogues } = visit;
  const language = matchLanguage(catalogues.tags, field(visit, 'lang'));
  if (language === undefined) throw invalid('lang', 'must be one of the languages');
  const { referer = '' } = request.headers;
  const from = URL.canParse(referer) ? new URL(referer) : undefined;
  return { to: from !== undefined && routeOf({ method: 'GET', path: from.pathname }) !== undefined ? from.pathname + from.search : '/', language };
}

/** The first part of a gateway that its person may look into. */
async function beginningOf(visit: Visit, { gateway = '' }: Readonly<Record<string, string>>): Promise<Answer> {
  const { href, permissions } = await enter(visit, gateway);
  const first = SECTIONS.find(({ permission }) => permissions.includes(permission));
  if (first === undefined) throw new ServiceError('forbidden');
  return { to: `${href}/${first.name}` };
}

async function gatewayScreen(
  { section, permission = permissionOf(section), read }: GatewayScreen,
  visit: Visit,
  { gateway: gatewayId = '', id = '' }: Readonly<Record<string, string>>,
  query: URLSearchParams = new URL(visit.request.url, 'http://console').searchParams,
): Promise<Answer> {
  const { gateway, permissions, href } = await enter(visit, gatewayId, section);
  if (!permissions.includes(permission)) throw new ServiceError('forbidden');
  const found = await read(visit.deps, { gateway, permissions, href, id, query });
  return 'to' in found ? found : { screen: found };
}

async function operatorPage({ section, read }: OperatorPage, visit: Visit, { id = '' }: Readonly<Record<string, string>>): Promise<Answer> {
  const { role, permissions } = await enterDeployment(visit.deps, { personId: signed(visit).session.personId });
  visit.place = { href: OPERATORS, name: null, role, permissions, section, networks: networkTitles(visit.deps) };
  if (!permissions.includes(READ_EVERYTHING)) throw new ServiceError('forbidden');
  const found = await read(visit.deps, { id, query: queryOf(visit) });
  return 'to' in found ? { to: `${OPERATORS}${found.to}` } : { screen: found };
}

/** Lets a person into a gateway; from then on what goes wrong is shown inside of it. @throws not_found */
async function enter(visit: Visit, gatewayId: string, section: Section | null = null) {
  const { session } = signed(visit);
  const { gateway, role, permissions } = await enterGateway(visit.deps, { personId: session.personId, gatewayId });
  const href = `/g/${gateway.id}`;
  visit.place = { href, name: gateway.name, role, permissions, section, networks: networkTitles(visit.deps) };
  return { gateway, permissions, href };
}

/** What people call each network. */
function networkTitles({ chains }: Deps): Record<string, string> {
  return Object.fromEntries([...chains].map(([name, { config }]) => [name, displayNameOf(config)]));
}

function queryOf({ request }: Visit): URLSearchParams {
  return new URL(request.url, 'http://console').searchParams;
}

/** Has something done, and shows the page that it was asked for on. */
async function gatewayAct(visit: Visit, named: Readonly<Record<string, string>>): Promise<Answer> {
  const { href } = await enter(visit, named.gateway ?? '');
  const asked = askedActOf(visit, named);
  const shown = await visit.desk.doGatewayAct({ ...held(visit), ...asked, proof: proofOf(visit) });
  const made = 'id' in shown && typeof shown.id === 'string' ? { made: shown.id } : {};
  return screenAfterAct(asked.act, shown) ?? { to: `${href}${pathAfterAct(asked.act, { ...asked.fields, ...made })}` };
}

async function exportFile(visit: Visit, { gateway: gatewayId = '', id = '' }: Readonly<Record<string, string>>): Promise<Answer> {
  const { gateway, permissions } = await enter(visit, gatewayId, 'reports');
  if (!permissions.includes('report:export')) throw new ServiceError('forbidden');
  return { file: await readExportFile(visit.deps, { gateway, id }) };
}

async function reviewCashout(visit: Visit, { gateway = '' }: Readonly<Record<string, string>>): Promise<Answer> {
  await enter(visit, gateway, 'cashouts');
  const fields = Object.fromEntries([...visit.form].filter(([, value]) => value !== ''));
  return { screen: { kind: 'review-cashout', review: await visit.desk.reviewCashout({ ...held(visit), gateway, fields }), fields } };
}

/** The page that an act was asked for on, with what stood in its way: it may have been done by somebody else meanwhile. What was filled in stays. */
async function afterRefusedAct(visit: Visit, route: Route): Promise<Screen | undefined> {
  const named = namedIn(route.path, visit.request.path) ?? {};
  const asked = route.path === REVIEW_PATH ? undefined : askedActOf(visit, named);
  const path = asked === undefined || asked.act === 'settlement-create' ? '/cashouts/new' : pathAfterAct(asked.act, asked.fields);
  const screen = GATEWAY_SCREENS.find((one) => namedIn(one.path, path) !== undefined);
  const answer = screen && (await gatewayScreen(screen, visit, { ...named, ...namedIn(screen.path, path) }, visit.form).catch(() => undefined));
  return answer !== undefined && 'screen' in answer ? answer.screen : undefined;
}

/** @throws not_found for what nobody can do */
function askedActOf({ form }: Visit, { gateway = '', act = '' }: Readonly<Record<string, string>>): AskedAct {
  if (!isGatewayAct(act)) throw new ServiceError('not_found');
  const fields = Object.fromEntries([...form].filter(([name, value]) => !PROOFS.includes(name) && value !== ''));
  return { gateway, act, fields };
}

/** Fields that prove an act, and are no part of it. */
const PROOFS = ['proof', 'code', 'credential'];

function routeOf(request: Pick<Request, 'method' | 'path'>): { route: Route; named: Readonly<Record<string, string>> } | undefined {
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  for (const route of ROUTES) {
    const named = route.method === method ? namedIn(route.path, request.path) : undefined;
    if (named !== undefined) return { route, named };
  }
  return undefined;
}

/** What a path names, by the names in braces of a template that it fits; each is one segment of letters, digits, `-` and `_`. Pure. */
function namedIn(template: string, path: string): Record<string, string> | undefined {
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
function signed({ session, address }: Visit): { session: Session; address: string } {
  if (session === undefined) throw new Error('nobody is signed in');
  return { session, address };
}

/** What is sent along so that the desk proves by itself who it is. */
function held(visit: Visit): Held {
  return { cookie: cookieOf(visit) ?? '', address: visit.address };
}

function cookieOf({ request }: Visit): string | null {
  return consoleCookie(request) ?? null;
}

function visitor({ request, address }: Visit): { address: string; browser: string } {
  return { address, browser: String(request.headers['user-agent'] ?? '') };
}

/** A passkey's signature, or a code. */
function proofOf(visit: Visit): string {
  return field(visit, 'code') || field(visit, 'proof');
}

function field({ form }: Visit, name: string): string {
  return form.get(name) ?? '';
}

/** The checkout's, but that passkeys are asked for here, and that a form's origin is told to ourselves. */
function consoleHeaders(ownOrigin: string): Record<string, string> {
  const { 'Permissions-Policy': denied = '', ...headers } = pageHeaders(ownOrigin);
  return { ...headers, 'Permissions-Policy': denied.replace('publickey-credentials-get=(), ', ''), 'Referrer-Policy': 'same-origin' };
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
