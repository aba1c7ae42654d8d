import type { JsonObject } from '#api/store/payments.ts';

/** What the callback tells about the payment; these two win over parameters of the same name (decisions 7). */
export interface CallbackResult {
  paymentUid: string;
  status: string;
}

/**
 * Where the browser goes after the result: `callbackUrl` with its own query and fragment kept byte for byte, then the
 * callback parameters (scalars as they are, nested values as compact JSON), then the id and the status (decisions 7).
 */
export function callbackRedirect(callbackUrl: string, params: JsonObject | null, result: CallbackResult): string {
  const [, base = '', query = '', fragment = ''] = /^([^?#]*)(?:\?([^#]*))?(#.*)?$/s.exec(callbackUrl) ?? [];
  const own = query === '' ? [] : query.split('&').filter((pair) => !Object.hasOwn(result, nameOf(pair)));
  const given = Object.entries(params ?? {}).filter(([name]) => !Object.hasOwn(result, name));
  const added = new URLSearchParams([...given.map(([name, value]): [string, string] => [name, textOf(value)]), ...Object.entries(result)]);
  return `${base}?${[...own, added.toString()].join('&')}${fragment}`;
}

function textOf(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}

/** The decoded name of one `name=value` of a query. */
function nameOf(pair: string): string {
  return [...new URLSearchParams(pair).keys()][0] ?? '';
}
