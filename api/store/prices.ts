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

/** Stores a price taken now; replaces the former one and locks its row. */
export async function upsertPrice(tx: Tx, price: { symbol: string; usd: Usd; source: string }): Promise<void> {
  await tx`
    insert into prices (symbol, usd, source, at) values (${price.symbol}, ${formatAmount(price.usd)}::text::numeric, ${price.source}, sluice_now())
    on conflict (symbol) do update set usd = excluded.usd, source = excluded.source, at = excluded.at`;
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
