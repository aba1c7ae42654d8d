import { inverse, readDecimal } from './decimal.ts';
import { at, getJson } from './http.ts';
import { PriceSourceError, type PriceSourceKind, type Quote } from './provider.ts';

/** Coinbase's codes. USDC is left out on purpose: Coinbase redeems it itself and calls it 1, which is no market price. */
const CODES: Readonly<Record<string, string>> = { BTC: 'BTC', ETH: 'ETH', USDT: 'USDT', DAI: 'DAI', BNB: 'BNB', POL: 'POL', MATIC: 'POL' };

/** Coinbase exchange rates: units of everything for one dollar, in one document, as strings. */
export const coinbase: PriceSourceKind = {
  name: 'coinbase',
  baseUrl: 'https://api.coinbase.com',
  covers: ['crypto', 'fiat'],
  rhythm: 'live',
  open: (baseUrl) => ({
    name: 'coinbase',
    async quotes(symbols, signal): Promise<Quote[]> {
      const answer = await getJson(`${baseUrl}/v2/exchange-rates?currency=USD`, signal);
      const rates = at(answer, 'data', 'rates');
      if (at(answer, 'data', 'currency') !== 'USD' || rates === undefined) throw new PriceSourceError('malformed', 'no dollar rates in the answer');
      return symbols.flatMap((symbol) => {
        const code = symbol.startsWith('fiat:') ? symbol.slice('fiat:'.length) : CODES[symbol];
        const price = code === undefined ? undefined : inverse(readDecimal(at(rates, code)));
        return price === undefined ? [] : [{ symbol, price, in: 'USD' }];
      });
    },
  }),
};
