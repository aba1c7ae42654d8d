import type { Price, PriceSource } from '#api/deps.ts';
import { readClock } from '#api/store/clock.ts';
import { findPrices, type StoredPrice } from '#api/store/prices.ts';
import { amount, ONE } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { ApiConfig } from '#shared/platform/config.ts';
import type { Database } from '#shared/platform/postgres.ts';
import { together } from '#shared/platform/together.ts';

/** Source name of a price somebody set by hand or by default. */
export const STATIC_SOURCE = 'static';

/** The unit of account itself, worth exactly one whatever any source says. */
const US_DOLLAR = 'fiat:USD';

/** Which stored prices count. */
export interface PricePolicy {
  /** Whether a price that somebody set counts: in development it does, where prices come from sources it does not. */
  staticAllowed: boolean;
  /** How old, in seconds of service time, a price may be; 120 when absent (decisions 2). */
  freshSeconds?: number;
}

/** What the configuration says about which prices count. */
export function pricePolicy(config: Pick<ApiConfig, 'SLUICE_PRICE_SOURCE' | 'SLUICE_PRICE_FRESH_SECONDS'>): PricePolicy {
  return { staticAllowed: config.SLUICE_PRICE_SOURCE === 'static', freshSeconds: config.SLUICE_PRICE_FRESH_SECONDS };
}

/**
 * The price that a stored one is good for now. A static price counts as taken now, because whoever set it says it holds
 * until it is set again. Undefined when it is too old, or static where prices come from sources.
 */
export function usablePrice(stored: StoredPrice, { staticAllowed, freshSeconds = POLICY.priceFreshSeconds }: PricePolicy): Price | undefined {
  if (stored.source === STATIC_SOURCE) return staticAllowed ? { usd: stored.usd, source: stored.source, at: stored.now } : undefined;
  if (stored.now.getTime() - stored.at.getTime() > freshSeconds * 1_000) return undefined;
  return { usd: stored.usd, source: stored.source, at: stored.at };
}

/** Prices as the database holds them. */
export function storedPrices(db: Database, policy: PricePolicy): PriceSource {
  const find = together(async (symbols) => new Map((await findPrices(db.sql, symbols)).map((price) => [price.symbol, price])));
  return {
    async fresh(symbol: string): Promise<Price | undefined> {
      if (symbol === US_DOLLAR) return { usd: amount(ONE), source: 'fixed', at: (await readClock(db.sql)).now };
      const stored = await find(symbol);
      return stored && usablePrice(stored, policy);
    },
  };
}
