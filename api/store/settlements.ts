import type { Family } from '#shared/core/assets.ts';
import { type Coins, formatAmount, parseTrusted, type Usd } from '#shared/core/money.ts';
import { SentJson } from '#shared/core/sent-json.ts';
import { likeReason } from '#shared/core/wait-reasons.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import { currentTraceparent } from '#shared/platform/tracing.ts';
import type { SettlementStatus } from '#state-machines/settlement/machine.ts';
import type { ParkedStatus, Route } from '#state-machines/settlement/settlement.ts';
import { isOneOf } from './is-one-of.ts';
import { insertSent, sentMetadata } from './sent-json.ts';
import { tallied } from './tallies.ts';
import { noteTraces } from './traces.ts';

/** A cashout with the asset and network it is paid in. */
export interface StoredSettlement {
  id: string;
  gatewayId: string;
  status: SettlementStatus;
  /** As the contract shows it. */
  address: string;
  /** As matched in the address book: EVM in lower case. */
  canonicalAddress: string;
  amountText: string;
  amount: Coins;
  requestedRoute: Route;
  pool: 'green' | 'held' | null;
  routedByService: boolean;
  destinationRiskScore: number | null;
  metadata: SentJson | null;
  feeLocked: Coins | null;
  netAmount: Coins | null;
  receivedAmount: Coins | null;
  /** What its destination made it cost beyond what was locked. */
  charged: Coins;
  txid: string | null;
  createdAt: Date;
  /** The person who created it in the console; null when a key did. */
  createdBy: string | null;
  expiresAt: Date | null;
  dispatchAt: Date | null;
  waitReason: string | null;
  /** Why it had to be approved by a person when it was claimed; null when it had not. */
  holdReason: string | null;
  /** How many people have to approve it, where anybody has to. */
  people: number;
  settledAt: Date | null;
  rejectedAt: Date | null;
  /** The event that rejected it; null while nothing has. */
  rejectedBy: 'CANCELLED' | 'PARKING_EXPIRED' | 'OPERATOR_REJECTED' | null;
  /** Of one coin when it was created; null where none was at hand. */
  priceUsd: Usd | null;
  assetId: string;
  assetSymbol: string;
  contract: string | null;
  decimals: number;
  networkId: string;
  networkName: string;
  family: Family;
}

/** The same with the proofs under our key, which nobody who only looks may read (decision 0035). */
export interface KeyedSettlement extends StoredSettlement {
  /** Authenticates what was claimed; null while parked. For the release before this one: nothing here believes it (decision 0036). */
  intentMac: Uint8Array | null;
  /** Authenticates what it was parked with; null when it never was. For the release before this one as well. */
  orderMac: Uint8Array | null;
}

type Row = Omit<StoredSettlement, 'amount' | 'feeLocked' | 'netAmount' | 'receivedAmount' | 'charged' | 'metadata' | 'priceUsd'> & {
  priceUsd: string | null;
  metadata: string | null;
  amount: string;
  charged: string;
  feeLocked: string | null;
  netAmount: string | null;
  receivedAmount: string | null;
};
type KeyedRow = Row & Pick<KeyedSettlement, 'intentMac' | 'orderMac'>;

/** How a cashout begins: with what it claimed, or parked for so many seconds with nothing. */
export type SettlementStart =
  | {
      status: 'REQUESTED' | 'PENDING_APPROVAL';
      feeLocked: Coins;
      netAmount: Coins;
      feePayer: 'MERCHANT' | 'PLATFORM';
      holdReason: string | null;
      intentMac: Uint8Array;
      dispatchDelaySeconds: number;
    }
  | { status: ParkedStatus; parkedSeconds: number; orderMac: Uint8Array };

export interface NewSettlement {
  id: string;
  gatewayId: string;
  assetId: string;
  networkId: string;
  addressId: string;
  address: string;
  amountText: string;
  amount: Coins;
  route: Route;
  /** Null only while a SMART request waits for its verdict. */
  pool: 'green' | 'held' | null;
  routedByService: boolean;
  riskScore: number | null;
  metadata: SentJson | null;
  createdBy: string | null;
  start: SettlementStart;
}

/** Adds a cashout, dated now; one that waits for approval gets its dispatch time when it is approved. Locks nothing else. */
export async function insertSettlement(tx: Tx, settlement: NewSettlement): Promise<StoredSettlement> {
  return (await insertSettlements(tx, [settlement])).get(settlement.id) as StoredSettlement;
}

