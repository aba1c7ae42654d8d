import { type Coins, formatAmount, parseTrusted } from '#shared/core/money.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import { isUnexplained, unknownOutgoing } from './adopted.ts';
import { beating, type History, untrusted } from './database-epoch.ts';

/** The last comparison of the books with the chain, of one asset. */
export interface Reconciliation {
  assetId: string;
  /** The applied block both sides were taken at. */
  height: number;
  /** What the chain said minus what the books said. */
  difference: Coins;
  /** Block of the first of an unbroken run of readings that miss coins; null while none are missing. */
  shortSince: number | null;
  /** How much may be missing because an operator accepted it. */
  accepted: Coins;
}

/** How Postgres tells one of them. */
export type StoredReconciliation = Omit<Reconciliation, 'difference' | 'accepted'> & { difference: string; accepted: string };

/** The last comparison of one asset, as a part of a statement; null where it never was compared. */
export function storedReconciliation(reads: Reads, assetId: ReturnType<Reads>): ReturnType<Reads> {
  return reads`(
    select json_build_object('assetId', r.asset_id, 'height', r.height, 'difference', r.difference::text, 'shortSince', r.short_since, 'accepted', r.accepted_shortage::text)
    from reconciliations r where r.asset_id = ${assetId})`;
}

/** The same as comparisons are worked with. */
export function fromStored(row: StoredReconciliation): Reconciliation {
  return { ...row, difference: parseTrusted(row.difference), accepted: parseTrusted(row.accepted) };
}

/** The last comparisons of assets; none of those that were never compared. Locks nothing. */
export async function listReconciliations(sql: Reads, assetIds: readonly string[]): Promise<ReadonlyMap<string, Reconciliation>> {
  return byAsset(await sql<StoredReconciliation[]>`${reconciliations(sql, assetIds)}`);
}

/** Reads them and locks their rows until commit, in the order of their ids. */
export async function lockReconciliations(tx: Tx, assetIds: readonly string[]): Promise<ReadonlyMap<string, Reconciliation>> {
  return byAsset(await tx<StoredReconciliation[]>`${reconciliations(tx, assetIds)} order by asset_id for update`);
}

function reconciliations(sql: Reads, assetIds: readonly string[]) {
  return sql`
    select asset_id, height, difference, short_since, accepted_shortage as accepted
    from reconciliations where asset_id = any(${[...assetIds]}::uuid[])`;
}

function byAsset(rows: readonly StoredReconciliation[]): ReadonlyMap<string, Reconciliation> {
  return new Map(rows.map((row) => [row.assetId, fromStored(row)]));
}

/** Writes the comparisons that are the last ones now. What was accepted stays, less what is there again: it covers no later loss. Locks their rows, in the order of the assets' ids. */
export async function upsertReconciliations(
  tx: Tx,
  readings: readonly { assetId: string; height: number; difference: Coins; shortSince: number | null }[],
): Promise<void> {
  await tx`
    insert into reconciliations (asset_id, height, difference, short_since)
    select * from unnest(
      ${readings.map((r) => r.assetId)}::uuid[], ${readings.map((r) => r.height)}::bigint[], ${readings.map((r) => formatAmount(r.difference))}::text[]::numeric[],
      ${readings.map((r) => r.shortSince)}::bigint[]) as r (asset_id, height, difference, short_since) order by asset_id
    on conflict (asset_id) do update
      set height = excluded.height, difference = excluded.difference, short_since = excluded.short_since, read_at = sluice_now(),
        accepted_shortage = least(reconciliations.accepted_shortage, greatest(-excluded.difference, 0))`;
}

/** A comparison that takes the place of the one before it, and the version of the readings it goes with; null where coins are outputs. */
export interface Replacement {
  assetId: string;
  height: number;
  difference: Coins;
  shortSince: number | null;
  was: Reconciliation;
  version: number | null;
}

/**
 * Writes all of these comparisons in the place of those they were judged by, and that their readings were used; nothing at all, and false, where somebody judged, accepted or kept
 * something of any of them since. Locks their rows, in the order of the assets' ids, then the sums of what is kept.
 */
