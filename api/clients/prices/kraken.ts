import { inverse, readDecimal } from './decimal.ts';
import { at, getJson } from './http.ts';
import { allOrOneByOne } from './one-by-one.ts';
import { PriceSourceError, type PriceSourceKind, type Quote } from './provider.ts';

interface Pair {
  /** The name it is asked by. */
  pair: string;
  /** The name Kraken answers with, where that is another. */
  answers?: string;
  /** True where the pair counts units for one dollar. */
  perDollar?: boolean;
}

const PAIRS: Readonly<Record<string, Pair>> = {
  BTC: { pair: 'XBTUSD', answers: 'XXBTZUSD' },
  ETH: { pair: 'ETHUSD', answers: 'XETHZUSD' },
  USDT: { pair: 'USDTUSD', answers: 'USDTZUSD' },
  USDC: { pair: 'USDCUSD' },
  DAI: { pair: 'DAIUSD' },
  BNB: { pair: 'BNBUSD' },
  POL: { pair: 'POLUSD' },
  MATIC: { pair: 'POLUSD' },
  TRX: { pair: 'TRXUSD' },
  'fiat:EUR': { pair: 'EURUSD', answers: 'ZEURZUSD' },
  'fiat:GBP': { pair: 'GBPUSD', answers: 'ZGBPZUSD' },
  'fiat:AUD': { pair: 'AUDUSD' },
  'fiat:CAD': { pair: 'USDCAD', answers: 'ZUSDZCAD', perDollar: true },
  'fiat:JPY': { pair: 'USDJPY', answers: 'ZUSDZJPY', perDollar: true },
  'fiat:CHF': { pair: 'USDCHF', perDollar: true },
};

/** Kraken spot tickers: the last trade of each pair, `c[0]`, as a string. */
export const kraken: PriceSourceKind = {
  name: 'kraken',
  baseUrl: 'https://api.kraken.com',
  covers: ['crypto', 'fiat'],
  rhythm: 'live',
  open: (baseUrl) => ({
    name: 'kraken',
    async quotes(symbols, signal): Promise<Quote[]> {
      const known = symbols.filter((symbol) => PAIRS[symbol] !== undefined);
      const ask = async (some: readonly string[]): Promise<Quote[]> => {
        const pairs = [...new Set(some.map((symbol) => PAIRS[symbol]?.pair))];
        const answer = await getJson(`${baseUrl}/0/public/Ticker?pair=${pairs.join(',')}`, signal);
        const refusal = at(answer, 'error', 0);
        if (refusal !== undefined) throw new PriceSourceError('malformed', String(refusal).slice(0, 100));
        return some.flatMap((symbol) => {
          const { pair, answers, perDollar } = PAIRS[symbol] as Pair;
          const last = readDecimal(at(answer, 'result', answers ?? pair, 'c', 0) ?? at(answer, 'result', pair, 'c', 0));
          const price = perDollar === true ? inverse(last) : last;
          return price === undefined ? [] : [{ symbol, price, in: 'USD' }];
        });
      };
      return known.length === 0 ? [] : allOrOneByOne(known, ask, (error) => error.message.includes('Unknown asset pair'));
    },
  }),
};