/** The same of several, by their ids. */
export async function insertSettlements(tx: Tx, settlements: readonly NewSettlement[]): Promise<Map<string, StoredSettlement>> {
  const rows = settlements.map(({ start, ...s }) => ({
    ...s,
    amount: formatAmount(s.amount),
    metadata: s.metadata === null ? null : s.metadata.value(),
    status: start.status,
    ...('feeLocked' in start
      ? {
          feeLocked: formatAmount(start.feeLocked),
          netAmount: formatAmount(start.netAmount),
          feePayer: start.feePayer,
          dispatchDelay: start.status === 'REQUESTED' ? start.dispatchDelaySeconds : null,
          holdReason: start.holdReason,
          intentMac: Buffer.from(start.intentMac).toString('hex'),
        }
      : { feePayer: 'MERCHANT', parkedSeconds: start.parkedSeconds, orderMac: Buffer.from(start.orderMac).toString('hex') }),
  }));
  await tx`
    insert into settlements (id, gateway_id, asset_id, network_id, status, address_id, address, amount_text, amount, requested_route, pool, routed_by_service,
      destination_risk_score, metadata, created_by, created_at, expires_at, check_at, fee_locked, net_amount, fee_payer, dispatch_at, hold_reason, intent_mac, order_mac)
    select g.id, g."gatewayId", g."assetId", g."networkId", g.status, g."addressId", g.address, g."amountText", g.amount, g.route, g.pool, g."routedByService",
      g."riskScore", g.metadata, g."createdBy", sluice_now(), sluice_now() + make_interval(secs => g."parkedSeconds"),
      case when g."parkedSeconds" is not null then sluice_now() end, g."feeLocked", g."netAmount", g."feePayer",
      sluice_now() + make_interval(secs => g."dispatchDelay"), g."holdReason", decode(g."intentMac", 'hex'), decode(g."orderMac", 'hex')
    from jsonb_to_recordset(${tx.json(rows as never)}) as g (id uuid, "gatewayId" uuid, "assetId" uuid, "networkId" uuid, status text, "addressId" uuid, address text,
      "amountText" text, amount numeric, route text, pool text, "routedByService" boolean, "riskScore" int, metadata jsonb, "createdBy" uuid, "parkedSeconds" float8,
      "feeLocked" numeric, "netAmount" numeric, "feePayer" text, "dispatchDelay" float8, "holdReason" text, "intentMac" text, "orderMac" text)`;
  for (const { id, metadata } of settlements) if (metadata !== null) await insertSent(tx, id, { metadata });
  const traceparent = currentTraceparent();
  await noteTraces(
    tx,
    settlements.map(({ id }) => ({ subjectId: id, traceparent })),
  );
  const ids = settlements.map(({ id }) => id);
  const stored = await tx<Row[]>`select ${columns(tx)} from ${joined(tx)} where s.id ${isOneOf(tx, ids)}`;
  return new Map(stored.map((row) => [row.id, fromRow(row)]));
}

/** Reads one cashout whoever owns it; locks nothing. */
export async function findSettlement(sql: Reads, id: string): Promise<StoredSettlement | undefined> {
  const [row] = await sql<Row[]>`select ${columns(sql)} from ${joined(sql)} where s.id = ${id}`;
  return row && fromRow(row);
}

/** Name of the network that a cashout is paid on; locks nothing. */
export async function networkOfSettlement(sql: Reads, id: string): Promise<string | undefined> {
  const [row] = await sql<{ name: string }[]>`
    select n.name from settlements s join networks n on n.id = s.network_id where s.id = ${id}`;
  return row?.name;
}

/** Reads one cashout and locks its row until commit: first in the lock order settlement, wallet, payout, ledger account. */
export async function lockSettlement(tx: Tx, id: string): Promise<KeyedSettlement | undefined> {
  const [row] = await tx<KeyedRow[]>`select ${keyedColumns(tx)} from ${joined(tx)} where s.id = ${id} for update of s`;
  return row && fromRow(row);
}

/** Reads one cashout with its proofs; locks nothing. */
export async function findKeyedSettlement(sql: Reads, id: string): Promise<KeyedSettlement | undefined> {
  const [row] = await sql<KeyedRow[]>`select ${keyedColumns(sql)} from ${joined(sql)} where s.id = ${id}`;
  return row && fromRow(row);
}