export async function replaceReconciliations(sql: Reads, all: readonly Replacement[]): Promise<boolean> {
  const [row] = await sql<[{ same: boolean }]>`
    with given as (
      select * from unnest(
        ${all.map((r) => r.assetId)}::uuid[], ${all.map((r) => r.height)}::bigint[], ${all.map((r) => formatAmount(r.difference))}::text[]::numeric[],
        ${all.map((r) => r.shortSince)}::bigint[], ${all.map((r) => r.version)}::bigint[], ${all.map((r) => r.was.height)}::bigint[],
        ${all.map((r) => formatAmount(r.was.difference))}::text[]::numeric[], ${all.map((r) => r.was.shortSince)}::bigint[],
        ${all.map((r) => formatAmount(r.was.accepted))}::text[]::numeric[])
        as g (asset_id, height, difference, short_since, version, was_height, was_difference, was_short_since, was_accepted)),
    judged as materialized (
      select r.asset_id from reconciliations r join given g on g.asset_id = r.asset_id
      where r.height = g.was_height and r.difference = g.was_difference and r.short_since is not distinct from g.was_short_since and r.accepted_shortage = g.was_accepted
      order by r.asset_id for update of r),
    kept as materialized (
      select s.asset_id from (select count(*) from judged) j cross join kept_sums s join given g on g.asset_id = s.asset_id and g.version = s.version
      order by s.asset_id for update of s),
    still as materialized (
      select (select count(*) from judged) = count(*) and (select count(*) from kept) = count(version) as same from given),
    used as (update kept_sums s set version = s.version + 1 from kept k, still where s.asset_id = k.asset_id and still.same),
    written as (
      update reconciliations r
      set height = g.height, difference = g.difference, short_since = g.short_since, read_at = sluice_now(), accepted_shortage = least(r.accepted_shortage, greatest(-g.difference, 0))
      from given g, still where r.asset_id = g.asset_id and still.same)
    select same from still`;
  return row.same;
}

/**
 * Accepts what is missing right now of the assets of a freeze's scope, so that only more of it freezes again; answers them.
 * Locks those rows.
 */
export async function acceptShortages(tx: Tx, scope: string): Promise<{ assetId: string; shortage: string }[]> {
  return tx<{ assetId: string; shortage: string }[]>`
    update reconciliations r set accepted_shortage = -r.difference, short_since = null
    from assets a join networks n on n.id = a.network_id
    where a.id = r.asset_id and r.short_since is not null and -r.difference > r.accepted_shortage
      and ${scope} in ('all', 'network:' || n.name, 'asset:' || a.id)
    returning r.asset_id, trim_scale(r.accepted_shortage::numeric)::text as shortage`;
}

/** What gateways are owed of an asset, by pool, and what is kept for nobody yet; decimal texts for gauges. */
export interface Liabilities {
  green: string;
  held: string;
  unallocated: string;
}

/** Of all assets; those of which nothing is owed are left out. */
function liabilities(sql: Reads): ReturnType<Reads> {
  return sql`
    select l.asset_id as "assetId", coalesce(sum(l.balance) filter (where l.gateway_id is not null and not h.held), 0)::text as green,
      coalesce(sum(l.balance) filter (where l.gateway_id is not null and h.held), 0)::text as held,
      coalesce(sum(l.balance) filter (where l.kind = 'unallocated'), 0)::text as unallocated
    from ledger_accounts l left join settlements s on s.id = l.settlement_id
      cross join lateral (select l.kind not in ('pending', 'available', 'reserved') or coalesce(s.pool = 'held', false) as held) h
    where l.balance <> 0 group by l.asset_id`;
}

/** A transaction from an address of ours that no stored bytes explain, and that nobody has looked at yet. */
export interface UnknownOutgoing {
  id: number;
  networkId: string;
  address: string;
  txid: string;
}

/**
 * Transactions from addresses of ours on the canonical chain that no stored bytes explain (A15), whether or not their wallet
 * was halted for them, except those that dispatch was frozen for before; oldest first, at most a hundred of each of these networks. Locks nothing.
 */
