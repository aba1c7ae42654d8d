import { agreePrices, isPlausible, isSteady } from '#api/clients/prices/agree.ts';
import { STATIC_SOURCE } from '#api/clients/prices.ts';
import { type OpenSource, openPriceSources } from '#api/clients/prices/registry.ts';
import { PriceSourceError, type Quote } from '#api/clients/prices/provider.ts';
import type { Deps } from '#api/deps.ts';
import {
  listGoodQuotes,
  upsertQuotes,
  type LeasedPriceSource,
  leasePriceSources,
  lockPriceAgreement,
  recordPriceAnswer,
  recordPriceFailure,
  listPricedSymbols,
  listPrices,
  upsertTakenPrices,
} from '#api/store/prices.ts';
import { formatAmount } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Periodic } from './work.ts';

/** A lease outlives the deadline by enough for the transaction after it. */
const LEASE_SECONDS = (2 * POLICY.priceSourceDeadlineMs) / 1_000;
/** How far a source's clock may be ahead of ours. */
const CLOCK_SKEW_MILLISECONDS = 60_000;

/**
 * Asks every price source that is due and stores what they agree on (decisions 2). All are asked at once, one request at a
 * time each, and each answer is stored when it comes, so that a slow or broken source delays nobody else's.
 */
export const refreshPrices: Periodic = {
  everySeconds: 5,
  isOurs: ({ config }) => config.SLUICE_PRICE_SOURCE === 'http',
  run: async (deps) => {
    const sources = openPriceSources(deps.config);
    for (const { name } of sources) deps.metrics?.priceFetchErrors.inc({ source: name }, 0);
    const names = sources.map((source) => source.name);
    const leases = await deps.db.transaction((tx) => leasePriceSources(tx, names, LEASE_SECONDS));
    const symbols = leases.length === 0 ? [] : await listPricedSymbols(deps.db.sql);
    const stored = await Promise.all(
      leases.map((lease) => refreshFrom(deps, { lease, source: sources.find((one) => one.name === lease.name) as OpenSource, symbols, names })),
    );
    return stored.reduce((sum, count) => sum + count, 0);
  },
};

interface Round {
  lease: LeasedPriceSource;
  source: OpenSource;
  symbols: readonly string[];
  /** Every source of this deployment. */
  names: readonly string[];
}

/** Returns how many quotes were stored; a source's failure is noted and never thrown. */
async function refreshFrom(deps: Deps, round: Round): Promise<number> {
  const { lease, source } = round;
  let quotes: Quote[];
  try {
    quotes = await ask(deps, round);
  } catch (error) {
    if (!(error instanceof PriceSourceError)) throw error;
    deps.metrics?.priceFetchErrors.inc({ source: source.name });
    deps.log.warn({ source: source.name, problem: error.problem, detail: error.message, failures: lease.failures + 1 }, 'price source failed');
    await deps.db.transaction((tx) =>
      recordPriceFailure(tx, source.name, { error: `${error.problem}: ${error.message}`, nextAt: afterFailure(deps, lease, error) }),
    );
    return 0;
  }
  const live = source.rhythm === 'live';
  const pollSeconds = live ? deps.config.SLUICE_PRICE_POLL_SECONDS : POLICY.priceReferencePollSeconds;
  const goodSeconds = live ? 2 * pollSeconds : POLICY.priceReferenceKeptSeconds;
  await deps.db.transaction(async (tx) => {
    await lockPriceAgreement(tx);
    await recordPriceAnswer(tx, source.name, later(lease.leasedAt, pollSeconds));
    await upsertQuotes(tx, quotes, { source: source.name, takenAt: lease.leasedAt, goodUntil: later(lease.leasedAt, goodSeconds), standing: !live });
    const { quotes: all, now } = await listGoodQuotes(tx, round.names);
    const agreed = agreePrices(all, now, { outlierBps: POLICY.priceOutlierBps, agreeing: POLICY.priceSourcesAgreeing });
    const believed = new Map((await listPrices(tx)).filter((price) => price.source !== STATIC_SOURCE).map((price) => [price.symbol, price]));
    const steady = agreed.filter((price) => {
      const last = believed.get(price.symbol);
      if (last === undefined || isSteady(price, last, { factor: POLICY.priceBandFactor, withinSeconds: POLICY.priceBandSeconds })) return true;
      deps.log.error(
        { symbol: price.symbol, last: formatAmount(last.usd), told: formatAmount(price.usd), sources: price.sources },
        'a price jumped and is not believed',
      );
      return false;
    });
    await upsertTakenPrices(
      tx,
      steady.map(({ symbol, usd, sources, at }) => ({ symbol, usd, source: `median of ${sources.join(', ')}`, at })),
    );
  });
  return quotes.length;
}

/** The quotes of a source, without those it dates too far back. @throws PriceSourceError also when none is left */
async function ask(deps: Deps, { source, symbols }: Round): Promise<Quote[]> {
  const answers = await source.provider.quotes(symbols, AbortSignal.timeout(POLICY.priceSourceDeadlineMs)).catch((error: unknown): never => {
    // An answer that nobody foresaw is its source's failure too: noted, and followed by a growing pause.
    throw error instanceof PriceSourceError ? error : new PriceSourceError('malformed', (error as Error).message);
  });
  const now = deps.wallClock();
  const oldest = now - (source.staleSeconds ?? deps.config.SLUICE_PRICE_FRESH_SECONDS) * 1_000;
  const isCurrent = ({ at }: Quote): boolean => at === undefined || (at.getTime() >= oldest && at.getTime() <= now + CLOCK_SKEW_MILLISECONDS);
  const usable = answers.filter((quote) => isCurrent(quote) && isPlausible(quote.price));
  if (usable.length === 0)
    throw new PriceSourceError('malformed', answers.length === 0 ? 'no price in the answer' : 'every price in the answer is stale or absurd');
  return usable;
}

/** The next try after a failure: a pause that doubles, or longer where the source asked for it. */
function afterFailure({ config }: Deps, lease: LeasedPriceSource, error: PriceSourceError): Date {
  const pause = Math.min(config.SLUICE_PRICE_POLL_SECONDS * 2 ** Math.min(lease.failures, 20), POLICY.priceBackoffMaximumSeconds);
  return later(lease.leasedAt, Math.max(pause, Math.min(error.retryAfterSeconds ?? 0, POLICY.priceRetryAfterMaximumSeconds)));
}

/**
 * Keeps the age of every coin's price visible, of those that nobody renews any more above all. Small currencies may come and
 * go. Where prices are static none of them ages; elsewhere a static one is a leftover that nothing is priced by.
 */
export async function reportPriceAges({ db, config, metrics, wallClock }: Deps): Promise<void> {
  if (metrics === undefined) return;
  const everStatic = config.SLUICE_PRICE_SOURCE === 'static';
  const known = new Map((await listPrices(db.sql)).filter(({ source }) => (source === STATIC_SOURCE) === everStatic).map(({ symbol, at }) => [symbol, at]));
  for (const symbol of new Set([...(await listPricedSymbols(db.sql)), ...known.keys()])) {
    if (symbol.startsWith('fiat:')) continue;
    const at = known.get(symbol);
    // One that never had a price shows 0: a coin that shows nothing is missed by nobody.
    metrics.priceTimestamp.set({ asset: symbol }, at === undefined ? 0 : (everStatic ? wallClock() : at.getTime()) / 1_000);
  }
}

function later(date: Date, seconds: number): Date {
  return new Date(date.getTime() + seconds * 1_000);
}