/** What a list of cashouts is narrowed to beyond their status; null narrows nothing. */
export interface SettlementNarrowing {
  /** Created, or settled, at this moment or later, and before that. */
  createdFrom: Date | null;
  createdTo: Date | null;
  settledFrom: Date | null;
  settledTo: Date | null;
  /** Ticker, and name of the network. */
  asset: string | null;
  network: string | null;
}

export interface SettlementList {
  gatewayId: string;
  status: SettlementStatus | null;
  narrowing: SettlementNarrowing;
  /** Id of the last row already seen; null starts at `offset`. */
  after: string | null;
  /** How many rows are looked through. */
  window: number;
}

export interface SettlementPage extends SettlementList {
  limit: number;
  offset: number;
}

/** Lists a gateway's cashouts newest first, one more than `limit` so that the caller sees whether there are more. Stops reading when it has them; locks nothing. */
export async function listSettlementRows(sql: Reads, page: SettlementPage): Promise<StoredSettlement[]> {
  const rows = await sql<Row[]>`
    select ${columns(sql)} from ${joined(sql)} where s.id = any(array(
      -- Each by its key: joined, a short list would have the whole table read for it.
      select l.id from (${lookedThrough(sql, page)}) l where ${narrowed(sql, page.narrowing)}
      order by l.created_at desc, l.id desc limit ${page.limit + 1} offset ${page.offset}))
    order by s.created_at desc, s.id desc`;
  return rows.map(fromRow);
}

/** Counts what is looked for among the newest cashouts, and says whether there were more than those. Locks nothing. */
export async function countNarrowedSettlements(sql: Reads, list: SettlementList): Promise<{ total: number; atLeast: boolean }> {
  const [row] = await sql<[{ total: number; looked: number }]>`
    select count(*) filter (where ${narrowed(sql, list.narrowing)})::int as total, count(*)::int as looked from (${lookedThrough(sql, list)}) l`;
  return { total: row.total, atLeast: row.looked === list.window };
}

/** The last of the cashouts looked through, where there are as many as are looked through at once; locks nothing. */
export async function findLastLookedSettlement(sql: Reads, list: SettlementList): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    select l.id from (${lookedThrough(sql, list)}) l order by l.created_at desc, l.id desc limit 1 offset ${list.window - 1}`;
  return row?.id;
}

// Times of creation are what the index is by; what is narrowed beyond them stays outside of the limit (decision 0065).
function lookedThrough(sql: Reads, { gatewayId, status, narrowing: { createdFrom, createdTo }, after, window }: SettlementList): ReturnType<Reads> {
  return sql`
    select id, created_at, settled_at, asset_id, network_id from settlements where gateway_id = ${gatewayId} ${status === null ? sql`` : sql`and status = ${status}`}
      ${createdFrom === null ? sql`` : sql`and created_at >= ${createdFrom}`} ${createdTo === null ? sql`` : sql`and created_at < ${createdTo}`}
      ${after === null ? sql`` : sql`and (created_at, id) < (select c.created_at, c.id from settlements c where c.id = ${after})`}
    order by created_at desc, id desc limit ${window}`;
}

function narrowed(sql: Reads, { settledFrom, settledTo, asset, network }: SettlementNarrowing): ReturnType<Reads> {
  return sql`true
    ${settledFrom === null ? sql`` : sql`and l.settled_at >= ${settledFrom}`} ${settledTo === null ? sql`` : sql`and l.settled_at < ${settledTo}`}
    ${asset === null ? sql`` : sql`and l.asset_id in (select a.id from assets a where a.symbol = ${asset})`}
    ${network === null ? sql`` : sql`and l.network_id in (select n.id from networks n where n.name = ${network})`}`;
}

/** Counts a gateway's cashouts, of one status when given; locks nothing. */
export async function countSettlements(sql: Reads, gatewayId: string, status: SettlementStatus | null): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select ${tallied(sql, 'settlements', { gatewayId, status })} as total`;
  return row?.total ?? 0;
}

/**
 * The cashouts that a pool's wallet of a network is to pay, due and with no transaction on its way: those waiting for their first one, and
 * those whose first one failed for good. In turn between gateways, by time within one (decisions 10). Left out is what stepped aside until
 * later and what another run is looking at, but never `wantedId`. Locks nothing.
 */