export async function listUnreviewedOutgoing(sql: Reads, networkIds: readonly string[]): Promise<UnknownOutgoing[]> {
  return sql<UnknownOutgoing[]>`${unreviewedOutgoing(sql, networkIds)} order by o.id`;
}

function unreviewedOutgoing(sql: Reads, networkIds: readonly string[]): ReturnType<Reads> {
  return sql`
    select o.id, o.network_id as "networkId", o.sender as address, o.txid from networks n cross join lateral (
      select g.id, g.network_id, g.sender, g.txid from (${unknownOutgoing(sql)}) g where g.network_id = n.id and g.id > n.outgoing_reviewed order by g.id limit 100) o
    where n.id = any(${[...networkIds]}::uuid[])`;
}

/** What a comparison of networks with their chains begins with. */
export interface Outset {
  /** The history of the database, which is kept by this; undefined where it is to be noted first, or somebody else has it in hand. */
  history: History | undefined;
  /** Names of the networks that are not trusted. */
  untrusted: string[];
  /** As `listUnreviewedOutgoing` lists them. */
  unknown: UnknownOutgoing[];
  /** What is owed of each asset of which anything is, by its id. */
  owed: ReadonlyMap<string, Liabilities>;
}

/** Reads it of some networks in one statement, by which the history is kept. Locks the history, unless somebody else has. */
export async function readOutset(sql: Reads, networks: readonly { id: string; name: string }[]): Promise<Outset> {
  const [{ owed, generation, notedAt, ...rest }] = await sql<
    [Omit<Outset, 'owed' | 'history'> & { owed: (Liabilities & { assetId: string })[]; generation: number | null; notedAt: Date | null }]
  >`
    with beaten as (${beating(sql)})
    select (select generation from beaten) as generation, (select noted_at from beaten) as "notedAt", array(${untrusted(
      sql,
      networks.map(({ name }) => name),
    )}) as untrusted, (select coalesce(json_agg(u order by u.id), '[]') from (${unreviewedOutgoing(
      sql,
      networks.map(({ id }) => id),
    )}) u) as unknown, (select coalesce(json_agg(l), '[]') from (${liabilities(sql)}) l) as owed`;
  const history = generation === null || notedAt === null ? undefined : { generation, notedAt };
  return { ...rest, history, owed: new Map(owed.map(({ assetId, ...of }) => [assetId, of])) };
}

/** Those among transaction ids that no stored bytes explain. Locks nothing. */
export async function listUnknownTxids(sql: Reads, txids: readonly string[]): Promise<string[]> {
  const rows = await sql<{ txid: string }[]>`
    select distinct x.txid from unnest(${[...txids]}::text[]) as x (txid) where ${isUnexplained(sql, sql`x.txid`)}`;
  return rows.map((row) => row.txid);
}

/** Notes that dispatch was frozen for every unknown transaction up to this sighting. Locks the network. */
export async function markOutgoingReviewed(tx: Tx, networkId: string, sightingId: number): Promise<void> {
  await tx`update networks set outgoing_reviewed = greatest(outgoing_reviewed, ${sightingId}) where id = ${networkId}`;
}

/** An address of ours whose native balance is to be compared with what was seen of it. */
export interface AddressToLookAt {
  address: string;
  /** The payment that owns it; null for a wallet. */
  paymentId: string | null;
  /** Last block after which everything was explained: that of an earlier look, or the one before it was watched. */
  cleanHeight: number;
  /** What is known to be unexplained; null when nothing is. */
  openAmount: bigint | null;
}

/**
 * Addresses with blind blocks up to `height` since their last look: wallets whose opening balance is booked, and the
 * addresses of payments that are open or came to rest less than `closedSeconds` ago. Those with something unexplained are
 * always among them. The longest not looked at first; locks nothing.
 */
