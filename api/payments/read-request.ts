import { parseWebhookTarget } from '#api/clients/webhook-target.ts';
import type { Deps, Gateway } from '#api/deps.ts';
import type { NewPayment } from '#api/store/payments.ts';
import { invalid } from '#shared/core/errors.ts';
import { POLICY } from '#shared/core/policy.ts';
import { SentJson } from '#shared/core/sent-json.ts';
import { CALLBACK_URL, callbackRedirect, isCallbackUrl } from '#shared/core/callback-url.ts';
import { checkAllowlist } from './load.ts';
import { webhookPolicy } from './webhook-policy.ts';

export type Optional<T> = T | null | undefined;

/** The fields that every kind of payment takes (contract 2.1, 4.1) after their shape was checked; null reads as absent. */
export interface CheckoutBody {
  checkoutMode?: Optional<'HOSTED' | 'API'>;
  callbackUrl?: Optional<string>;
  callbackParams?: Optional<Record<string, unknown>>;
  webhookUrl?: Optional<string>;
  webhookParams?: Optional<Record<string, unknown>>;
  timeoutSeconds?: Optional<number>;
  language?: Optional<string>;
  title?: Optional<string>;
  reference?: Optional<string>;
}

/** Those fields as they are stored. */
export type Checkout = Pick<
  NewPayment,
  'checkoutMode' | 'callbackUrl' | 'callbackParams' | 'webhookUrl' | 'webhookParams' | 'timeoutSeconds' | 'language' | 'title' | 'reference'
>;

/** Who asks for a payment, and from where. */
export interface Asking<Body> {
  gateway: Gateway;
  body: Body;
  /** The body as it was sent; absent when the caller is not an HTTP request. */
  sent?: () => SentJson;
  clientIp: string;
}

/** Longest callback URL: RFC 9110 asks every server to accept this length, and common ones stop not far above. */
const LONGEST_URL = 8_000;
/** Placeholders for the longest result that a callback can carry. */
const LONGEST_RESULT = { paymentUid: '00000000-0000-4000-8000-000000000000', status: 'ACCEPTABLE' };

/**
 * Reads how a payment is checked out and reported: mode, callback, webhook, validity, language, what it is for (contract 2.1, 4.1).
 * @throws validation_error naming the field; forbidden, echoing the address, when API mode is asked for from an address off the allowlist
 */
export function readCheckout(deps: Pick<Deps, 'config'>, { gateway, body, sent, clientIp }: Asking<CheckoutBody>): Checkout {
  const checkoutMode = body.checkoutMode ?? 'HOSTED';
  if (checkoutMode === 'API') checkApiMode(gateway, body, clientIp);
  return {
    checkoutMode,
    ...(checkoutMode === 'HOSTED' ? readCallback(gateway, body, sent) : { callbackUrl: null, callbackParams: null }),
    webhookUrl: readWebhookUrl(deps, body.webhookUrl, checkoutMode),
    webhookParams: readParams(body, sent, 'webhookParams'),
    timeoutSeconds: readTimeout(body.timeoutSeconds ?? gateway.settings.defaults?.timeoutSeconds),
    language: body.language ?? null,
    title: readLine(body.title, 'title'),
    reference: readLine(body.reference, 'reference'),
  };
}

/** API mode is server to server: no browser to send anywhere, and only known servers may speak (contract 4.1). */
function checkApiMode(gateway: Gateway, body: CheckoutBody, clientIp: string): void {
  if (gateway.settings.apiAllowlist.length === 0) throw invalid('checkoutMode', 'API needs a server-IP allowlist, and this gateway has none');
  checkAllowlist(gateway, clientIp);
  if (body.callbackUrl !== undefined && body.callbackUrl !== null) throw invalid('callbackUrl', 'must not be sent when checkoutMode is API');
}

/** The request's own, or else the gateway's (decision 0085). */
function readCallback(gateway: Gateway, body: CheckoutBody, sent: Asking<CheckoutBody>['sent']): Pick<Checkout, 'callbackUrl' | 'callbackParams'> {
  const callbackUrl = body.callbackUrl ?? gateway.settings.defaults?.callbackUrl ?? null;
  if (callbackUrl === null) throw invalid('callbackUrl', 'is required when checkoutMode is HOSTED');
  if (!isCallbackUrl(callbackUrl)) throw invalid('callbackUrl', CALLBACK_URL);
  const params = readParams(body, sent, 'callbackParams');
  if (new URL(callbackRedirect(callbackUrl, params, LONGEST_RESULT)).href.length > LONGEST_URL)
    throw invalid('callbackParams', `would make the callback URL longer than ${LONGEST_URL} characters, more than web servers accept`);
  return { callbackUrl, callbackParams: params };
}

function readWebhookUrl(deps: Pick<Deps, 'config'>, text: Optional<string>, checkoutMode: 'HOSTED' | 'API'): string | null {
  if (text === undefined || text === null) {
    if (checkoutMode === 'API') throw invalid('webhookUrl', 'is required when checkoutMode is API');
    return null;
  }
  const target = parseWebhookTarget(text, webhookPolicy(deps.config));
  if (!target.ok) throw invalid('webhookUrl', target.problem);
  return text;
}

/** Parameters are echoed as they were sent, to the last digit of a number. */
function readParams(body: CheckoutBody, sent: Asking<CheckoutBody>['sent'], field: 'callbackParams' | 'webhookParams'): SentJson | null {
  const value = body[field];
  return value === undefined || value === null ? null : (sent?.().member(field) ?? SentJson.of(value));
}

/** One line that can be seen: payers read it beside the amount, where a line break or nothing at all would push things about. */
function readLine(text: Optional<string>, field: 'title' | 'reference'): string | null {
  if (text === undefined || text === null) return null;
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text) || !/[\p{L}\p{N}\p{P}\p{S}]/u.test(text)) throw invalid(field, 'must be one line of text');
  return text;
}

/** There is no upper bound: the deadline saturates, so a timeout too large for a column means for ever (contract 2.1). */
function readTimeout(seconds: Optional<number>): number {
  return seconds === undefined || seconds === null || seconds <= 0 ? POLICY.timeoutSeconds : Math.min(seconds, Number.MAX_SAFE_INTEGER);
}