export async function listDispatchQueue(
  sql: Reads,
  queue: { networkId: string; pool: 'green' | 'held'; limit: number; wantedId: string },
): Promise<{ id: string; gatewayId: string }[]> {
  return sql<{ id: string; gatewayId: string }[]>`
    select q.id, q.gateway_id from (
      select s.id, s.gateway_id, s.dispatch_at, row_number() over (partition by s.gateway_id order by s.dispatch_at, s.id) as turn from settlements s
      where s.network_id = ${queue.networkId} and s.pool = ${queue.pool} and s.dispatch_at <= sluice_now() and ${isUnsent(sql)}
        and (s.id = ${queue.wantedId} or not exists (
          select 1 from outbox o where o.ref_id = s.id and o.topic = 'settlement.dispatch' and o.state = 'due'
            and (o.due_at > sluice_now() or o.claimed_until > now())))) q
    order by q.turn, q.dispatch_at, q.id limit ${queue.limit}`;
}

/** The next cashout of the same gateway and network that waits for this very reason; locks nothing. */
export async function findNextWaiting(sql: Reads, settlementId: string, reason: string): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    select s.id from settlements o join settlements s on s.gateway_id = o.gateway_id and s.network_id = o.network_id
    where o.id = ${settlementId} and s.status = 'REQUESTED' and s.wait_reason = ${reason} order by s.dispatch_at, s.id limit 1`;
  return row?.id;
}

/** Counts a gateway's cashouts that are to be sent and cannot go; locks nothing. */
export async function countWaiting(sql: Reads, gatewayId: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*) as count from settlements where gateway_id = ${gatewayId} and status = 'REQUESTED' and wait_reason is not null`;
  return row?.count ?? 0;
}

/** Cashouts due for a minute that have neither a payout on its way nor an outbox row left that would make one. Locks nothing. */
export async function listForgotten(sql: Reads): Promise<string[]> {
  return (await forgotten(sql)).map((row) => row.id);
}

/** Whether there are any; a condition. */
export function isAnyForgotten(sql: Reads): ReturnType<Reads> {
  return sql`exists (${forgotten(sql)})`;
}

function forgotten(sql: Reads) {
  return sql<{ id: string }[]>`
    select s.id from settlements s
    where s.status not in ('SETTLED', 'REJECTED') and s.dispatch_at < sluice_now() - interval '1 minute' and ${isUnsent(sql)}
      and not exists (select 1 from outbox o where o.ref_id = s.id and o.topic = 'settlement.dispatch' and o.state = 'due')`;
}

/** Claimed, and no transaction is on its way: none was made yet, or the last one failed and one more is to be made by itself. */
function isUnsent(sql: Reads) {
  return sql`(s.status = 'REQUESTED' or (s.status = 'PROCESSING' and exists (
      select 1 from payouts f where f.settlement_id = s.id and f.purpose = 'settlement' and f.status = 'FAILED' and f.plan->>'repay' = 'true'
        and f.family = (select max(l.family) from payouts l where l.settlement_id = s.id and l.purpose = 'settlement'))))
    and not exists (select 1 from payouts p where p.settlement_id = s.id and p.purpose = 'settlement' and p.status not in ('FAILED', 'CANCELLED'))`;
}

/** Writes why a cashout has not been sent yet, for the operator; null clears it. Locks its row when the reason changes. */
export async function setWaitReason(sql: Reads, id: string, reason: string | null): Promise<boolean> {
  const rows = await sql`update settlements set wait_reason = ${reason} where id = ${id} and wait_reason is distinct from ${reason} returning id`;
  return rows.length === 1;
}

/** Writes another fee on a cashout that claimed, with what that leaves to arrive and the MAC over it; the caller holds its lock. */
export async function setClaim(tx: Tx, id: string, claim: { fee_locked: string; net_amount: string; intent_mac: Uint8Array }): Promise<void> {
  await tx`
    update settlements set fee_locked = ${claim.fee_locked}::text::numeric, net_amount = ${claim.net_amount}::text::numeric, intent_mac = ${Buffer.from(claim.intent_mac)}
    where id = ${id}`;
}

/** Makes a claimed cashout due `delaySeconds` from now and returns when that is; the caller holds its lock. */
export async function scheduleDispatch(tx: Tx, id: string, delaySeconds: number): Promise<Date> {
  const [row] = await tx<{ dispatchAt: Date }[]>`
    update settlements set dispatch_at = sluice_now() + make_interval(secs => ${delaySeconds}) where id = ${id} returning dispatch_at`;
  return (row as { dispatchAt: Date }).dispatchAt;
}