export async function listAddressesToLookAt(
  reads: Reads,
  networkId: string,
  by: { height: number; closedSeconds: number; limit: number },
): Promise<AddressToLookAt[]> {
  const rows = await reads<(Omit<AddressToLookAt, 'openAmount'> & { openAmount: string | null })[]>`
    with ours as (
      select w.address, null::uuid as payment_id, false as always from wallets w
      where w.network_id = ${networkId} and w.role <> 'deposit' and exists (
        select 1 from ledger_transactions t join assets a on a.network_id = w.network_id and a.contract is null where t.source_key = 'opening:' || w.id || ':' || a.id)
      union all
      select d.address, d.payment_id, false from deposit_addresses d join payments p on p.id = d.payment_id
      where not p.sandbox and (p.status = 'PENDING' or greatest(p.expires_at, p.resolved_at) > sluice_now() - make_interval(secs => ${by.closedSeconds}))
      union all
      select u.address, u.payment_id, true from unexplained_balances u where u.network_id = ${networkId} and u.resolved_at is null
    )
    select o.address, (array_agg(o.payment_id) filter (where o.payment_id is not null))[1] as "paymentId",
      coalesce(max(l.explained_height), max(v.watched_from) - 1) as "cleanHeight", max(u.raw_amount)::text as "openAmount"
    from ours o join watches v on v.network_id = ${networkId} and v.address = o.address and v.watched_from <= ${by.height}
    left join balance_looks l on l.network_id = ${networkId} and l.address = o.address
    left join unexplained_balances u on u.network_id = ${networkId} and u.address = o.address and u.resolved_at is null
    where u.id is not null or exists (
      select 1 from blind_blocks b where b.network_id = ${networkId} and b.to_height > coalesce(l.height, v.watched_from - 1) and b.from_height <= ${by.height})
    group by o.address order by max(l.height) nulls first, o.address limit ${by.limit}`;
  return rows.map((row) => ({ ...row, openAmount: row.openAmount === null ? null : BigInt(row.openAmount) }));
}

/**
 * Native units each address should hold after block `height` by what was seen of it: what a wallet opened with, what came,
 * less what it sent and what its own transactions cost. Locks nothing.
 */
export async function sumSeen(reads: Reads, networkId: string, addresses: readonly string[], height: number): Promise<ReadonlyMap<string, bigint>> {
  const rows = await reads<{ address: string; seen: string }[]>`
    select o.address, (
      coalesce((select sum(s.raw_amount::numeric) from sightings s where s.network_id = ${networkId} and s.recipient = o.address and s.canonical
        and s.height <= ${height} and s.kind <> 'sent' and s.contract is null), 0)
      - coalesce((select sum(coalesce(s.raw_fee::numeric, s.raw_amount::numeric)) from sightings s where s.network_id = ${networkId} and s.sender = o.address and s.canonical
        and s.height <= ${height} and s.contract is null), 0)
      + coalesce((select trunc(-sum(e.amount) * power(10::numeric, a.decimals)) from wallets w join assets a on a.network_id = w.network_id and a.contract is null
        join ledger_transactions t on t.source_key = 'opening:' || w.id || ':' || a.id join ledger_entries e on e.transaction_id = t.id
        join ledger_accounts c on c.id = e.account_id and c.kind = 'chain' where w.network_id = ${networkId} and w.address = o.address group by a.decimals), 0)
      )::text as seen
    from unnest(${[...addresses]}::text[]) as o (address)`;
  return new Map(rows.map((row) => [row.address, BigInt(row.seen)]));
}

/** Notes a look that found everything explained, and resolves what was not before; true when something was. */
export async function noteExplained(tx: Tx, networkId: string, address: string, height: number): Promise<boolean> {
  await noteLook(tx, networkId, address, height, height);
  const rows = await tx`
    update unexplained_balances set resolved_at = sluice_now() where network_id = ${networkId} and address = ${address} and resolved_at is null returning 1`;
  return rows.length > 0;
}

export interface Unexplained {
  id: string;
  networkId: string;
  address: string;
  paymentId: string | null;
  rawAmount: bigint;
  fromHeight: number;
  toHeight: number;
}

