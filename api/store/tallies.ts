import { type Coins, parseTrusted } from '#shared/core/money.ts';
import type { Reads } from '#shared/platform/postgres.ts';

/** A list whose rows are counted as they are written. */
type Tallied = 'payments' | 'settlements' | 'webhook_events' | 'deposits';

/** How many rows of a list there are, of one gateway or of all, of one status or of any: a part of other statements. */
export function tallied(sql: Reads, list: Tallied, { gatewayId, status }: { gatewayId: string | null; status: string | null }): ReturnType<Reads> {
  return sql`(
    select coalesce(sum(t.count), 0)::bigint from tallies t
    where t.list = ${list} ${gatewayId === null ? sql`` : sql`and t.gateway_id = ${gatewayId}`} ${status === null ? sql`` : sql`and t.status = ${status}`})`;
}

/** Lifetime sums of a gateway's credits of one asset, pool and maturity. */
export interface CreditTally {
  assetId: string;
  pool: 'green' | 'held';
  matured: boolean;
  gross: Coins;
  networkFee: Coins;
  commission: Coins;
}

type Row = Omit<CreditTally, 'gross' | 'networkFee' | 'commission'> & { gross: string; networkFee: string; commission: string };

/** What a gateway's credits ever came to. Locks nothing. */
export async function listCreditTallies(sql: Reads, gatewayId: string): Promise<CreditTally[]> {
  const rows = await sql<Row[]>`
    select asset_id, pool, matured, sum(gross) as gross, sum(network_fee) as "networkFee", sum(commission) as commission
    from credit_tallies where gateway_id = ${gatewayId} group by 1, 2, 3`;
  return rows.map((row) => ({ ...row, gross: parseTrusted(row.gross), networkFee: parseTrusted(row.networkFee), commission: parseTrusted(row.commission) }));
}

/** Rows appended that are worth adding up: each time is as much garbage as there are rows. */
const FOLDED_FROM = 200;

/** Whether enough was appended; a condition. */
export function areTalliesToFold(sql: Reads): ReturnType<Reads> {
  return sql`
    (select count(*) - count(distinct (list, gateway_id, status)) from tallies)
      + (select count(*) - count(distinct (gateway_id, asset_id, pool, matured)) from credit_tallies) >= ${FOLDED_FROM}::int`;
}

/** Adds up what was appended since the last time, for one of each; answers how many rows it was. Whoever reads meanwhile sees the one or the other. */
export async function foldTallies(sql: Reads): Promise<number> {
  const [{ enough }] = await sql<[{ enough: boolean }]>`select ${areTalliesToFold(sql)} as enough`;
  if (!enough) return 0;
  const lists = await sql`
    with gone as (delete from tallies returning *), added as (
      insert into tallies select list, gateway_id, status, sum(count) from gone group by 1, 2, 3 having sum(count) <> 0)
    select 1 from gone`;
  const credits = await sql`
    with gone as (delete from credit_tallies returning *), added as (
      insert into credit_tallies select gateway_id, asset_id, pool, matured, sum(gross), sum(network_fee), sum(commission) from gone group by 1, 2, 3, 4
      having sum(gross) <> 0 or sum(network_fee) <> 0 or sum(commission) <> 0)
    select 1 from gone`;
  return lists.length + credits.length;
}
