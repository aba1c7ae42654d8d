import { ONE, mulDiv } from '#shared/core/money.ts';
import { readDecimal } from './decimal.ts';
import { getText } from './http.ts';
import { PriceSourceError, type PriceSourceKind, type Quote } from './provider.ts';

/**
 * The European Central Bank's reference rates: units for one euro, fixed on working days at 14:15 CET and published around
 * 16:00, dated by day. Easter makes the longest gap: Thursday to Tuesday.
 */
export const ecb: PriceSourceKind = {
  name: 'ecb',
  baseUrl: 'https://www.ecb.europa.eu',
  covers: ['fiat'],
  rhythm: 'reference',
  staleSeconds: 6 * 86_400,
  open: (baseUrl) => ({
    name: 'ecb',
    async quotes(symbols, signal): Promise<Quote[]> {
      const document = await getText(`${baseUrl}/stats/eurofxref/eurofxref-daily.xml`, signal);
      const day = /<Cube\s+time=['"](\d{4}-\d{2}-\d{2})['"]/.exec(document)?.[1];
      const perEuro = new Map(
        [...document.matchAll(/<Cube\s+currency=['"]([A-Z]{3})['"]\s+rate=['"]([0-9.]+)['"]/g)].map((match) => [match[1], readDecimal(match[2])]),
      );
      const dollars = perEuro.get('USD');
      const time = new Date(`${day}T00:00:00Z`);
      if (Number.isNaN(time.getTime()) || dollars === undefined || dollars <= 0n) throw new PriceSourceError('malformed', 'no dated dollar rate in the answer');
      return symbols.flatMap((symbol) => {
        if (!symbol.startsWith('fiat:')) return [];
        const code = symbol.slice('fiat:'.length);
        const perOneEuro = code === 'EUR' ? ONE : perEuro.get(code);
        return perOneEuro === undefined || perOneEuro <= 0n ? [] : [{ symbol, price: mulDiv(dollars, ONE, perOneEuro, 'half-up'), in: 'USD', at: time }];
      });
    },
  }),
};
