import type { Reads } from '#shared/platform/postgres.ts';
import { inOrder, lastOf, type Placed, placeOf, stretch, type Walk, type Walked, WINDOW } from './operator-walks.ts';
import { TOPICS } from './outbox.ts';
import { tallied } from './tallies.ts';

type Part = ReturnType<Reads>;

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
  /** Null where screening flagged nothing. */
  amlState: string | null;
  createdAt: Date;
  expiresAt: Date;
  resolvedAt: Date | null;
}

/** Payments, newest first. */
export async function listPaymentsForOperator(sql: Reads, filter: ListFilter): Promise<Listed<Placed<ListedPayment>>> {
  return split(
    await sql<(Placed<ListedPayment> & Total)[]>`
      select ${paymentColumns(sql)}, ${tallied(sql, 'payments', filter)} as total
      from (${newestOf(sql, sql`payments`, filter)}) p left join assets a on a.id = p.received_asset_id
      order by p.created_at desc, p.id desc limit ${filter.limit} offset ${filter.offset}`,
  );
}

/** Payments of a walk. Reads payments_gateway or payments_gateway_status of each gateway, or the key of payments; locks nothing. */
export async function walkPayments(sql: Reads, walk: Walk): Promise<Placed<ListedPayment>[]> {
  return sql<Placed<ListedPayment>[]>`
    select ${paymentColumns(sql)} from (${walked(sql, sql`payments`, walk)}) p left join assets a on a.id = p.received_asset_id
    ${inOrder(sql, walk, sql`p.created_at`, sql`p.id`)} limit ${walk.limit + 1}`;
}

/** Payments of a walk that screening flagged, in one state. Looks through payments_flagged, or what was found, for the gateway and the status; locks nothing. */
export async function walkFlagged(sql: Reads, walk: Walk & { amlState: string }): Promise<Walked<ListedPayment>> {
  const { ids, gatewayId, status, amlState } = walk;
  const looked: Part = sql`
    select p.*, p.created_at as at from payments p
    where p.aml_state = ${amlState} ${ids === null ? sql`` : sql`and p.id = any(${ids}::uuid[])`} ${stretch(sql, walk, sql`p.created_at`, sql`p.id`)}
    ${inOrder(sql, walk, sql`p.created_at`, sql`p.id`)} limit ${WINDOW}`;
  const rows = await sql<Placed<ListedPayment>[]>`
    select ${paymentColumns(sql)} from (${looked}) p left join assets a on a.id = p.received_asset_id
    where true ${gatewayId === null ? sql`` : sql`and p.gateway_id = ${gatewayId}`} ${status === null ? sql`` : sql`and p.status = ${status}`}
    ${inOrder(sql, walk, sql`p.created_at`, sql`p.id`)} limit ${walk.limit + 1}`;
  return { rows, lastLooked: rows.length > walk.limit ? null : await lastOf(sql, looked, walk) };
}

