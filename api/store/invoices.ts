import type { Reads, Tx } from '#shared/platform/postgres.ts';
import type { Listed } from './operator-lists.ts';

/** A month of a gateway that can be closed. */
export interface DueMonth {
  gatewayId: string;
  /** First day of the month, `2026-10-01`. */
  month: string;
}

/**
 * Lists what is to be invoiced, the earliest month of each gateway first: for every accrual of a month that is over and on
 * no invoice, the first month from its own on that has no invoice yet and is over, too. So what was booked after its month
 * was closed goes into the next one. Locks nothing.
 */
export async function listDueMonths(sql: Reads): Promise<DueMonth[]> {
  return dueMonths(sql);
}

/** Whether there are any; a condition. */
export function isAnyMonthDue(sql: Reads): ReturnType<Reads> {
  return sql`exists (${dueMonths(sql)})`;
}

function dueMonths(sql: Reads) {
  return sql<DueMonth[]>`
    with open as (
      select distinct r.gateway_id, date_trunc('month', r.at at time zone 'UTC') as month from accruals_to_invoice r
      where r.at < date_trunc('month', sluice_now() at time zone 'UTC') at time zone 'UTC')
    select distinct o.gateway_id, free.month::date::text as month
    from open o cross join lateral (
      select m.month from generate_series(o.month, date_trunc('month', sluice_now() at time zone 'UTC') - interval '1 month', interval '1 month') m (month)
      where not exists (select 1 from invoices i where i.gateway_id = o.gateway_id and i.month = m.month::date)
      order by m.month limit 1) free
    order by month, o.gateway_id`;
}

/**
 * Closes a gateway's month: an invoice with everything accrued before the month's end that is on none yet. Undefined, with
 * nothing written, when the month is closed or there is nothing to bill. Locks the gateway until commit, so that one worker
 * closes at a time.
 */
export async function closeMonth(tx: Tx, { id, gatewayId, month }: DueMonth & { id: string }): Promise<{ lines: number; totalUsd: string } | undefined> {
  await tx`select 1 from gateways where id = ${gatewayId} for no key update`;
  const [closed] = await tx<{ lines: number; totalUsd: string }[]>`
    with wanted as (
      select r.id, r.usd from accruals_to_invoice a join accruals r on r.id = a.accrual_id
      where a.gateway_id = ${gatewayId} and a.at < (${month}::date + interval '1 month') at time zone 'UTC'
        and not exists (select 1 from invoice_lines l where l.accrual_id = r.id)),
    made as (
      insert into invoices (id, gateway_id, month, line_count, total_usd)
      select ${id}, ${gatewayId}, ${month}::date, count(*), sum(usd) from wanted having count(*) > 0
      on conflict (gateway_id, month) do nothing returning id, line_count, total_usd),
    lines as (
      insert into invoice_lines (accrual_id, invoice_id) select w.id, m.id from wanted w cross join made m)
    select line_count as lines, trim_scale(total_usd)::text as "totalUsd" from made`;
  return closed;
}

export interface ListedInvoice {
  id: string;
  gatewayId: string;
  gatewayName: string;
  /** `2026-10`. */
  month: string;
  currencyCode: string;
  /** Exact sum of the lines. */
  totalUsd: string;
  /** The same in cents, rounded half-up once. */
  amountDue: string;
  lineCount: number;
  closedAt: Date;
}

export interface InvoiceFilter {
  gatewayId: string | null;
  /** First day of a month. */
  month: string | null;
  limit: number;
  offset: number;
}

/** Invoices, the last closed first; locks nothing. */
export async function listInvoicesForOperator(sql: Reads, filter: InvoiceFilter): Promise<Listed<ListedInvoice>> {
  const rows = await sql<(ListedInvoice & { total: number })[]>`
    select ${columns(sql)}, count(*) over () as total from invoices i join gateways g on g.id = i.gateway_id
    where (${filter.gatewayId}::uuid is null or i.gateway_id = ${filter.gatewayId}) and (${filter.month}::date is null or i.month = ${filter.month})
    order by i.closed_at desc, i.month desc, i.id desc limit ${filter.limit} offset ${filter.offset}`;
  return { items: rows.map(({ total: _, ...item }) => item), total: rows[0]?.total ?? 0 };
}

