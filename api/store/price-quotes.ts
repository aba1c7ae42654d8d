import { formatAmount, parseTrusted } from '#shared/core/money.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** What one source last said about one symbol; the columns of `price_quotes`. */
export interface StoredQuote {
  source: string;
  symbol: string;
  /** Units of `in` for one unit, 18-place fixed point. */
  price: bigint;
  in: string;
  takenAt: Date;
  goodUntil: Date;
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
    select source, symbol, price, quoted_in as in, taken_at as "takenAt", good_until as "goodUntil", standing from price_quotes
    where source = any(${[...sources]}::text[]) and good_until > sluice_now()`;
  const [{ now }] = await sql<[{ now: Date }]>`select sluice_now() as now`;
  return { quotes: rows.map((row) => ({ ...row, price: parseTrusted(row.price) })), now };
}
