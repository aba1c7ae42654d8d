import type { SentJson } from '#shared/core/sent-json.ts';
import { parseUrl } from './parse-url.ts';

/** What is wrong with what is none. */
export const CALLBACK_URL = 'must be an absolute http or https URL of at most 2048 characters';

/** Whether a browser can be sent there. It opens it itself, so localhost is allowed, and only http and https are (decisions 7). Pure. */
export function isCallbackUrl(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  return text.length <= 2_048 && !/[\u0000-\u0020\u007f\\]/.test(text) && /^https?:\/\/[^/]/i.test(text) && parseUrl(text) !== null;
}

/** The result that the callback reports. These two parameters win over the merchant's own of the same name (decisions 7). */
export interface CallbackResult {
  paymentUid: string;
  status: string;
}

/**
 * The URL that the browser is sent to after the result (decisions 7): `callbackUrl` with its query and fragment kept byte for byte, then the
 * callback parameters (scalars as they are, nested values as compact JSON), then the id and the status.
 */
export function callbackRedirect(callbackUrl: string, params: SentJson | null, result: CallbackResult): string {
  const [, base = '', query = '', fragment = ''] = /^([^?#]*)(?:\?([^#]*))?(#.*)?$/s.exec(callbackUrl) ?? [];
  const own = query === '' ? [] : query.split('&').filter((pair) => !Object.hasOwn(result, nameOf(pair)));
  const given = (params?.members() ?? []).filter(([name]) => !Object.hasOwn(result, name));
  const added = new URLSearchParams([
    ...given.map(([name, text]): [string, string] => [name, text.startsWith('"') ? (JSON.parse(text) as string) : text]),
    ...Object.entries(result),
  ]);
  return `${base}?${[...own, added.toString()].join('&')}${fragment}`;
}

/** The decoded name of one `name=value` of a query. */
function nameOf(pair: string): string {
  return [...new URLSearchParams(pair).keys()][0] ?? '';
}
