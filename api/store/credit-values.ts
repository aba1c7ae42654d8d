import type { Reads } from '#shared/platform/postgres.ts';

/** What a credit was worth, as far as prices were kept; exact decimal text, to the cent. */
export interface CreditValues {
  /** Of its payment. */
  currencyCode: string;
  /** At the market price of its confirmation, and the same by the rate that its payment was made with. */
  grossUsd: string | null;
  grossInvoice: string | null;
  /** What cashouts that were paid drew of it, and that at the price of each when it settled; null where one of them has none. */
  spent: string;
  spentUsd: string | null;
}

/** Reads the values of these credits, by their ids; locks nothing. Each looks for its own rows: a part of an export otherwise read every payment and deposit there is. */
export async function listCreditValues(sql: Reads, ids: readonly string[]): Promise<Map<string, CreditValues>> {
  const rows = await sql<(CreditValues & { id: string })[]>`
    select c.id, p.currency_code as "currencyCode", round(c.gross * d.usd_price, 2)::text as "grossUsd",
      round(c.gross * d.usd_price / coalesce(p.fiat_rate, case when p.currency_code = 'USD' then 1 end), 2)::text as "grossInvoice",
      trim_scale(coalesce(w.spent, 0))::text as spent, round(w.usd, 2)::text as "spentUsd"
    from credits c
      cross join lateral (select x.currency_code, x.fiat_rate from payments x where x.id = c.payment_id offset 0) p
      left join lateral (select x.usd_price from deposits x where x.id = c.id offset 0) d on true
      left join lateral (
        select sum(r.amount) as spent, case when bool_and(f.asset_price_usd is not null) then sum(r.amount * f.asset_price_usd) end as usd
        from credit_draws r left join settlement_fees f on f.settlement_id = r.settlement_id where r.credit_id = c.id and r.state = 'spent') w on true
    where c.id = any(${[...ids]}::uuid[])`;
  return new Map(rows.map(({ id, ...values }) => [id, values]));
}
