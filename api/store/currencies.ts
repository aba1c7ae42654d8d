import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** True when payments may be priced in `code` (upper case); locks nothing. */
export async function isActiveCurrency(sql: Reads, code: string): Promise<boolean> {
  const rows = await sql`select 1 from currencies where code = ${code} and active`;
  return rows.length === 1;
}

/** Adds the currencies that are missing; one that was switched off stays off. Locks nothing else. */
export async function insertCurrencies(tx: Tx, codes: readonly string[]): Promise<void> {
  await tx`insert into currencies (code) select unnest(${[...codes]}::text[]) on conflict (code) do nothing`;
}
