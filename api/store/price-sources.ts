import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** A source this worker may ask now, because no other one does. */
export interface ClaimedPriceSource {
  name: string;
  /** Failures in a row before this try. */
  failures: number;
  /** Service time of the claim. */
  claimedAt: Date;
}

/**
 * Claims the sources among `names` that are due, so that of many workers one asks each; a claim that is never finished
 * ends by itself after `leaseSeconds`. Locks the claimed rows.
 */
export async function claimPriceSources(tx: Tx, names: readonly string[], leaseSeconds: number): Promise<ClaimedPriceSource[]> {
  await tx`insert into price_sources (name) select unnest(${[...names].sort()}::text[]) on conflict (name) do nothing`;
  return tx<ClaimedPriceSource[]>`
    update price_sources set next_at = sluice_now() + make_interval(secs => ${leaseSeconds})
    where name in (
      select name from price_sources where name = any(${[...names]}::text[]) and next_at <= sluice_now() order by name for update skip locked
    )
    returning name, failures, sluice_now() as "claimedAt"`;
}

/** First half of the advisory lock key; the second says what is locked. */
const LOCK_CLASS = 7_582_003;

/**
 * Lets one transaction at a time turn quotes into prices: two that store quotes side by side would each agree without the
 * other's. Holds an advisory lock until the transaction ends.
 */
export async function lockPriceAgreement(tx: Tx): Promise<void> {
  await tx`select pg_advisory_xact_lock(${LOCK_CLASS}, 1)`;
}

/** Notes a usable answer; locks the row. */
export async function recordPriceAnswer(tx: Tx, name: string, nextAt: Date): Promise<void> {
  await tx`update price_sources set failures = 0, answered_at = sluice_now(), next_at = ${nextAt} where name = ${name}`;
}

/** Notes a failure and when to try again; locks the row. */
export async function recordPriceFailure(tx: Tx, name: string, failure: { error: string; nextAt: Date }): Promise<void> {
  await tx`
    update price_sources set failures = failures + 1, last_error = ${failure.error}, failed_at = sluice_now(), next_at = ${failure.nextAt}
    where name = ${name}`;
}

/** How one source is doing. */
export interface PriceSourceHealth {
  name: string;
  failures: number;
  answeredAt: Date | null;
  lastError: string | null;
  failedAt: Date | null;
}

/** Lists the sources that were ever asked; locks nothing. */
export async function listPriceSources(sql: Reads): Promise<PriceSourceHealth[]> {
  return sql<
    PriceSourceHealth[]
  >`select name, failures, answered_at as "answeredAt", last_error as "lastError", failed_at as "failedAt" from price_sources order by name`;
}
