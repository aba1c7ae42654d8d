import { inverse, readDecimal } from './decimal.ts';
import { at, getJson, readUnixSeconds } from './http.ts';
import { PriceSourceError, type PriceSourceKind, type Quote } from './provider.ts';

/** open.er-api.com: units of every currency for one dollar, once a day, as JSON numbers. Rates By Exchange Rate API. */
export const erApi: PriceSourceKind = {
  name: 'er-api',
  baseUrl: 'https://open.er-api.com',
  covers: ['fiat'],
  rhythm: 'reference',
  staleSeconds: 3 * 86_400,
  open: (baseUrl) => ({
    name: 'er-api',
    async quotes(symbols, signal): Promise<Quote[]> {
      const answer = await getJson(`${baseUrl}/v6/latest/USD`, signal);
      const time = readUnixSeconds(at(answer, 'time_last_update_unix'));
      if (at(answer, 'result') !== 'success' || at(answer, 'base_code') !== 'USD' || time === undefined)
        throw new PriceSourceError('malformed', 'no dated dollar rates in the answer');
      return symbols.flatMap((symbol) => {
        const price = symbol.startsWith('fiat:') ? inverse(readDecimal(at(answer, 'rates', symbol.slice('fiat:'.length)))) : undefined;
        return price === undefined ? [] : [{ symbol, price, in: 'USD', at: time }];
      });
    },
  }),
};
