import { type Coins, parseTrusted } from '#shared/core/money.ts';
import type { Reads } from '#shared/platform/postgres.ts';

/** What a gateway's credits of one asset add up to, in one pool, matured or still maturing. */
export interface CreditSummary {
  assetId: string;
  pool: 'green' | 'held';
  matured: boolean;
  /** Lifetime sums: credits that were drawn, refunded or withheld included. */
  gross: Coins;
  networkFee: Coins;
  commission: Coins;
  /** Payments that have a credit among these with anything left to draw, now or once it has matured (decisions 10). */
  open: number;
  /** When the first of those that mature may do so; null when none does. One without a verdict waits longer. */
  nextMaturityAt: Date | null;
}

type Row = Omit<CreditSummary, 'gross' | 'networkFee' | 'commission'> & { gross: string; networkFee: string; commission: string };

/** Adds up a gateway's credits per asset, pool and maturity (contract 2.9); locks nothing. */
export async function summariseCredits(sql: Reads, gatewayId: string): Promise<CreditSummary[]> {
  const rows = await sql<Row[]>`
    select asset_id as "assetId", pool, matured_at is not null as matured, sum(gross) as gross, sum(network_fee) as "networkFee", sum(commission) as commission,
      count(distinct payment_id) filter (where remaining > 0 and taken is null) as open, min(matures_at) filter (where matured_at is null and taken is null) as "nextMaturityAt"
    from credits where gateway_id = ${gatewayId} group by 1, 2, 3`;
  return rows.map((row) => ({ ...row, gross: parseTrusted(row.gross), networkFee: parseTrusted(row.networkFee), commission: parseTrusted(row.commission) }));
}
