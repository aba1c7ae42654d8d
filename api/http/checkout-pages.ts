import express, { type Request, type Response, type Router } from 'express';
import { isForeignForm, isForeignPage, isNavigation } from '#api/checkout/foreign-page.ts';
import { type Brand, brandedStyle } from '#api/checkout/brand.ts';
import type { HostedCheckout } from '#api/checkout/hosted.ts';
import type { ErrorKind, MailOutcome, PageAssets, PageFrame, Problem } from '#api/checkout/page/model.ts';
import type { PaymentStatus, Snapshot } from '#api/checkout/page/snapshot.ts';
import { renderPage } from '#api/checkout/page/render.tsx';
import type { HostedPayment } from '#api/checkout/read-snapshot.ts';
import type { Deps } from '#api/deps.ts';
import { chooseLanguage, matchLanguage } from '#api/page/language.ts';
import { type ErrorCode, ServiceError } from '#shared/core/errors.ts';
import { readBody } from './body.ts';
import type { Catalogues } from './catalogues.ts';
import { type FormCommand, readForm, readMailForm } from './checkout-form.ts';
import { sendLogo } from './checkout-logo.ts';
import { pageHeaders, sendPage } from './checkout-page-answer.ts';
import { clientIp } from './client-ip.ts';
import { errorHeaders } from './envelope.ts';
import { notesOf, noteFailure } from './observe.ts';
import { rateLimit } from './rate-limit.ts';

/** What pages are made of. */
export interface CheckoutPages {
  hosted: HostedCheckout;
  catalogues: Catalogues;
  assets: PageAssets;
  /** Where the checkout is reached: `https://pay.example`. */
  ownOrigin: string;
}

/** A link that was cut off, or that somebody's chat program added to, is a page too. */
const PAGE = /^\/p(?:\/([^/]*)\/?)?$/;
const LOGO = /^\/p\/([^/]+)\/logo$/;
const RECEIPT = /^\/p\/([^/]+)\/receipt\/?$/;

/** Of these there is a receipt. */
const ACCEPTED: readonly PaymentStatus[] = ['SUCCESS', 'ACCEPTABLE'];

/** One request for a page. */
interface Visit extends CheckoutPages {
  deps: Deps;
  request: Request;
  response: Response;
  /** As it was sent. */
  paymentId: string;
  clientIp: string;
  headers: Record<string, string>;
}

/**
 * Serves `/p/{paymentId}`, to look at (GET) and for the forms of browsers without scripts (POST, answered by a redirect to the
 * page), its receipt with the form that mails it, and the merchant's logo beside it. Whatever goes wrong is a page too, in the payer's language (ux E1, E2, E5, E6).
 */
export function checkoutPagesRouter(deps: Deps, parts: CheckoutPages): Router {
  const router = express.Router();
  const socketOrigin = parts.ownOrigin.replace(/^http/, 'ws');
  const headers = pageHeaders(socketOrigin);
  router.use(async (request, response: Response, next) => {
    const ip = clientIp(request, deps.config.SLUICE_TRUSTED_PROXIES);
    const logoOf = idIn(LOGO, request.path);
    const receiptOf = idIn(RECEIPT, request.path);
    const paymentId = logoOf ?? receiptOf ?? idIn(PAGE, request.path);
    if (paymentId === undefined) return next();
    const visit: Visit = {
      ...parts,
      deps: { ...deps, log: deps.log.child({ requestId: notesOf(response).requestId }) },
      request,
      response,
      paymentId,
      clientIp: ip,
      headers,
    };
    if (logoOf !== undefined) return answerLogo(visit);
    notesOf(response).route = receiptOf === undefined ? '/p/{paymentId}' : '/p/{paymentId}/receipt';
    try {
      await rateLimit(deps, { operationId: 'checkoutPage', clientIp: ip });
      checkRequest(visit, ['GET', 'HEAD', 'POST']);
    } catch (error) {
      return answerProblem(visit, error, 'refused');
    }
    const posted = request.method === 'POST';
    const answer = receiptOf !== undefined ? (posted ? answerMailForm : answerReceipt) : posted ? answerForm : answerPage;
    await answer(visit).catch((error: unknown) => answerProblem(visit, error, 'api-mode'));
  });
  return router;
}

/** The id in a path, decoded; one that cannot be is as unknown as any other. */
function idIn(pattern: RegExp, path: string): string | undefined {
  const found = pattern.exec(path);
  if (found === null) return undefined;
  const [, encoded = ''] = found;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}

