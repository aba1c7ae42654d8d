import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** An invoice currency and whether new payments may be priced in it. */
export interface Currency {
  /** ISO 4217, upper case. */
  code: string;
  active: boolean;
}

/** True when payments may be priced in `code` (upper case); locks nothing. */
export async function isActiveCurrency(sql: Reads, code: string): Promise<boolean> {
  const rows = await sql`select 1 from currencies where code = ${code} and active`;
  return rows.length === 1;
}

/** Lists every currency by code; locks nothing. */
export async function listCurrencies(sql: Reads): Promise<Currency[]> {
  return sql<Currency[]>`select code, active from currencies order by code`;
}

/** Switches a currency on or off; undefined when there is no such one. Locks its row. */
export async function setCurrencyActive(tx: Tx, code: string, active: boolean): Promise<Currency | undefined> {
  const [row] = await tx<Currency[]>`update currencies set active = ${active} where code = ${code} returning code, active`;
  return row;
}
