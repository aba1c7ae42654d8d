import { parseWebhookTarget } from '#api/clients/webhook-target.ts';
import type { Deps, Gateway } from '#api/deps.ts';
import type { JsonObject, NewPayment } from '#api/store/payments.ts';
import { invalid } from '#shared/core/errors.ts';
import { POLICY } from '#shared/core/policy.ts';
import { callbackRedirect } from './callback-url.ts';
import { checkAllowlist } from './load.ts';
import { webhookPolicy } from './webhook-policy.ts';

export type Optional<T> = T | null | undefined;

/** The fields that every kind of payment takes (contract 2.1, 4.1) after their shape was checked; null reads as absent. */
export interface CheckoutBody {
  checkoutMode?: Optional<'HOSTED' | 'API'>;
  callbackUrl?: Optional<string>;
  callbackParams?: Optional<JsonObject>;
  webhookUrl?: Optional<string>;
  webhookParams?: Optional<JsonObject>;
  timeoutSeconds?: Optional<number>;
  language?: Optional<string>;
}

/** Those fields as they are stored. */
export type Checkout = Pick<NewPayment, 'checkoutMode' | 'callbackUrl' | 'callbackParams' | 'webhookUrl' | 'webhookParams' | 'timeoutSeconds' | 'language'>;

/** Who asks for a payment, and from where. */
export interface Asking<Body> {
  gateway: Gateway;
  body: Body;
  clientIp: string;
}

/** The longest a callback URL may become: what RFC 9110 asks every server to accept, and close to where common ones stop. */
const LONGEST_URL = 8_000;
/** Stand-ins of the longest result a callback can carry. */
const LONGEST_RESULT = { paymentUid: '00000000-0000-4000-8000-000000000000', status: 'ACCEPTABLE' };

/**
 * Reads how a payment is checked out and reported: mode, callback, webhook, validity, language (contract 2.1, 4.1).
 * @throws validation_error naming the field; forbidden, echoing the address, when API mode is asked for from an address off the allowlist
 */
export function readCheckout(deps: Pick<Deps, 'config'>, { gateway, body, clientIp }: Asking<CheckoutBody>): Checkout {
  const checkoutMode = body.checkoutMode ?? 'HOSTED';
  if (checkoutMode === 'API') checkApiMode(gateway, body, clientIp);
  return {
    checkoutMode,
    ...(checkoutMode === 'HOSTED' ? readCallback(body) : { callbackUrl: null, callbackParams: null }),
    webhookUrl: readWebhookUrl(deps, body.webhookUrl, checkoutMode),
    webhookParams: readParams(body.webhookParams, 'webhookParams'),
    timeoutSeconds: readTimeout(body.timeoutSeconds),
    language: body.language ?? null,
  };
}

/** API mode is server to server: no browser to send anywhere, and only known servers may speak (contract 4.1). */
function checkApiMode(gateway: Gateway, body: CheckoutBody, clientIp: string): void {
  if (gateway.settings.apiAllowlist.length === 0) throw invalid('checkoutMode', 'API needs a server-IP allowlist, and this gateway has none');
  checkAllowlist(gateway, clientIp);
  if (body.callbackUrl !== undefined && body.callbackUrl !== null) throw invalid('callbackUrl', 'must not be sent when checkoutMode is API');
}

/** The browser goes there, so localhost is fine and anything but http and https is not (decisions 7). */
function readCallback({ callbackUrl, callbackParams }: CheckoutBody): Pick<Checkout, 'callbackUrl' | 'callbackParams'> {
  if (callbackUrl === undefined || callbackUrl === null) throw invalid('callbackUrl', 'is required when checkoutMode is HOSTED');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (callbackUrl.length > 2_048 || /[\u0000-\u0020\u007f\\]/.test(callbackUrl) || !/^https?:\/\/[^/]/i.test(callbackUrl) || !URL.canParse(callbackUrl)) {
    throw invalid('callbackUrl', 'must be an absolute http or https URL of at most 2048 characters');
  }
  const params = readParams(callbackParams, 'callbackParams');
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

/** What is echoed must be what was sent, and a whole number beyond 2^53 would come back as another one. */
function readParams(params: Optional<JsonObject>, field: string): JsonObject | null {
  if (params === undefined || params === null) return null;
  refuseRoundedNumbers(params, field);
  return params;
}

function refuseRoundedNumbers(value: unknown, path: string): void {
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value))
    throw invalid(path.slice(0, 200), 'is too large a number to be echoed exactly; send it as a string');
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) refuseRoundedNumbers(inner, Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`);
}

/** No upper bound: what no integer column could hold is the same as for ever, since the deadline saturates anyway (contract 2.1). */
function readTimeout(seconds: Optional<number>): number {
  return seconds === undefined || seconds === null || seconds <= 0 ? POLICY.timeoutSeconds : Math.min(seconds, Number.MAX_SAFE_INTEGER);
}
