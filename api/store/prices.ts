import { type Usd, formatAmount, parseTrusted } from '#shared/core/money.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';

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
  const rows = await sql<Row[]>`select symbol, usd, source, at, sluice_now() as now from prices where symbol = any(${[...symbols]}::text[])`;
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

/** Stores a price only where the symbol has none; a price somebody set is kept. Locks nothing else. */
export async function insertPriceIfAbsent(tx: Tx, price: { symbol: string; usd: Usd; source: string }): Promise<void> {
  await tx`
    insert into prices (symbol, usd, source, at) values (${price.symbol}, ${formatAmount(price.usd)}::text::numeric, ${price.source}, sluice_now())
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
