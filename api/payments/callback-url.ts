import type { SentJson } from '#shared/core/sent-json.ts';

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
