import { readDecimal } from './decimal.ts';
import { at, getJson, readUnixSeconds } from './http.ts';
import { PriceSourceError, type PriceSourceKind, type Quote } from './provider.ts';

const IDS: Readonly<Record<string, string>> = {
  BTC: 'bitcoin',
  ETH: 'ethereum',
  USDT: 'tether',
  USDC: 'usd-coin',
  DAI: 'dai',
  BNB: 'binancecoin',
  POL: 'polygon-ecosystem-token',
  MATIC: 'polygon-ecosystem-token',
  TRX: 'tron',
};

/** CoinGecko: an average over many markets, as JSON numbers, with the time it was made. */
export const coingecko: PriceSourceKind = {
  name: 'coingecko',
  baseUrl: 'https://api.coingecko.com',
  covers: ['crypto'],
  rhythm: 'live',
  open: (baseUrl) => ({
    name: 'coingecko',
    async quotes(symbols, signal): Promise<Quote[]> {
      const known = symbols.filter((symbol) => IDS[symbol] !== undefined);
      if (known.length === 0) return [];
      const ids = [...new Set(known.map((symbol) => IDS[symbol]))];
      const query = `ids=${ids.join(',')}&vs_currencies=usd&include_last_updated_at=true&precision=full`;
      const answer = await getJson(`${baseUrl}/api/v3/simple/price?${query}`, signal);
      if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) throw new PriceSourceError('malformed', 'the answer is not an object');
      return known.flatMap((symbol) => {
        const row = at(answer, IDS[symbol] as string);
        const price = readDecimal(at(row, 'usd'));
        const time = readUnixSeconds(at(row, 'last_updated_at'));
        return price === undefined || time === undefined ? [] : [{ symbol, price, in: 'USD', at: time }];
      });
    },
  }),
};
