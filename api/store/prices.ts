import { type Usd, formatAmount, parseTrusted } from '#shared/core/money.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import { isOneOf } from './is-one-of.ts';

/** The latest accepted price of one symbol, with the service time it is read at. */
export interface StoredPrice {
  symbol: string;
  usd: Usd;
  source: string;
  at: Date;
  /** `sluice_now()` of the same statement, so that an age needs no other clock. */
  now: Date;
}

type Row = Omit<StoredPrice, 'usd'> & { usd: string };

/** Reads the latest price of a ticker or `fiat:<CODE>`; locks nothing. */
export async function findPrice(sql: Reads, symbol: string): Promise<StoredPrice | undefined> {
  const [row] = await sql<Row[]>`select symbol, usd, source, at, sluice_now() as now from prices where symbol = ${symbol}`;
  return row && { ...row, usd: parseTrusted(row.usd) };
}

/** Reads the latest prices of several; those that are not there are left out. Locks nothing. */
export async function findPrices(sql: Reads, symbols: readonly string[]): Promise<StoredPrice[]> {
  const rows = await sql<Row[]>`select symbol, usd, source, at, sluice_now() as now from prices where symbol ${isOneOf(sql, [...symbols])}`;
  return rows.map((row) => ({ ...row, usd: parseTrusted(row.usd) }));
}

/** Stores a price taken now; replaces the former one and locks its row. */
export async function upsertPrice(tx: Tx, price: { symbol: string; usd: Usd; source: string }): Promise<void> {
  await tx`
    insert into prices (symbol, usd, source, at) values (${price.symbol}, ${formatAmount(price.usd)}::text::numeric, ${price.source}, sluice_now())
    on conflict (symbol) do update set usd = excluded.usd, source = excluded.source, at = excluded.at`;
}

/** Stores prices that sources agreed on, each with the time it was taken; replaces the former ones and locks their rows. */
export async function upsertTakenPrices(tx: Tx, prices: readonly { symbol: string; usd: Usd; source: string; at: Date }[]): Promise<void> {
  const sorted = [...prices].sort((a, b) => (a.symbol < b.symbol ? -1 : 1));
  await tx`
    insert into prices (symbol, usd, source, at)
    select given.symbol, given.usd, given.source, given.at
    from unnest(${sorted.map((one) => one.symbol)}::text[], ${sorted.map((one) => formatAmount(one.usd))}::numeric[],
      ${sorted.map((one) => one.source)}::text[], ${sorted.map((one) => one.at.toISOString())}::timestamptz[]) as given (symbol, usd, source, at)
    on conflict (symbol) do update set usd = excluded.usd, source = excluded.source, at = excluded.at`;
}

/** Lists every stored price with the service time it is read at; locks nothing. */
export async function listPrices(sql: Reads): Promise<StoredPrice[]> {
  const rows = await sql<Row[]>`select symbol, usd, source, at, sluice_now() as now from prices order by symbol`;
  return rows.map((row) => ({ ...row, usd: parseTrusted(row.usd) }));
}

/** Lists what prices are needed for: the ticker of every asset, and `fiat:<CODE>` of every currency but the dollar. Locks nothing. */
export async function listPricedSymbols(sql: Reads): Promise<string[]> {
  const rows = await sql<{ symbol: string }[]>`
    select symbol from assets union select 'fiat:' || code from currencies where code <> 'USD' order by symbol`;
  return rows.map((row) => row.symbol);
}

/** Stores each price only where its symbol has none; a price somebody set is kept. Locks nothing else. */
export async function insertAbsentPrices(tx: Tx, prices: readonly { symbol: string; usd: Usd; source: string }[]): Promise<void> {
  // In one order, so that two that begin at once do not wait for each other.
  const sorted = [...prices].sort((a, b) => (a.symbol < b.symbol ? -1 : 1));
  await tx`
    insert into prices (symbol, usd, source, at)
    select given.symbol, given.usd, given.source, sluice_now()
    from unnest(${sorted.map((one) => one.symbol)}::text[], ${sorted.map((one) => formatAmount(one.usd))}::numeric[],
      ${sorted.map((one) => one.source)}::text[]) as given (symbol, usd, source)
    on conflict (symbol) do nothing`;
}

