import type { Database, Reads } from '#shared/platform/postgres.ts';

/** Advisory locks of payments that are noted as opened. */
const OPENED_LOCK_CLASS = 7_582_011;

/** What happened to payments of a gateway on one day, of one kind; money is exact decimal text, and null where the kind has none. */
export interface DayFigure {
  /** As `2026-11-21`. */
  day: string;
  what: 'created' | 'opened' | 'chosen' | 'seen' | 'paid' | 'received';
  assetId: string | null;
  asset: string | null;
  network: string | null;
  count: number;
  amount: string;
  usd: string;
}

/** Payments of one gateway, real or simulated, on days from `from` to `to`, both included. */
export interface Days {
  gatewayId: string;
  sandbox: boolean;
  from: string;
  to: string;
}

/** What happened on each of these days. Reads day_figures_one and day_changes_gateway; locks nothing. */
export async function listDayFigures(sql: Reads, days: Days): Promise<DayFigure[]> {
  return sql<DayFigure[]>`
    select s.day::text, s.what, s.asset_id, a.symbol as asset, n.name as network, s.count, trim_scale(s.amount)::text as amount, trim_scale(s.usd)::text as usd
    from (
      select day, what, asset_id, sum(count)::bigint as count, sum(amount) as amount, sum(usd) as usd from (
        select day, what, asset_id, count, amount, usd from day_figures
        where gateway_id = ${days.gatewayId} and sandbox = ${days.sandbox} and day between ${days.from}::date and ${days.to}::date
        union all
        select day, what, asset_id, count, amount, usd from day_changes
        where gateway_id = ${days.gatewayId} and sandbox = ${days.sandbox} and day between ${days.from}::date and ${days.to}::date) both_parts
      group by day, what, asset_id having sum(count) <> 0) s
    left join assets a on a.id = s.asset_id left join networks n on n.id = a.network_id
    order by s.day, s.what, a.symbol, n.name`;
}

/** Of the payments that were created on these days, how many came how far until now. Reads day_figures_made and day_changes_gateway; locks nothing. */
export async function readFunnel(sql: Reads, days: Days): Promise<{ what: DayFigure['what']; count: number }[]> {
  return sql<{ what: DayFigure['what']; count: number }[]>`
    select what, sum(count)::bigint as count from (
      select what, count from day_figures
      where gateway_id = ${days.gatewayId} and sandbox = ${days.sandbox} and made_on between ${days.from}::date and ${days.to}::date
      union all
      select what, count from day_changes
      where gateway_id = ${days.gatewayId} and sandbox = ${days.sandbox} and made_on between ${days.from}::date and ${days.to}::date) both_parts
    where what <> 'received' group by what`;
}

/** Notes that a payment was opened, if nobody did before; writes nothing otherwise. Locks nothing of the payment. */
export async function noteOpened({ sql, transaction }: Pick<Database, 'sql' | 'transaction'>, paymentId: string): Promise<void> {
  const [known] = await sql`select 1 from payment_steps where payment_id = ${paymentId} and step = 'opened'`;
  if (known !== undefined) return;
  await transaction(async (tx) => {
    // Two statements: what was written while the lock was waited for is seen by the second alone.
    await tx`select pg_advisory_xact_lock(${OPENED_LOCK_CLASS}, hashtext(${paymentId}))`;
    await tx`
      insert into payment_steps (payment_id, step, at)
      select ${paymentId}::uuid, 'opened', sluice_now() where not exists (select 1 from payment_steps where payment_id = ${paymentId} and step = 'opened')`;
  });
}

/** Whether anything was appended; a condition. */
export function areDaysToFold(sql: Reads): ReturnType<Reads> {
  return sql`exists (select 1 from day_changes)`;
}

/** Adds up what was appended since the last time; answers how many rows it was. Whoever reads meanwhile sees the one or the other. Locks the figures that change. */
export async function foldDayChanges(sql: Reads): Promise<number> {
  const rows = await sql`
    with gone as (delete from day_changes returning *), added as (
      insert into day_figures (gateway_id, sandbox, day, made_on, what, asset_id, count, amount, usd)
      select gateway_id, sandbox, day, made_on, what, asset_id, sum(count), sum(amount), sum(usd) from gone group by 1, 2, 3, 4, 5, 6
      on conflict on constraint day_figures_one do update
        set count = day_figures.count + excluded.count, amount = day_figures.amount + excluded.amount, usd = day_figures.usd + excluded.usd)
    select 1 from gone`;
  return rows.length;
}