/** @throws method_not_allowed; forbidden where a page of another site asks for more than to be left for this one */
function checkRequest({ request, response, ownOrigin }: Visit, methods: readonly string[]): void {
  const { method, headers } = request;
  if (!methods.includes(method)) {
    response.setHeader('Allow', methods.join(', '));
    throw new ServiceError('method_not_allowed');
  }
  const foreign = method === 'POST' ? isForeignForm(headers, ownOrigin) : isForeignPage(headers, ownOrigin) && !isNavigation(headers);
  if (foreign) throw new ServiceError('forbidden', { message: 'Only the checkout page itself may ask this.' });
}

async function answerPage(visit: Visit): Promise<void> {
  const hosted = await visit.hosted.read(visit.deps, visit.paymentId);
  return sendPayment(visit, hosted, { status: 200, choosing: 'choose' in visit.request.query, problem: null });
}

/** The receipt of a payment that was accepted; of any other one there is none, and its page says why. */
async function answerReceipt(visit: Visit): Promise<void> {
  const hosted = await visit.hosted.read(visit.deps, visit.paymentId);
  if (!hasReceipt(hosted.snapshot)) return redirect(visit, `/p/${hosted.snapshot.payment.id}`);
  return sendReceipt(visit, hosted, { outcome: 'mailed' in visit.request.query ? 'sent' : null });
}

function hasReceipt({ paid, payment }: Snapshot): boolean {
  return paid !== null && ACCEPTED.includes(payment.status);
}

/** Mails a receipt to the address that was typed; what it answers says nothing of that address but whether it is one. */
async function answerMailForm(visit: Visit): Promise<void> {
  const { deps, request, response, hosted, clientIp: ip, catalogues } = visit;
  const form = readMailForm(request, await readBody(request, response));
  const { typed } = form;
  const payment = await hosted.read(deps, visit.paymentId);
  const { snapshot, languages } = payment;
  const path = `/p/${snapshot.payment.id}`;
  if (!hasReceipt(snapshot)) return redirect(visit, path);
  if (!hosted.mailsReceiptOf(snapshot)) throw new ServiceError('not_found');
  const asked = form.language ?? queried(request, 'lang');
  try {
    await rateLimit(deps, { operationId: 'receiptMail', clientIp: ip });
    const to = form.read();
    const { language } = frame(visit, { path, asked, given: languages });
    const accepted = await hosted.mailReceipt(deps, { snapshot, to, language, url: `${visit.ownOrigin}${path}/receipt` });
    if (!accepted) return sendReceipt(visit, payment, { status: 429, outcome: 'often', typed, asked });
  } catch (thrown) {
    const error = noteFailure(deps, response, thrown);
    const outcome = error.code === 'validation_error' ? 'invalid' : error.code === 'rate_limit_exceeded' ? 'busy' : 'unavailable';
    return sendReceipt(visit, payment, { status: error.status, outcome, typed, asked, more: errorHeaders(error) });
  }
  const tag = asked === null ? undefined : matchLanguage(catalogues.tags, asked);
  return redirect(visit, `${path}/receipt?${tag === undefined ? '' : `lang=${encodeURIComponent(tag)}&`}mailed`);
}

interface ShownReceipt extends Partial<Pick<Shown, 'status' | 'asked' | 'more'>> {
  outcome: MailOutcome | null;
  typed?: string;
}

async function sendReceipt(
  visit: Visit,
  { snapshot, languages, brand }: HostedPayment,
  { status = 200, outcome, typed = '', asked, more }: ShownReceipt,
): Promise<void> {
  const { request, response, headers, hosted } = visit;
  const wishes = { path: `/p/${snapshot.payment.id}`, asked: asked === undefined ? queried(request, 'lang') : asked, given: languages, brand };
  const mail = hosted.mailsReceiptOf(snapshot) ? { outcome, typed } : null;
  const html = renderPage({ ...frame(visit, wishes), kind: 'receipt', snapshot, mail });
  return sendPage(request, response, { status, html, headers: { ...headers, ...more } });
}

function redirect({ response, headers }: Visit, location: string): void {
  response.writeHead(303, { ...headers, Location: location, 'Content-Length': 0 });
  response.end();
}

async function answerForm(visit: Visit): Promise<void> {
  const { deps, request, response, paymentId, catalogues } = visit;
  const form = readForm(request, await readBody(request, response));
  const asked = form.language ?? queried(request, 'lang');
  let command: FormCommand | undefined;
  try {
    command = form.read();
    await obey(visit, command);
  } catch (thrown) {
    const error = noteFailure(deps, response, thrown);
    const problem = problemOf(error, command);
    // What the payment is now says more than the refusal: it may have ended, or be none that may be shown.
    const hosted = await visit.hosted.read(deps, paymentId);
    const choosing = command?.command !== 'simulate' && error.code !== 'conflict';
    return sendPayment(visit, hosted, { status: error.status, choosing, problem, asked, more: errorHeaders(error) });
  }
  const language = asked === null ? undefined : matchLanguage(catalogues.tags, asked);
  const query = language === undefined ? '' : `?lang=${encodeURIComponent(language)}`;
  return redirect(visit, `/p/${encodeURIComponent(paymentId)}${query}`);
}