// Of its history the one price it was created at, and the one event that rejected it.
function joined(sql: Reads) {
  return sql`
    settlements s join address_book b on b.id = s.address_id join assets a on a.id = s.asset_id join networks n on n.id = s.network_id
    cross join lateral (
      select max(e.facts ->> 'priceUsd') filter (where e.event = 'CREATED') as price_usd, max(e.at) filter (where e.to_status = 'REJECTED') as rejected_at,
        max(e.event) filter (where e.to_status = 'REJECTED') as rejected_by
      from settlement_events e where e.settlement_id = s.id) h`;
}

function columns(sql: Reads) {
  return sql`s.id, s.gateway_id, s.status, s.address, b.address as "canonicalAddress", s.amount_text, s.amount,
    s.requested_route, s.pool, s.routed_by_service, s.destination_risk_score,
    ${sentMetadata(sql)} as metadata,
    s.fee_locked, s.net_amount, s.received_amount,
    (select coalesce(sum(c.amount), 0) from charges c where c.settlement_id = s.id)::text as charged, s.txid, s.created_at, s.created_by,
    s.expires_at, s.dispatch_at, s.wait_reason, s.hold_reason, s.settled_at,
    coalesce((select l.people from settlement_policies l where l.settlement_id = s.id), 1) as people, h.price_usd, h.rejected_at, h.rejected_by,
    a.id as "assetId", a.symbol as "assetSymbol", a.contract,
    a.decimals, n.id as "networkId", n.name as "networkName", n.family`;
}

function keyedColumns(sql: Reads) {
  return sql`${columns(sql)}, s.intent_mac, s.order_mac`;
}

function fromRow<R extends Row>(row: R): Omit<R, keyof Row> & StoredSettlement {
  return {
    ...row,
    amount: parseTrusted(row.amount),
    charged: parseTrusted(row.charged),
    priceUsd: row.priceUsd === null ? null : parseTrusted(row.priceUsd),
    metadata: row.metadata === null ? null : new SentJson(row.metadata),
    feeLocked: row.feeLocked === null ? null : parseTrusted(row.feeLocked),
    netAmount: row.netAmount === null ? null : parseTrusted(row.netAmount),
    receivedAmount: row.receivedAmount === null ? null : parseTrusted(row.receivedAmount),
  };
}

/** A parked cashout somebody looks at. */
export interface ParkedSettlement {
  id: string;
  gatewayId: string;
  assetId: string;
}

/**
 * Counts the cashouts a gateway has parked, both parked statuses together (decisions 10). Locks the gateway's row until
 * commit, so that no other one can be parked between the count and the insert; rows that refer to it are not held up.
 */
export async function lockParkedCount(tx: Tx, gatewayId: string): Promise<number> {
  await tx`select id from gateways where id = ${gatewayId} for no key update`;
  const [row] = await tx<{ total: number }[]>`
    select count(*) as total from settlements where gateway_id = ${gatewayId} and status in ('UNDERFUNDED', 'WAITING_AML_CREDIT')`;
  return row?.total ?? 0;
}

/**
 * Claims up to `limit` parked cashouts that may have become possible: those that wait for a verdict, and those whose pool
 * now covers them. Nobody else is given them for `seconds`. First those that nobody looked at for longest, so that each has its turn however many there
 * are and however long a look takes; answered oldest first. Rows that are locked are skipped.
 */
export async function takeParked(sql: Reads, { seconds, limit }: { seconds: number; limit: number }): Promise<ParkedSettlement[]> {
  return sql<ParkedSettlement[]>`
    with claimed as (
      update settlements set check_at = sluice_now() + make_interval(secs => ${seconds})
      where id in (${parkedDue(sql)} order by s.check_at, s.created_at, s.id limit ${limit} for update of s skip locked)
      returning id, gateway_id, asset_id, created_at)
    select id, gateway_id, asset_id from claimed order by created_at, id`;
}

/** Whether there are any; a condition. */
export function isAnyParkedDue(sql: Reads): ReturnType<Reads> {
  return sql`exists (${parkedDue(sql)})`;
}

function parkedDue(sql: Reads): ReturnType<Reads> {
  return sql`
    select s.id from settlements s
    where s.status in ('UNDERFUNDED', 'WAITING_AML_CREDIT') and s.check_at <= sluice_now()
      and (s.status = 'WAITING_AML_CREDIT' or exists (
        select 1 from ledger_accounts l
        where l.asset_id = s.asset_id and l.gateway_id = s.gateway_id and l.settlement_id is null
          and l.kind = case s.pool when 'held' then 'held' else 'available' end and l.balance >= s.amount))`;
}

