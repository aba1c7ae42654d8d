import { STATIC_SOURCE } from '#api/clients/prices.ts';
import type { Deps } from '#api/deps.ts';
import { findPrice } from '#api/store/prices.ts';
import type { KnownPrice } from '#api/store/settlement-fees.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Reads } from '#shared/platform/postgres.ts';

/** The latest price there is, however old; one that somebody set by hand only where such prices count. */
export async function knownPrice(sql: Reads, deps: Deps, symbol: string): Promise<KnownPrice | null> {
  const stored = await findPrice(sql, symbol);
  if (stored === undefined) return null;
  if (stored.source === STATIC_SOURCE) return deps.config.SLUICE_PRICE_SOURCE === 'static' ? { usd: stored.usd, at: stored.now } : null;
  const ageSeconds = Math.round((stored.now.getTime() - stored.at.getTime()) / 1_000);
  if (ageSeconds > (deps.config.SLUICE_PRICE_FRESH_SECONDS ?? POLICY.priceFreshSeconds))
    deps.log.warn({ symbol, ageSeconds }, 'a cashout is booked at a price that is not fresh');
  return { usd: stored.usd, at: stored.at };
}