/** Does what a form asks, out of the same budget as the same wish over any other channel. */
async function obey({ deps, hosted, paymentId, clientIp: ip }: Visit, command: FormCommand): Promise<void> {
  if (command.command === 'select') {
    await rateLimit(deps, { operationId: 'selectOffer', clientIp: ip });
    await hosted.select(deps, { paymentId, offerId: command.offerId });
  } else {
    await rateLimit(deps, { operationId: 'simulateSandboxPayment', clientIp: ip });
    const { command: _, ...simulation } = command;
    await hosted.simulate(deps, { paymentId, clientIp: ip, simulation });
  }
}

function problemOf({ code, status, retryAfterSeconds }: ServiceError, command: FormCommand | undefined): Problem {
  if (code === 'rate_limit_exceeded') return { kind: 'busy', ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
  if (status >= 500) return { kind: 'unavailable' };
  if (command === undefined) return { kind: 'choose-first' };
  return { kind: command.command === 'select' ? 'choose-failed' : 'simulate-failed' };
}

interface Shown {
  status: number;
  choosing: boolean;
  problem: Problem | null;
  /** The language that was asked for; the query's when absent. */
  asked?: string | null;
  more?: Record<string, string>;
}

async function sendPayment(visit: Visit, { snapshot, languages, brand }: HostedPayment, { status, choosing, problem, asked, more }: Shown): Promise<void> {
  const { request, response, headers, ownOrigin } = visit;
  const { id } = snapshot.payment;
  const html = renderPage({
    ...frame(visit, { path: `/p/${id}`, asked: asked === undefined ? queried(request, 'lang') : asked, given: languages, brand }),
    kind: 'payment',
    snapshot,
    choosing,
    problem,
    socketUrl: `${ownOrigin.replace(/^http/, 'ws')}/ws/payments/${id}`,
  });
  return sendPage(request, response, { status, html, headers: { ...headers, ...more } });
}

const ERROR_PAGES: Partial<Record<ErrorCode, ErrorKind>> = { not_found: 'not-found', rate_limit_exceeded: 'busy' };

/** Answers a page about what went wrong, with nothing of any payment on it; whatever is forbidden is a page of the kind `forbidden`. */
async function answerProblem(visit: Visit, thrown: unknown, forbidden: ErrorKind): Promise<void> {
  const { deps, request, response, headers } = visit;
  const error = noteFailure(deps, response, thrown);
  const html = renderPage({
    ...frame(visit, { path: request.path, asked: queried(request, 'lang'), given: [] }),
    kind: 'error',
    error: error.code === 'forbidden' ? forbidden : (ERROR_PAGES[error.code] ?? (error.status < 500 ? 'refused' : 'unavailable')),
    ...(error.retryAfterSeconds !== undefined && { retryAfterSeconds: error.retryAfterSeconds }),
  });
  return sendPage(request, response, { status: error.status, html, headers: { ...headers, ...errorHeaders(error) } });
}

interface Wishes {
  path: string;
  asked: string | null;
  given: readonly (string | null)[];
  brand?: Brand | undefined;
}

function frame(visit: Visit, { path, brand, ...wishes }: Wishes): PageFrame {
  const { catalogues, assets, request } = visit;
  const tag = chooseLanguage(catalogues.tags, { ...wishes, accepted: request.headers['accept-language'] });
  const languageAsked = wishes.asked !== null && matchLanguage(catalogues.tags, wishes.asked) !== undefined;
  return {
    language: catalogues.language(tag),
    languages: catalogues.choices,
    languageAsked,
    assets: brand === undefined ? assets : { ...assets, style: brandedStyle(assets.style, brand) },
    path,
  };
}

async function answerLogo(visit: Visit): Promise<void> {
  const { deps, request, response, hosted, paymentId, ownOrigin } = visit;
  notesOf(response).route = '/p/{paymentId}/logo';
  await rateLimit(deps, { operationId: 'logo', clientIp: visit.clientIp });
  if (isForeignPage(request.headers, ownOrigin)) throw new ServiceError('forbidden');
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD');
    throw new ServiceError('method_not_allowed');
  }
  const logo = await hosted.logo(deps, paymentId);
  if (logo === null) throw new ServiceError('not_found');
  sendLogo(response, logo, { named: queried(request, 'v') !== null });
}

/** The first value of a query parameter; null without one. */
function queried(request: Request, name: string): string | null {
  const value = (request.query as Record<string, unknown>)[name];
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' ? first : null;
}
