import express, { type Request, type Response, type Router } from 'express';
import { isForeignForm, isForeignPage, isNavigation } from '#api/checkout/foreign-page.ts';
import type { HostedCheckout } from '#api/checkout/hosted.ts';
import type { ErrorKind, PageAssets, PageFrame, Problem } from '#api/checkout/page/model.ts';
import type { PaymentStatus } from '#api/checkout/page/snapshot.ts';
import { renderPage } from '#api/checkout/page/render.tsx';
import type { HostedPayment } from '#api/checkout/read-snapshot.ts';
import type { Deps } from '#api/deps.ts';
import { chooseLanguage, matchLanguage } from '#api/page/language.ts';
import { type ErrorCode, ServiceError } from '#shared/core/errors.ts';
import { readBody } from './body.ts';
import type { Catalogues } from './catalogues.ts';
import { type FormCommand, readForm } from './checkout-form.ts';
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
 * page), and the merchant's logo beside it. Whatever goes wrong is a page too, in the payer's language (ux E1, E2, E5, E6).
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
      checkRequest(visit, receiptOf === undefined ? ['GET', 'HEAD', 'POST'] : ['GET', 'HEAD']);
    } catch (error) {
      return answerProblem(visit, error, 'refused');
    }
    const answer = receiptOf !== undefined ? answerReceipt : request.method === 'POST' ? answerForm : answerPage;
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
  const { request, response, headers } = visit;
  const { snapshot, languages } = await visit.hosted.read(visit.deps, visit.paymentId);
  const path = `/p/${snapshot.payment.id}`;
  const asked = queried(request, 'lang');
  if (snapshot.paid === null || !ACCEPTED.includes(snapshot.payment.status)) {
    response.writeHead(303, { ...headers, Location: path, 'Content-Length': 0 });
    response.end();
    return;
  }
  const html = renderPage({ ...frame(visit, { path, asked, given: languages }), kind: 'receipt', snapshot });
  return sendPage(request, response, { status: 200, html, headers });
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
  response.writeHead(303, { ...visit.headers, Location: `/p/${encodeURIComponent(paymentId)}${query}`, 'Content-Length': 0 });
  response.end();
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

async function sendPayment(visit: Visit, { snapshot, languages }: HostedPayment, { status, choosing, problem, asked, more }: Shown): Promise<void> {
  const { request, response, headers, ownOrigin } = visit;
  const { id } = snapshot.payment;
  const html = renderPage({
    ...frame(visit, { path: `/p/${id}`, asked: asked === undefined ? queried(request, 'lang') : asked, given: languages }),
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

function frame(visit: Visit, { path, ...wishes }: { path: string; asked: string | null; given: readonly (string | null)[] }): PageFrame {
  const { catalogues, assets, request } = visit;
  const tag = chooseLanguage(catalogues.tags, { ...wishes, accepted: request.headers['accept-language'] });
  const languageAsked = wishes.asked !== null && matchLanguage(catalogues.tags, wishes.asked) !== undefined;
  return { language: catalogues.language(tag), languages: catalogues.choices, languageAsked, assets, path };
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
  sendLogo(response, logo);
}

/** The first value of a query parameter; null without one. */
function queried(request: Request, name: string): string | null {
  const value = (request.query as Record<string, unknown>)[name];
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' ? first : null;
}