/** Notes a look that found something unexplained: a new row, or a new amount in the one there is. */
export async function noteUnexplained(tx: Tx, found: Unexplained, height: number): Promise<void> {
  await noteLook(tx, found.networkId, found.address, height, null);
  await tx`
    insert into unexplained_balances as old (id, network_id, address, payment_id, raw_amount, from_height, to_height)
    values (${found.id}, ${found.networkId}, ${found.address}, ${found.paymentId}, ${found.rawAmount.toString()}::text::numeric, ${found.fromHeight}, ${found.toHeight})
    on conflict (network_id, address) where resolved_at is null do update set raw_amount = excluded.raw_amount,
      to_height = case when old.raw_amount = excluded.raw_amount then old.to_height else greatest(old.to_height, ${height}) end`;
}

/** Notes a look that explained nothing either way. */
export async function noteLook(tx: Reads, networkId: string, address: string, height: number, explainedHeight: number | null): Promise<void> {
  await tx`
    insert into balance_looks as old (network_id, address, height, explained_height) values (${networkId}, ${address}, ${height}, ${explainedHeight})
    on conflict (network_id, address) do update set height = excluded.height, explained_height = coalesce(excluded.explained_height, old.explained_height)`;
}

/** How many addresses hold something unexplained, by network id; networks without any are left out. */
export async function countUnexplained(reads: Reads): Promise<ReadonlyMap<string, number>> {
  const rows = await reads<{ networkId: string; count: number }[]>`
    select network_id, count(*)::int as count from unexplained_balances where resolved_at is null group by network_id`;
  return new Map(rows.map((row) => [row.networkId, row.count]));
}

/** What the books say of one asset: what its addresses hold, what of that is owed, and how the last look at the chain compared. Decimal texts. */
export interface Position {
  assetId: string;
  symbol: string;
  network: string;
  /** What our addresses hold by the books. */
  held: string;
  /** What gateways may cash out or have claimed, of the green pool and of the held one. */
  green: string;
  heldPool: string;
  /** What is kept for nobody yet. */
  unallocated: string;
  /** Chain less books at the last comparison; null before the first. */
  difference: string | null;
  /** What may be missing because an operator accepted it. */
  accepted: string | null;
  height: number | null;
  readAt: Date | null;
}

/**
 * Every asset that is in the books, by network and ticker. Reads the accounts that stand, and of cashouts those that are not over, by their status; locks nothing.
 */
export async function listPositions(sql: Reads): Promise<Position[]> {
  return sql<Position[]>`
    with accounts as (
      select asset_id, kind, gateway_id, balance, false as of_held from ledger_accounts where kind <> 'reserved' and balance <> 0
      union all
      select l.asset_id, l.kind, l.gateway_id, l.balance, s.pool = 'held' from settlements s join ledger_accounts l on l.settlement_id = s.id
      where s.status in ('PENDING_APPROVAL', 'REQUESTED', 'PROCESSING') and l.balance <> 0),
    sums as (
      select asset_id, -coalesce(sum(balance) filter (where kind = 'chain'), 0) as held,
        coalesce(sum(balance) filter (where gateway_id is not null and kind in ('pending', 'available', 'reserved') and not of_held), 0) as green,
        coalesce(sum(balance) filter (where gateway_id is not null and (kind not in ('pending', 'available', 'reserved') or of_held)), 0) as held_pool,
        coalesce(sum(balance) filter (where kind = 'unallocated'), 0) as unallocated
      from accounts group by asset_id)
    select a.id as "assetId", a.symbol, n.name as network, trim_scale(u.held)::text as held, trim_scale(u.green)::text as green,
      trim_scale(u.held_pool)::text as "heldPool", trim_scale(u.unallocated)::text as unallocated,
      trim_scale(r.difference::numeric)::text as difference, trim_scale(r.accepted_shortage::numeric)::text as accepted, r.height, r.read_at as "readAt"
    from sums u join assets a on a.id = u.asset_id join networks n on n.id = a.network_id left join reconciliations r on r.asset_id = a.id
    order by n.name, a.symbol`;
}