/** Up to `limit` cashouts whose parking time is over, oldest first; locks nothing. */
export async function listOverstayed(sql: Reads, limit: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`${overstayed(sql)} order by expires_at, id limit ${limit}`;
  return rows.map((row) => row.id);
}

/** Whether there are any; a condition. */
export function isAnyOverstayed(sql: Reads): ReturnType<Reads> {
  return sql`exists (${overstayed(sql)})`;
}

function overstayed(sql: Reads): ReturnType<Reads> {
  return sql`select id from settlements where status in ('UNDERFUNDED', 'WAITING_AML_CREDIT') and expires_at <= sluice_now()`;
}

/** Locks one cashout until commit and says whether its parking time is over; one that left its parking place is told by its status. */
export async function lockOverstayed(tx: Tx, id: string): Promise<boolean> {
  const rows = await tx`select 1 from settlements where id = ${id} and expires_at <= sluice_now() for update`;
  return rows.length === 1;
}

/** Writes why a parked cashout was not activated, for the operator. Locks its row when the reason changes; does nothing when it is not parked. */
export async function setParkedReason(sql: Reads, id: string, reason: string): Promise<void> {
  await sql`
    update settlements set wait_reason = ${reason}
    where id = ${id} and status in ('UNDERFUNDED', 'WAITING_AML_CREDIT') and wait_reason is distinct from ${reason}`;
}

/** The status in which a cashout's parking time ran out; undefined when it did not. Locks nothing. */
export async function findExpiredFrom(sql: Reads, id: string): Promise<ParkedStatus | undefined> {
  const [row] = await sql<{ status: ParkedStatus }[]>`
    select from_status as status from settlement_events where settlement_id = ${id} and event = 'PARKING_EXPIRED'`;
  return row?.status;
}

/** How many settlements are in one open status on a network, and how long the oldest of them has been there. */
export interface OpenSettlements {
  networkName: string;
  status: string;
  count: number;
  oldestAgeSeconds: number;
  /** How long the oldest one that is due has waited to be sent; 0 when none is. Of those that are not held back. */
  overdueSeconds: number;
  /** The same of those that wait for what their own gateway or destination causes. */
  heldBackSeconds: number;
}

/** What a gateway brings about by what it asks for. */
const OF_ITS_GATEWAY = (['own_daily_limit', 'out_of_turns', 'fair_share', 'above_limit', 'fee_above_accepted'] as const).map(likeReason);

/**
 * Counts open settlements by network and status. A transfer that the network refuses is its destination's doing where only one gateway has such: where several do, the token or the wallet
 * may be to blame. Locks nothing.
 */
export async function summariseOpenSettlements(sql: Reads): Promise<OpenSettlements[]> {
  const seconds = (oldest: ReturnType<Reads>) => sql`greatest(0, coalesce(extract(epoch from sluice_now() - ${oldest}), 0))::float8`;
  return sql<OpenSettlements[]>`
    select "networkName", status, count, "oldestAgeSeconds",
      ${seconds(sql`least(other, case when several then refused end)`)} as "overdueSeconds",
      ${seconds(sql`least(own, case when not several then refused end)`)} as "heldBackSeconds"
    from (
      select n.name as "networkName", s.status, count(*) as count, extract(epoch from sluice_now() - min(s.created_at))::float8 as "oldestAgeSeconds",
        min(s.dispatch_at) filter (where s.status = 'REQUESTED' and w.cause = 'own') as own,
        min(s.dispatch_at) filter (where s.status = 'REQUESTED' and w.cause = 'refused') as refused,
        min(s.dispatch_at) filter (where s.status = 'REQUESTED' and w.cause = 'other') as other,
        count(distinct s.gateway_id) filter (where s.status = 'REQUESTED' and w.cause = 'refused') > 1 as several
      from settlements s join networks n on n.id = s.network_id
        cross join lateral (
          select case when s.wait_reason like any(${OF_ITS_GATEWAY}::text[]) then 'own'
            when s.wait_reason like ${likeReason('refused_by_network')} then 'refused' else 'other' end as cause) w
      where s.status not in ('SETTLED', 'REJECTED') group by 1, 2) open`;
}

/** Seconds since a payout's bytes were first handed to the network, undefined when nothing noted that; locks nothing. */
export async function secondsSinceSent(sql: Reads, payoutId: string): Promise<number | undefined> {
  const [row] = await sql<{ seconds: number | null }[]>`
    select extract(epoch from sluice_now() - min(at))::float8 as seconds from payout_events where payout_id = ${payoutId} and event = 'SENT'`;
  return row?.seconds ?? undefined;
}