/** Forgets a price, as if its source had gone silent; false when there was none. Locks its row. */
export async function deletePrice(tx: Tx, symbol: string): Promise<boolean> {
  const rows = await tx`delete from prices where symbol = ${symbol} returning symbol`;
  return rows.length === 1;
}

/** Marks every static price as taken now, after the service clock moved; locks those rows. */
export async function restampStaticPrices(tx: Tx): Promise<void> {
  await tx`update prices set at = sluice_now() where source = 'static'`;
}

/** What one source last said about one symbol, kept until it is replaced or no longer good; the columns of `price_quotes`. */
export interface StoredQuote {
  source: string;
  symbol: string;
  /** Units of `in` for one unit, 18-place fixed point. */
  price: bigint;
  /** `USD`, or the ticker whose dollar price is multiplied in. */
  in: string;
  /** Service time just before it was asked for. */
  takenAt: Date;
  /** Service time from which it counts no more. */
  goodUntil: Date;
  /** True for a rate that is published once a day and holds until the next: as good now as when it was taken. */
  standing: boolean;
}

/** Replaces a source's quotes for the symbols given; locks their rows. */
export async function upsertQuotes(
  tx: Tx,
  quotes: readonly Pick<StoredQuote, 'symbol' | 'price' | 'in'>[],
  from: Pick<StoredQuote, 'source' | 'takenAt' | 'goodUntil' | 'standing'>,
): Promise<void> {
  const sorted = [...quotes].sort((a, b) => (a.symbol < b.symbol ? -1 : 1));
  await tx`
    insert into price_quotes (source, symbol, price, quoted_in, taken_at, good_until, standing)
    select ${from.source}, given.symbol, given.price, given.quoted_in, ${from.takenAt}, ${from.goodUntil}, ${from.standing}
    from unnest(${sorted.map((one) => one.symbol)}::text[], ${sorted.map((one) => formatAmount(one.price))}::numeric[], ${sorted.map((one) => one.in)}::text[])
      as given (symbol, price, quoted_in)
    on conflict (source, symbol) do update set price = excluded.price, quoted_in = excluded.quoted_in, taken_at = excluded.taken_at,
      good_until = excluded.good_until, standing = excluded.standing`;
}

/** Lists the quotes of `sources` that still count, with the service time; locks nothing. */
export async function listGoodQuotes(sql: Reads, sources: readonly string[]): Promise<{ quotes: StoredQuote[]; now: Date }> {
  const rows = await sql<(Omit<StoredQuote, 'price'> & { price: string })[]>`
    select source, symbol, price, quoted_in as in, taken_at, good_until, standing from price_quotes
    where source = any(${[...sources]}::text[]) and good_until > sluice_now()`;
  const [{ now }] = await sql<[{ now: Date }]>`select sluice_now() as now`;
  return { quotes: rows.map((row) => ({ ...row, price: parseTrusted(row.price) })), now };
}

/** A source this worker may ask now, because no other one does. */
export interface LeasedPriceSource {
  name: string;
  /** Failures in a row before this try. */
  failures: number;
  /** Service time at which the lease began. */
  leasedAt: Date;
}

/**
 * Takes a lease of the sources among `names` that are due, so that of many workers one asks each; one that is never finished
 * ends by itself after `leaseSeconds`. Locks the leased rows.
 */
export async function leasePriceSources(tx: Tx, names: readonly string[], leaseSeconds: number): Promise<LeasedPriceSource[]> {
  await tx`insert into price_sources (name) select unnest(${[...names].sort()}::text[]) on conflict (name) do nothing`;
  return tx<LeasedPriceSource[]>`
    update price_sources set next_at = sluice_now() + make_interval(secs => ${leaseSeconds})
    where name in (
      select name from price_sources where name = any(${[...names]}::text[]) and next_at <= sluice_now() order by name for update skip locked
    )
    returning name, failures, sluice_now() as "leasedAt"`;
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
  return sql<PriceSourceHealth[]>`select name, failures, answered_at, last_error, failed_at from price_sources order by name`;
}
