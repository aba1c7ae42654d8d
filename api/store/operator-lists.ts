import type { Reads } from '#shared/platform/postgres.ts';
import { tallied } from './tallies.ts';

/** Which part of a list is wanted, and what it is narrowed to; null narrows nothing. Every function here only reads. */
export interface ListFilter {
  gatewayId: string | null;
  status: string | null;
  limit: number;
  offset: number;
}

/** One line of a list; `total` counts everything that matches. Money is exact decimal text. */
export type Listed<T> = { items: T[]; total: number };

export interface ListedPayment {
  id: string;
  gatewayId: string;
  status: string;
  checkoutMode: string;
  currencyCode: string;
  amount: string;
  receivedAmount: string | null;
  receivedAssetSymbol: string | null;
  deviationUsd: string | null;
  depositPath: string | null;
  isVerified: boolean;
  isSandbox: boolean;
  createdAt: Date;
  expiresAt: Date;
  resolvedAt: Date | null;
}

/** Payments, newest first. */
export async function listPaymentsForOperator(sql: Reads, filter: ListFilter): Promise<Listed<ListedPayment>> {
  return split(
    await sql<(ListedPayment & Total)[]>`
      select p.id, p.gateway_id, p.status, p.checkout_mode, p.currency_code, p.amount,
        trim_scale(p.received_amount)::text as "receivedAmount", a.symbol as "receivedAssetSymbol", trim_scale(p.deviation_usd)::text as "deviationUsd",
        p.deposit_path, p.is_verified, p.sandbox as "isSandbox",
        p.created_at, p.expires_at, p.resolved_at, ${tallied(sql, 'payments', filter)} as total
      from (${newestOf(sql, sql`payments`, filter)}) p left join assets a on a.id = p.received_asset_id
      order by p.created_at desc, p.id desc limit ${filter.limit} offset ${filter.offset}`,
  );
}

export interface ListedSettlement {
  id: string;
  gatewayId: string;
  status: string;
  assetSymbol: string;
  network: string;
  address: string;
  amount: string;
  feeLocked: string | null;
  netAmount: string | null;
  receivedAmount: string | null;
  txHash: string | null;
  holdReason: string | null;
  waitReason: string | null;
  createdAt: Date;
  dispatchAt: Date | null;
  expiresAt: Date | null;
  settledAt: Date | null;
}

/** Settlements, newest first. */
export async function listSettlementsForOperator(sql: Reads, filter: ListFilter): Promise<Listed<ListedSettlement>> {
  return split(
    await sql<(ListedSettlement & Total)[]>`
      select s.id, s.gateway_id, s.status, a.symbol as "assetSymbol", n.name as network, s.address, s.amount_text as amount,
        trim_scale(s.fee_locked)::text as "feeLocked", trim_scale(s.net_amount)::text as "netAmount", trim_scale(s.received_amount)::text as "receivedAmount",
        s.txid as "txHash", s.hold_reason, s.wait_reason, s.created_at, s.dispatch_at,
        s.expires_at, s.settled_at, ${tallied(sql, 'settlements', filter)} as total
      from (${newestOf(sql, sql`settlements`, filter)}) s join assets a on a.id = s.asset_id join networks n on n.id = s.network_id
      order by s.created_at desc, s.id desc limit ${filter.limit} offset ${filter.offset}`,
  );
}

export interface ListedDeposit {
  id: string;
  paymentId: string;
  gatewayId: string;
  state: string;
  network: string;
  assetSymbol: string;
  amount: string;
  txHash: string;
  height: number;
  path: string | null;
  seenAt: Date;
  finalAt: Date | null;
}

/** Coins that came without a transfer anybody saw: no transaction, at a wallet no payment either. */
export interface ListedUnexplained extends Omit<ListedDeposit, 'paymentId' | 'gatewayId' | 'txHash'> {
  address: string;
  paymentId: string | null;
  gatewayId: string | null;
  txHash: null;
}

