import type { Price, PriceSource } from '#api/deps.ts';
import { readClock } from '#api/store/clock.ts';
import { findPrice } from '#api/store/prices.ts';
import { amount, ONE } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Database } from '#shared/platform/postgres.ts';

/** Source name of a price somebody set by hand or by default. */
export const STATIC_SOURCE = 'static';

/** The unit of account itself, worth exactly one whatever any source says. */
const US_DOLLAR = 'fiat:USD';

/**
 * Prices as the database holds them. A static price counts as taken now, because whoever set it says it holds until it
 * is set again; every other one is refused when it is older than 120 s of service time. Where static prices are not
 * allowed (production) theirs is an age like any other.
 */
export function storedPrices(db: Database, options: { staticAllowed: boolean }): PriceSource {
  return {
    async fresh(symbol: string): Promise<Price | undefined> {
      if (symbol === US_DOLLAR) return { usd: amount(ONE), source: 'fixed', at: (await readClock(db.sql)).now };
      const stored = await findPrice(db.sql, symbol);
      if (stored === undefined) return undefined;
      if (options.staticAllowed && stored.source === STATIC_SOURCE) return { usd: stored.usd, source: stored.source, at: stored.now };
      if (stored.now.getTime() - stored.at.getTime() > POLICY.priceFreshSeconds * 1_000) return undefined;
      return { usd: stored.usd, source: stored.source, at: stored.at };
    },
  };
}
