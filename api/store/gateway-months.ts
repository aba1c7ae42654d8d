import { parseTrusted } from '#shared/core/money.ts';
import type { Reads } from '#shared/platform/postgres.ts';

/** What one kind of posting did to one kind of account of one asset. Exact, 18-place. */
export interface MonthSum {
  assetId: string;
  assetSymbol: string;
  network: string;
  kind: string;
  account: string;
  /** Before the month, and within it. */
  before: bigint;
  within: bigint;
  /** Entries within it. */
  entries: number;
}

type Row = Omit<MonthSum, 'before' | 'within'> & { before: string; within: string };

/** The sums of a gateway's postings up to the end of a month, which is named by its first day; of what has not changed anything there is none. Locks nothing. */
export async function listMonthSums(sql: Reads, { gatewayId, month }: { gatewayId: string; month: string }): Promise<MonthSum[]> {
  const rows = await sql<Row[]>`
    select s.id as "assetId", s.symbol as "assetSymbol", n.name as network, m.kind, m.account, m.before, m.within, m.entries
    from (
      select asset_id, kind, account, coalesce(sum(amount) filter (where month < ${month}::text::date), 0) as before,
        coalesce(sum(amount) filter (where month = ${month}::text::date), 0) as within, coalesce(sum(entries) filter (where month = ${month}::text::date), 0)::int as entries
      from gateway_months where gateway_id = ${gatewayId} and month <= ${month}::text::date group by 1, 2, 3) m
    join assets s on s.id = m.asset_id join networks n on n.id = s.network_id
    where m.before <> 0 or m.within <> 0 or m.entries <> 0
    order by s.symbol, n.name, s.id, m.kind, m.account`;
  return rows.map((row) => ({ ...row, before: parseTrusted(row.before), within: parseTrusted(row.within) }));
}

/** Months of a gateway: when it was made, what time it is, and where the month lies between the two. */
export interface MonthPlace {
  isBefore: boolean;
  isAhead: boolean;
  /** A minute after its end: what began before it has ended by then, and its postings are of the month that they began in. */
  isOver: boolean;
  from: Date;
  to: Date;
  now: Date;
}

/** Finds out whether a month, named by its first day, is one of a gateway's, by service time; undefined for an unknown gateway. Locks nothing. */
export async function findMonthPlace(sql: Reads, { gatewayId, month }: { gatewayId: string; month: string }): Promise<MonthPlace | undefined> {
  const [row] = await sql<MonthPlace[]>`
    select m.to <= g.created_at as "isBefore", m.from > sluice_now() as "isAhead", m.to + interval '1 minute' <= sluice_now() as "isOver", m.from, m.to, sluice_now() as now
    from gateways g cross join (
      select ${month}::text::timestamp at time zone 'UTC' as from, (${month}::text::timestamp + interval '1 month') at time zone 'UTC' as to) m
    where g.id = ${gatewayId}`;
  return row;
}

/** The months of a gateway that have begun, by service time, the newest first, as `2026-11`; at most so many. Locks nothing. */
export async function listMonths(sql: Reads, gatewayId: string, limit: number): Promise<string[]> {
  const rows = await sql<{ month: string }[]>`
    select to_char(m, 'YYYY-MM') as month from gateways g cross join lateral generate_series(
      date_trunc('month', sluice_now() at time zone 'UTC'), date_trunc('month', g.created_at at time zone 'UTC'), interval '-1 month') m
    where g.id = ${gatewayId} limit ${limit}`;
  return rows.map(({ month }) => month);
}

/** Rows appended that are worth adding up. */
const FOLDED_FROM = 200;

/** Whether enough was appended; a condition. */
export function areMonthsToFold(sql: Reads): ReturnType<Reads> {
  return sql`exists (select 1 from gateway_months where not folded offset ${FOLDED_FROM - 1})`;
}

/** Adds up what was appended since the last time with what it adds to, and what the platform bore with it; answers how many rows of postings it was. Whoever reads meanwhile sees the one or the other. */
export async function foldMonths(sql: Reads): Promise<number> {
  const [{ enough }] = await sql<[{ enough: boolean }]>`select ${areMonthsToFold(sql)} as enough`;
  if (!enough) return 0;
  const rows = await sql`
    with appended as (delete from gateway_months where not folded returning *),
    sums as (
      delete from gateway_months m using (select distinct gateway_id, asset_id, month, kind, account from appended) k
      where m.folded and (m.gateway_id, m.asset_id, m.month, m.kind, m.account) = (k.gateway_id, k.asset_id, k.month, k.kind, k.account)
      returning m.*),
    added as (
      insert into gateway_months (gateway_id, asset_id, month, kind, account, amount, entries, folded)
      select gateway_id, asset_id, month, kind, account, sum(amount), sum(entries), true from (select * from appended union all select * from sums) a group by 1, 2, 3, 4, 5),
    expenses as (delete from expense_months where not folded returning *),
    expense_sums as (
      delete from expense_months m using (select distinct gateway_id, month, billing, asset_id from expenses) k
      where m.folded and (m.gateway_id, m.month, m.billing, m.asset_id) = (k.gateway_id, k.month, k.billing, k.asset_id)
      returning m.*),
    expenses_added as (
      insert into expense_months (gateway_id, month, billing, asset_id, coins, usd, lines, folded)
      select gateway_id, month, billing, asset_id, sum(coins), sum(usd), sum(lines), true from (select * from expenses union all select * from expense_sums) a group by 1, 2, 3, 4)
    select 1 from appended`;
  return rows.length;
}