function paymentColumns(sql: Reads): Part {
  return sql`
    p.id, p.gateway_id, p.status, p.checkout_mode, p.currency_code, p.amount,
    trim_scale(p.received_amount)::text as "receivedAmount", a.symbol as "receivedAssetSymbol", trim_scale(p.deviation_usd)::text as "deviationUsd",
    p.deposit_path, p.is_verified, p.sandbox as "isSandbox", p.aml_state, p.created_at, p.expires_at, p.resolved_at, ${placeOf(sql, sql`p.created_at`)} as place`;
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
export async function listSettlementsForOperator(sql: Reads, filter: ListFilter): Promise<Listed<Placed<ListedSettlement>>> {
  return split(
    await sql<(Placed<ListedSettlement> & Total)[]>`
      select ${settlementColumns(sql)}, ${tallied(sql, 'settlements', filter)} as total
      from (${newestOf(sql, listedSettlements(sql), filter)}) s join assets a on a.id = s.asset_id join networks n on n.id = s.network_id
      order by s.created_at desc, s.id desc limit ${filter.limit} offset ${filter.offset}`,
  );
}

/** Settlements of a walk. Reads settlements_gateway or settlements_gateway_status of each gateway, or the key of settlements; locks nothing. */
export async function walkSettlements(sql: Reads, walk: Walk): Promise<Placed<ListedSettlement>[]> {
  return sql<Placed<ListedSettlement>[]>`
    select ${settlementColumns(sql)}
    from (${walked(sql, listedSettlements(sql), walk)}) s join assets a on a.id = s.asset_id join networks n on n.id = s.network_id
    ${inOrder(sql, walk, sql`s.created_at`, sql`s.id`)} limit ${walk.limit + 1}`;
}

/** What a list shows of settlements, without what proves them, which whoever only looks never reads. */
function listedSettlements(sql: Reads): Part {
  return sql`(
    select id, gateway_id, status, asset_id, network_id, address, amount_text, fee_locked, net_amount, received_amount, txid, hold_reason, wait_reason, created_at,
      dispatch_at, expires_at, settled_at from settlements)`;
}

function settlementColumns(sql: Reads): Part {
  return sql`
    s.id, s.gateway_id, s.status, a.symbol as "assetSymbol", n.name as network, s.address, s.amount_text as amount,
    trim_scale(s.fee_locked)::text as "feeLocked", trim_scale(s.net_amount)::text as "netAmount", trim_scale(s.received_amount)::text as "receivedAmount",
    s.txid as "txHash", s.hold_reason, s.wait_reason, s.created_at, s.dispatch_at, s.expires_at, s.settled_at, ${placeOf(sql, sql`s.created_at`)} as place`;
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
export async function listDepositsForOperator(sql: Reads, filter: ListFilter): Promise<Listed<Placed<ListedDeposit>>> {
  return split(
    await sql<(Placed<ListedDeposit> & Total)[]>`
      select ${depositColumns(sql)}, ${tallied(sql, 'deposits', filter)} as total
      from deposits d join payments p on p.id = d.payment_id join networks n on n.id = d.network_id join assets a on a.id = d.asset_id
      where (${filter.gatewayId}::uuid is null or p.gateway_id = ${filter.gatewayId}) and (${filter.status}::text is null or d.state = ${filter.status})
      order by d.first_seen_at desc, d.id desc limit ${filter.limit} offset ${filter.offset}`,
  );
}

/** States that few deposits are in, and stay in: an index has them. */
const SET_ASIDE = ['dropped', 'dust', 'unallocated'];

/** Deposits of a walk. Looks through deposits_newest, deposits_set_aside or what was found, for the gateway and for states that most deposits have; locks nothing. */
export async function walkDeposits(sql: Reads, walk: Walk): Promise<Walked<ListedDeposit>> {
  const { ids, status } = walk;
  const aside = ids === null && status !== null && SET_ASIDE.includes(status);
  const looked: Part = sql`
    select d.*, d.first_seen_at as at from deposits d
    where ${ids === null ? sql`true` : sql`d.id = any(${ids}::uuid[])`} ${aside ? sql`and d.state in ('dropped', 'dust', 'unallocated') and d.state = ${status}` : sql``}
      ${stretch(sql, walk, sql`d.first_seen_at`, sql`d.id`)} ${inOrder(sql, walk, sql`d.first_seen_at`, sql`d.id`)} limit ${WINDOW}`;
  const rows = await sql<Placed<ListedDeposit>[]>`
    select ${depositColumns(sql)}
    from (${looked}) d join payments p on p.id = d.payment_id join networks n on n.id = d.network_id join assets a on a.id = d.asset_id
    where true ${walk.gatewayId === null ? sql`` : sql`and p.gateway_id = ${walk.gatewayId}`} ${status === null ? sql`` : sql`and d.state = ${status}`}
    ${inOrder(sql, walk, sql`d.first_seen_at`, sql`d.id`)} limit ${walk.limit + 1}`;
  return { rows, lastLooked: rows.length > walk.limit ? null : await lastOf(sql, looked, walk) };
}

function depositColumns(sql: Reads): Part {
  return sql`
    d.id, d.payment_id, p.gateway_id, d.state, n.name as network, a.symbol as "assetSymbol", trim_scale(d.amount)::text as amount, d.txid as "txHash", d.height,
    d.path, d.first_seen_at as "seenAt", d.final_at, ${placeOf(sql, sql`d.first_seen_at`)} as place`;
}

/** Coins at our addresses that nothing explains, newest first. */
export async function listUnexplainedForOperator(sql: Reads, filter: ListFilter): Promise<Listed<Placed<ListedUnexplained>>> {
  return split(
    await sql<(Placed<ListedUnexplained> & Total)[]>`
      select ${unexplainedColumns(sql)}, count(*) over () as total
      from unexplained_balances u join networks n on n.id = u.network_id join assets a on a.network_id = u.network_id and a.contract is null
      left join payments p on p.id = u.payment_id
      where u.resolved_at is null and (${filter.gatewayId}::uuid is null or p.gateway_id = ${filter.gatewayId})
      order by u.found_at desc, u.id desc limit ${filter.limit} offset ${filter.offset}`,
  );
}

/** The same of a walk, at these addresses or of these payments where they are given. Looks through unexplained_balances_newest; locks nothing. */
export async function walkUnexplained(
  sql: Reads,
  walk: Walk,
  found: { addresses: readonly string[]; payments: readonly string[] } | null,
): Promise<Walked<ListedUnexplained>> {
  const looked: Part = sql`
    select u.*, u.found_at as at from unexplained_balances u where u.resolved_at is null ${stretch(sql, walk, sql`u.found_at`, sql`u.id`)}
    ${inOrder(sql, walk, sql`u.found_at`, sql`u.id`)} limit ${WINDOW}`;
  const rows = await sql<Placed<ListedUnexplained>[]>`
    select ${unexplainedColumns(sql)}
    from (${looked}) u join networks n on n.id = u.network_id join assets a on a.network_id = u.network_id and a.contract is null
    left join payments p on p.id = u.payment_id
    where true ${walk.gatewayId === null ? sql`` : sql`and p.gateway_id = ${walk.gatewayId}`}
      ${found === null ? sql`` : sql`and (u.id = any(${walk.ids ?? []}::uuid[]) or u.address = any(${found.addresses}) or u.payment_id = any(${found.payments}::uuid[]))`}
    ${inOrder(sql, walk, sql`u.found_at`, sql`u.id`)} limit ${walk.limit + 1}`;
  return { rows, lastLooked: rows.length > walk.limit ? null : await lastOf(sql, looked, walk) };
}

function unexplainedColumns(sql: Reads): Part {
  return sql`
    u.id, u.payment_id, p.gateway_id, 'unexplained' as state, n.name as network, a.symbol as "assetSymbol", u.address,
    trim_scale(u.raw_amount::numeric / power(10::numeric, a.decimals))::text as amount, null as "txHash", u.to_height as height, null as path,
    u.found_at as "seenAt", null as "finalAt", ${placeOf(sql, sql`u.found_at`)} as place`;
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
export async function listWebhooksForOperator(sql: Reads, filter: ListFilter & { paymentId: string | null }): Promise<Listed<Placed<ListedWebhook>>> {
  return split(
    await sql<(Placed<ListedWebhook> & Total)[]>`
      select ${webhookColumns(sql)}, ${filter.paymentId === null ? tallied(sql, 'webhook_events', filter) : sql`count(*) over ()`} as total
      from webhook_events w
      where (${filter.gatewayId}::uuid is null or gateway_id = ${filter.gatewayId}) and (${filter.status}::text is null or state = ${filter.status})
        and (${filter.paymentId}::uuid is null or payment_id = ${filter.paymentId})
      order by created_at desc, seq desc limit ${filter.limit} offset ${filter.offset}`,
  );
}

/** Webhooks of a walk. Looks through webhook_events_created, those of one gateway or payment, or what was found, for the state; locks nothing. */
export async function walkWebhooks(sql: Reads, walk: Walk & { paymentId: string | null }): Promise<Walked<ListedWebhook>> {
  const { ids, gatewayId, paymentId } = walk;
  const looked: Part = sql`
    select w.*, w.created_at as at from webhook_events w
    where ${ids === null ? sql`true` : sql`w.id = any(${ids}::uuid[])`} ${gatewayId === null ? sql`` : sql`and w.gateway_id = ${gatewayId}`}
      ${paymentId === null ? sql`` : sql`and w.payment_id = ${paymentId}`} ${stretch(sql, walk, sql`w.created_at`, sql`w.id`)}
    ${inOrder(sql, walk, sql`w.created_at`, sql`w.id`)} limit ${WINDOW}`;
  const rows = await sql<Placed<ListedWebhook>[]>`
    select ${webhookColumns(sql)} from (${looked}) w where true ${walk.status === null ? sql`` : sql`and w.state = ${walk.status}`}
    ${inOrder(sql, walk, sql`w.created_at`, sql`w.id`)} limit ${walk.limit + 1}`;
  return { rows, lastLooked: rows.length > walk.limit ? null : await lastOf(sql, looked, walk) };
}

function webhookColumns(sql: Reads): Part {
  return sql`
    w.id, w.payment_id, w.gateway_id, w.status, w.url, w.state, w.attempts, w.next_attempt_at, w.created_at, w.delivered_at,
    ${placeOf(sql, sql`w.created_at`)} as place`;
}

export interface ListedJob {
  id: string;
  topic: string;
  refId: string;
  state: 'due' | 'retrying' | 'scheduled' | 'dead';
  dueAt: Date;
  createdAt: Date;
  /** How often it was begun, and how often of those in a row it did not end well. */
  claims: number;
  failures: number;
  /** A worker has it in hand. */
  running: boolean;
  lastError: string | null;
  /** Whose work it is, as far as there is one; null otherwise. */
  gatewayId: string | null;
  paymentId: string | null;
  settlementId: string | null;
}

/** Work that is not done, the longest due first. */
export async function listJobsForOperator(sql: Reads, page: { limit: number; offset: number }): Promise<Listed<Placed<ListedJob>>> {
  return split(
    await sql<(Placed<ListedJob> & Total)[]>`
      select ${jobColumns(sql)}, o.total
      from (select *, count(*) over () as total from outbox where state <> 'done' order by due_at, id limit ${page.limit} offset ${page.offset}) o ${jobSubjects(sql)}
      order by o.due_at, o.id`,
  );
}

export type JobState = ListedJob['state'];

/** Open rows that one question looks through for what no index has: there are more only while nothing works. */
const OPEN_LOOKED = 1_000;

/**
 * Work of a walk that is not done, by when it is due. Reads outbox_retrying, outbox_dead, or outbox_due of each topic, through which it looks for what has
 * not failed; locks nothing.
 */
export async function walkJobs(sql: Reads, walk: Walk & { status: JobState | null; topic: string | null }): Promise<Walked<ListedJob>> {
  const { status, topic } = walk;
  const tail: Part = sql`${stretch(sql, walk, sql`o.due_at`, sql`o.id`)} ${inOrder(sql, walk, sql`o.due_at`, sql`o.id`)} limit ${OPEN_LOOKED}`;
  const narrowed: Part = sql`${topic === null ? sql`` : sql`and o.topic = ${topic}`} ${tail}`;
  const dead: Part = sql`select o.* from outbox o where o.state = 'dead' ${narrowed}`;
  const retrying: Part = sql`select o.* from outbox o where o.state = 'due' and o.last_error is not null ${narrowed}`;
  const when: Part = status === 'due' ? sql`and o.due_at <= sluice_now()` : status === 'scheduled' ? sql`and o.due_at > sluice_now()` : sql``;
  const waiting: Part = sql`
    select o.* from unnest(${topic === null ? TOPICS : [topic]}::text[]) t (topic) cross join lateral (
      select o.* from outbox o where o.topic = t.topic and o.state = 'due' ${when} ${tail}) o`;
  const found: Part = sql`select o.* from outbox o where o.id = any(${walk.ids ?? []}::uuid[]) and o.state <> 'done' ${narrowed}`;
  const from: Part =
    walk.ids !== null ? found : status === 'dead' ? dead : status === 'retrying' ? retrying : status === null ? sql`(${waiting}) union all (${dead})` : waiting;
  const looked: Part = sql`
    select o.*, o.due_at as at from (${from}) o ${inOrder(sql, walk, sql`o.due_at`, sql`o.id`)} limit ${OPEN_LOOKED}`;
  const rows = await sql<Placed<ListedJob>[]>`
    select ${jobColumns(sql)} from (${looked}) o ${jobSubjects(sql)} where ${status === null ? sql`true` : sql`${jobState(sql)} = ${status}`}
    ${inOrder(sql, walk, sql`o.due_at`, sql`o.id`)} limit ${walk.limit + 1}`;
  return { rows, lastLooked: rows.length > walk.limit ? null : await lastOf(sql, looked, walk, OPEN_LOOKED) };
}

/** Work that is not done by its id, by the row it works on, or by the payment, cashout or payout of that row. Reads outbox_ref and the keys of those; locks nothing. */
export async function seekJobs(sql: Reads, id: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select o.id from outbox o where o.id = ${id} and o.state <> 'done'
    union
    select o.id from (
      select ${id}::uuid as id
      union select w.id from webhook_events w where w.payment_id = ${id}
      union select c.id from credits c where c.payment_id = ${id}
      union select a.id from payout_attempts a where a.payout_id = ${id}
      union select a.id from payouts p join payout_attempts a on a.payout_id = p.id where p.settlement_id = ${id}) r
    join outbox o on o.ref_id = r.id where o.state <> 'done' limit ${OPEN_LOOKED}`;
  return rows.map((row) => row.id);
}

/** Reads one job that is not done, as the list shows it; locks nothing. */
export async function findListedJob(sql: Reads, id: string): Promise<ListedJob | undefined> {
  const [row] = await sql<Placed<ListedJob>[]>`
    select ${jobColumns(sql)} from (select * from outbox where id = ${id} and state <> 'done') o ${jobSubjects(sql)}`;
  if (row === undefined) return undefined;
  const { place: _, ...job } = row;
  return job;
}

function jobColumns(sql: Reads): Part {
  return sql`
    o.id, o.topic, o.ref_id, o.due_at, o.created_at, o.claims, o.failures, coalesce(o.claimed_until > now(), false) as running, o.last_error,
    coalesce(w.gateway_id, c.gateway_id, s.gateway_id) as "gatewayId", coalesce(w.payment_id, c.payment_id, b.payment_id) as "paymentId",
    s.id as "settlementId", ${jobState(sql)} as state, ${placeOf(sql, sql`o.due_at`)} as place`;
}

/** What the jobs of a page are about, each by its own key. */
function jobSubjects(sql: Reads): Part {
  return sql`
    left join webhook_events w on o.topic in ('webhook.deliver', 'webhook.resend') and w.id = o.ref_id
    left join credits c on o.topic = 'deposit.screen' and c.id = o.ref_id
    left join payout_attempts t on o.topic = 'payout.broadcast' and t.id = o.ref_id left join payouts b on b.id = t.payout_id
    left join settlements s on s.id = case when o.topic in ('settlement.dispatch', 'settlement.mail') then o.ref_id else b.settlement_id end`;
}

function jobState(sql: Reads): Part {
  return sql`(case when o.state = 'dead' then 'dead' when o.last_error is not null then 'retrying' when o.due_at <= sluice_now() then 'due' else 'scheduled' end)`;
}

/** The rows of a walk that has an index by gateway and by status: those found, or of each gateway as many as are wanted. */
function walked(sql: Reads, table: Part, walk: Walk): Part {
  const { gatewayId, status, ids } = walk;
  const tail: Part = sql`
    ${status === null ? sql`` : sql`and x.status = ${status}`} ${stretch(sql, walk, sql`x.created_at`, sql`x.id`)}
    ${inOrder(sql, walk, sql`x.created_at`, sql`x.id`)} limit ${walk.limit + 1}`;
  if (ids !== null)
    return sql`select x.* from ${table} x where x.id = any(${ids}::uuid[]) ${gatewayId === null ? sql`` : sql`and x.gateway_id = ${gatewayId}`} ${tail}`;
  return sql`
    select r.* from gateways g cross join lateral (select * from ${table} x where x.gateway_id = g.id ${tail}) r
    where ${gatewayId === null ? sql`true` : sql`g.id = ${gatewayId}`}`;
}

/** The newest rows of each gateway, as many as a page and those before it: an index has those of one gateway in order, none those of all. */
function newestOf(sql: Reads, table: Part, { gatewayId, status, limit, offset }: ListFilter): Part {
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
