import { readDecimal } from './decimal.ts';
import { at, getJson, readUnixSeconds } from './http.ts';
import { PriceSourceError, type PriceSourceKind, type Quote } from './provider.ts';

const PAIRS: Readonly<Record<string, string>> = {
  BTC: 'BTC/USD',
  ETH: 'ETH/USD',
  USDT: 'USDT/USD',
  USDC: 'USDC/USD',
  DAI: 'DAI/USD',
  POL: 'POL/USD',
  MATIC: 'POL/USD',
  'fiat:EUR': 'EUR/USD',
  'fiat:GBP': 'GBP/USD',
};

/** Bitstamp tickers: every pair in one list, with the last trade and a time, all strings. */
export const bitstamp: PriceSourceKind = {
  name: 'bitstamp',
  baseUrl: 'https://www.bitstamp.net',
  covers: ['crypto', 'fiat'],
  rhythm: 'live',
  open: (baseUrl) => ({
    name: 'bitstamp',
    async quotes(symbols, signal): Promise<Quote[]> {
      const answer = await getJson(`${baseUrl}/api/v2/ticker/`, signal);
      if (!Array.isArray(answer)) throw new PriceSourceError('malformed', 'the answer is not a list');
      // Perpetual contracts are listed beside the coins they follow.
      const spot = answer.filter((row: unknown) => (at(row, 'market_type') ?? 'SPOT') === 'SPOT');
      const rows = new Map(spot.map((row: unknown) => [at(row, 'pair'), row]));
      return symbols.flatMap((symbol) => {
        const row = PAIRS[symbol] === undefined ? undefined : rows.get(PAIRS[symbol]);
        const price = readDecimal(at(row, 'last'));
        const time = readUnixSeconds(at(row, 'timestamp'));
        return price === undefined || time === undefined ? [] : [{ symbol, price, in: 'USD', at: time }];
      });
    },
  }),
};