/** Deposits in every state or one of them, newest first. */
export async function listDepositsForOperator(sql: Reads, filter: ListFilter): Promise<Listed<ListedDeposit>> {
  return split(
    await sql<(ListedDeposit & Total)[]>`
      select d.id, d.payment_id, p.gateway_id, d.state, n.name as network, a.symbol as "assetSymbol",
        trim_scale(d.amount)::text as amount, d.txid as "txHash", d.height, d.path, d.first_seen_at as "seenAt", d.final_at, count(*) over () as total
      from deposits d join payments p on p.id = d.payment_id join networks n on n.id = d.network_id join assets a on a.id = d.asset_id
      where (${filter.gatewayId}::uuid is null or p.gateway_id = ${filter.gatewayId}) and (${filter.status}::text is null or d.state = ${filter.status})
      order by d.first_seen_at desc, d.id desc limit ${filter.limit} offset ${filter.offset}`,
  );
}

/** Coins at our addresses that nothing explains, newest first. */
export async function listUnexplainedForOperator(sql: Reads, filter: ListFilter): Promise<Listed<ListedUnexplained>> {
  return split(
    await sql<(ListedUnexplained & Total)[]>`
      select u.id, u.payment_id, p.gateway_id, 'unexplained' as state, n.name as network, a.symbol as "assetSymbol", u.address,
        trim_scale(u.raw_amount::numeric / power(10::numeric, a.decimals))::text as amount, null as "txHash", u.to_height as height, null as path,
        u.found_at as "seenAt", null as "finalAt", count(*) over () as total
      from unexplained_balances u join networks n on n.id = u.network_id join assets a on a.network_id = u.network_id and a.contract is null
      left join payments p on p.id = u.payment_id
      where u.resolved_at is null and (${filter.gatewayId}::uuid is null or p.gateway_id = ${filter.gatewayId})
      order by u.found_at desc, u.id desc limit ${filter.limit} offset ${filter.offset}`,
  );
}

export interface ListedWebhook {
  id: string;
  paymentId: string;
  gatewayId: string;
  status: string;
  url: string;
  state: string;
  attempts: number;
  nextAttemptAt: Date;
  createdAt: Date;
  deliveredAt: Date | null;
}

/** Webhooks in every delivery state or one of them, of every payment or one, newest first. */
export async function listWebhooksForOperator(sql: Reads, filter: ListFilter & { paymentId: string | null }): Promise<Listed<ListedWebhook>> {
  return split(
    await sql<(ListedWebhook & Total)[]>`
      select id, payment_id, gateway_id, status, url, state, attempts, next_attempt_at,
        created_at, delivered_at, ${filter.paymentId === null ? tallied(sql, 'webhook_events', filter) : sql`count(*) over ()`} as total
      from webhook_events
      where (${filter.gatewayId}::uuid is null or gateway_id = ${filter.gatewayId}) and (${filter.status}::text is null or state = ${filter.status})
        and (${filter.paymentId}::uuid is null or payment_id = ${filter.paymentId})
      order by created_at desc, seq desc limit ${filter.limit} offset ${filter.offset}`,
  );
}

export interface ListedJob {
  id: string;
  topic: string;
  refId: string;
  state: 'due' | 'retrying' | 'scheduled' | 'dead';
  dueAt: Date;
  claims: number;
  lastError: string | null;
}

/** Work that is not done, the longest due first. */
export async function listJobsForOperator(sql: Reads, page: { limit: number; offset: number }): Promise<Listed<ListedJob>> {
  return split(
    await sql<(ListedJob & Total)[]>`
      select id, topic, ref_id, due_at, claims, last_error,
        case when state = 'dead' then 'dead' when last_error is not null then 'retrying' when due_at <= sluice_now() then 'due' else 'scheduled' end as state,
        count(*) over () as total
      from outbox where state <> 'done' order by due_at, id limit ${page.limit} offset ${page.offset}`,
  );
}

/** The newest rows of each gateway, as many as a page and those before it: an index has those of one gateway in order, none those of all. */
function newestOf(sql: Reads, table: ReturnType<Reads>, { gatewayId, status, limit, offset }: ListFilter): ReturnType<Reads> {
  return sql`
    select r.* from gateways g cross join lateral (
      select * from ${table} x where x.gateway_id = g.id ${status === null ? sql`` : sql`and x.status = ${status}`}
      order by x.created_at desc, x.id desc limit ${limit + offset}) r
    where ${gatewayId === null ? sql`true` : sql`g.id = ${gatewayId}`}`;
}

type Total = { total: number };

function split<T extends object>(rows: (T & Total)[]): Listed<T> {
  return { items: rows.map(({ total: _, ...item }) => item as unknown as T), total: rows[0]?.total ?? 0 };
}