/** Reads one invoice; locks nothing. */
export async function findInvoice(sql: Reads, id: string): Promise<ListedInvoice | undefined> {
  const [row] = await sql<ListedInvoice[]>`select ${columns(sql)} from invoices i join gateways g on g.id = i.gateway_id where i.id = ${id}`;
  return row;
}

function columns(sql: Reads) {
  return sql`i.id, i.gateway_id, g.name as "gatewayName", to_char(i.month, 'YYYY-MM') as month, 'USD' as "currencyCode",
    trim_scale(i.total_usd)::text as "totalUsd", round(i.total_usd, 2)::text as "amountDue", i.line_count, i.closed_at`;
}

/** What the platform bore for one gateway in one month and one asset, whether or not it is invoiced. */
export interface ListedExpense {
  gatewayId: string;
  gatewayName: string;
  /** `2026-10`, by when it was booked. */
  month: string;
  /** MONTHLY: invoiced to the gateway. PLATFORM: to nobody. */
  billing: 'MONTHLY' | 'PLATFORM';
  network: string;
  assetSymbol: string;
  amount: string;
  usd: string;
  lineCount: number;
}

/** What the platform bore, by gateway, month and asset, the latest month first; it sums up the `platformExpense` accounts, from what is kept of each month. Locks nothing. */
export async function listExpensesForOperator(sql: Reads, filter: InvoiceFilter & { billing: string | null }): Promise<Listed<ListedExpense>> {
  const { gatewayId, month, billing } = filter;
  const rows = await sql<(ListedExpense & { total: number })[]>`
    select m.gateway_id, g.name as "gatewayName", to_char(m.month, 'YYYY-MM') as month, m.billing, n.name as network,
      a.symbol as "assetSymbol", trim_scale(m.coins)::text as amount, trim_scale(m.usd)::text as usd, m.lines as "lineCount", count(*) over () as total
    from (
      select gateway_id, month, billing, asset_id, sum(coins) as coins, sum(usd) as usd, sum(lines)::bigint as lines from expense_months
      where true ${gatewayId === null ? sql`` : sql`and gateway_id = ${gatewayId}`} ${billing === null ? sql`` : sql`and billing = ${billing}`}
        ${month === null ? sql`` : sql`and month = ${month}::text::date`}
      group by 1, 2, 3, 4) m
    join gateways g on g.id = m.gateway_id join assets a on a.id = m.asset_id join networks n on n.id = a.network_id
    order by m.month desc, g.name, m.gateway_id, m.billing, n.name, a.symbol, m.asset_id limit ${filter.limit} offset ${filter.offset}`;
  return { items: rows.map(({ total: _, ...item }) => item), total: rows[0]?.total ?? 0 };
}

/** What one payment or cashout cost the platform. */
export interface InvoiceLine {
  kind: 'payment' | 'settlement' | 'reversal';
  paymentId: string | null;
  settlementId: string | null;
  network: string;
  assetSymbol: string;
  /** In that asset. */
  amount: string;
  priceUsd: string;
  /** When the price of a cashout was taken; null for a payment, whose history says so. */
  priceAt: Date | null;
  usd: string;
  bookedAt: Date;
}

/** Lines of one invoice, the earliest booked first; locks nothing. */
export async function listInvoiceLines(sql: Reads, invoiceId: string, page: { limit: number; offset: number }): Promise<InvoiceLine[]> {
  return sql<InvoiceLine[]>`
    select case when r.reverses is not null then 'reversal' when r.settlement_id is not null then 'settlement' else 'payment' end as kind,
      r.payment_id, r.settlement_id, n.name as network, a.symbol as "assetSymbol", trim_scale(r.coins)::text as amount,
      trim_scale(r.price_usd)::text as "priceUsd", r.price_at, trim_scale(r.usd)::text as usd, r.at as "bookedAt"
    from invoice_lines l join accruals r on r.id = l.accrual_id join assets a on a.id = r.asset_id join networks n on n.id = a.network_id
    where l.invoice_id = ${invoiceId} order by r.at, r.id limit ${page.limit} offset ${page.offset}`;
}
