import { readDecimal } from './decimal.ts';
import { at, getJson } from './http.ts';
import { allOrOneByOne } from './one-by-one.ts';
import { PriceSourceError, type PriceSourceKind, type Quote } from './provider.ts';

const MARKETS: Readonly<Record<string, string>> = {
  BTC: 'BTCUSDT',
  ETH: 'ETHUSDT',
  USDC: 'USDCUSDT',
  BNB: 'BNBUSDT',
  POL: 'POLUSDT',
  MATIC: 'POLUSDT',
  TRX: 'TRXUSDT',
};

/** Binance spot, from its host for market data: prices in USDT, which is not taken for a dollar. */
export const binance: PriceSourceKind = {
  name: 'binance',
  baseUrl: 'https://data-api.binance.vision',
  covers: ['crypto'],
  rhythm: 'live',
  open: (baseUrl) => ({
    name: 'binance',
    async quotes(symbols, signal): Promise<Quote[]> {
      const known = symbols.filter((symbol) => MARKETS[symbol] !== undefined);
      const ask = async (some: readonly string[]): Promise<Quote[]> => {
        const markets = [...new Set(some.map((symbol) => MARKETS[symbol]))];
        const answer = await getJson(`${baseUrl}/api/v3/ticker/price?symbols=${encodeURIComponent(JSON.stringify(markets))}`, signal);
        if (!Array.isArray(answer)) throw new PriceSourceError('malformed', 'the answer is not a list');
        const prices = new Map(answer.map((row: unknown) => [at(row, 'symbol'), readDecimal(at(row, 'price'))]));
        return some.flatMap((symbol) => {
          const price = prices.get(MARKETS[symbol]);
          return price === undefined ? [] : [{ symbol, price, in: 'USDT' }];
        });
      };
      // 400 is "Invalid symbol", for the whole list.
      return known.length === 0 ? [] : allOrOneByOne(known, ask, (error) => error.status === 400);
    },
  }),
};
