import type { Sighting } from '#shared/core/chain-events.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** Blocks that are read again. */
export interface Rescan {
  id: string;
  network: string;
  from: number;
  to: number;
  /** An operator asked for it, or the blocks were read by logs first (decision 0053). */
  cause: 'operator' | 'logs';
  reason: string | null;
  /** The next block to read. */
  next: number;
  /** Sightings that were new. */
  found: number;
  problem: string | null;
  requestedAt: Date;
  finishedAt: Date | null;
}

/** Asks for a rescan and answers it; the same blocks asked for again while they are still to be read are the same rescan. */
export async function insertRescan(tx: Tx, rescan: { id: string; networkId: string; from: number; to: number; reason: string | null }): Promise<Rescan> {
  await tx`
    insert into rescans (id, network_id, from_height, to_height, reason, next_height)
    values (${rescan.id}, ${rescan.networkId}, ${rescan.from}, ${rescan.to}, ${rescan.reason}, ${rescan.from})
    on conflict (network_id, from_height, to_height) where finished_at is null do nothing`;
  const [row] = await tx<[Rescan]>`
    select ${columns(tx)} from rescans r join networks n on n.id = r.network_id
    where r.network_id = ${rescan.networkId} and r.from_height = ${rescan.from} and r.to_height = ${rescan.to} and r.finished_at is null`;
  return row;
}

/**
 * Has blocks read completely that were read by logs: they are added to the rescan that ends where they begin, if it is not done. The network's tip must be
 * locked.
 */
export async function rescanAfterLogs(tx: Tx, rescan: { id: string; networkId: string; from: number; to: number }): Promise<void> {
  const { id, networkId, from, to } = rescan;
  const longer = await tx`
    update rescans r set to_height = ${to} where network_id = ${networkId} and cause = 'logs' and finished_at is null and to_height = ${from - 1}
      and not exists (
        select 1 from rescans o where o.network_id = r.network_id and o.from_height = r.from_height and o.to_height = ${to} and o.finished_at is null)
    returning 1`;
  if (longer.length > 0) return;
  await tx`
    insert into rescans (id, network_id, from_height, to_height, cause, next_height) values (${id}, ${networkId}, ${from}, ${to}, 'logs', ${from})
    on conflict (network_id, from_height, to_height) where finished_at is null do nothing`;
}

/**
 * Whether blocks that were read by logs less than a day ago are still being read completely, and nothing holds that up. Nobody who cannot read them
 * for good, such as a node that forgot them, may silence who asks. Locks nothing.
 */
export async function isReadingAfterLogs(sql: Reads, networkId: string): Promise<boolean> {
  const rows = await sql`select 1 from rescans where network_id = ${networkId} and cause = 'logs' and finished_at is null and problem is null
    and requested_at > sluice_now() - interval '1 day' limit 1`;
  return rows.length > 0;
}

/** The rescans of a network, those that are not done before others, newest first. Locks nothing. */
export async function listRescans(sql: Reads, networkId: string): Promise<Rescan[]> {
  return sql<Rescan[]>`
    select ${columns(sql)} from rescans r join networks n on n.id = r.network_id
    where r.network_id = ${networkId} order by r.finished_at is not null, r.requested_at desc, r.id limit 50`;
}

/**
 * The rescan that waits for these very blocks, those of operators before others; undefined when none does. One that cannot be read holds up no
 * other. Locks its row.
 */
export async function lockRescan(tx: Tx, networkId: string, part: { from: number; to: number }): Promise<{ id: string } | undefined> {
  const [row] = await tx<{ id: string }[]>`
    select id from rescans where network_id = ${networkId} and finished_at is null and next_height = ${part.from} and to_height >= ${part.to}
    order by cause = 'logs', requested_at, id limit 1 for update`;
  return row;
}

/** Notes how far a rescan is, and that it is done when it is. */
export async function advanceRescan(tx: Tx, id: string, done: { to: number; found: number }): Promise<void> {
  await tx`
    update rescans set next_height = ${done.to + 1}, found = found + ${done.found}, problem = null,
      finished_at = case when to_height <= ${done.to} then sluice_now() end
    where id = ${id}`;
}

/** Notes what holds a rescan up. Answers whether that is new. */
export async function setRescanProblem(tx: Tx, id: string, problem: string): Promise<boolean> {
  return (await tx`update rescans set problem = ${problem} where id = ${id} and problem is distinct from ${problem} returning id`).length === 1;
}

/** Heights among these blocks of which the books know another block than is told now; the lowest first. Locks nothing. */
export async function listContradicted(sql: Reads, networkId: string, told: readonly { height: number; hash: string }[]): Promise<number[]> {
  const rows = await sql<{ height: number }[]>`
    select distinct t.height from unnest(${told.map((one) => one.height)}::bigint[], ${told.map((one) => one.hash)}::text[]) as t (height, hash)
    where exists (select 1 from chain_blocks b where b.network_id = ${networkId} and b.height = t.height and b.canonical and b.hash <> t.hash)
      or exists (select 1 from sightings g where g.network_id = ${networkId} and g.height = t.height and g.canonical and g.block_hash <> t.hash)
    order by t.height`;
  return rows.map((row) => row.height);
}

/**
 * Positions, among these sightings, of what a wallet's opening balance has in it already, or will have once it is booked: movements of one
 * of our wallets in blocks older than its booking, or, where coins are outputs, than its watch. Booked as well, they would be the same
 * coins twice. Locks nothing.
 */
export async function listOpened(sql: Reads, networkId: string, sightings: readonly Sighting[]): Promise<Set<number>> {
  const ends = sightings.flatMap((one, at) => [
    { at, address: one.sender, contract: one.kind === 'sent' ? null : one.contract, time: one.time, height: one.height },
    ...(one.kind === 'sent' ? [] : [{ at, address: one.recipient, contract: one.contract, time: one.time, height: one.height }]),
  ]);
  if (ends.length === 0) return new Set();
  const rows = await sql<{ at: number }[]>`
    select distinct e.at::int as at
    from unnest(${ends.map((one) => one.at)}::int[], ${ends.map((one) => one.address)}::text[], ${ends.map((one) => one.contract)}::text[],
        ${ends.map((one) => one.time)}::bigint[], ${ends.map((one) => one.height)}::bigint[]) as e (at, address, contract, time, height)
      join wallets w on w.network_id = ${networkId} and w.address = e.address and w.role <> 'deposit'
      join networks n on n.id = w.network_id
      join assets a on a.network_id = w.network_id and a.contract is not distinct from e.contract
      left join watches v on v.network_id = w.network_id and v.address = w.address
      left join ledger_transactions l on l.source_key = 'opening:' || w.id || ':' || a.id
    where case when n.family = 'bitcoin' then v.watched_from is null or e.height < v.watched_from else l.at is null or to_timestamp(e.time) <= l.at end`;
  return new Set(rows.map((row) => row.at));
}

/** How many of these sightings are not stored, or only as ones that a fork took away. Locks nothing. */
export async function countUnstored(sql: Reads, networkId: string, sightings: readonly Sighting[]): Promise<number> {
  if (sightings.length === 0) return 0;
  const [row] = await sql<[{ fresh: number }]>`
    with summed as materialized (
      select s.block_hash, s.kind, p.txid, p.ordinal
      from transfer_sums s
        join sightings g on g.network_id = s.network_id and g.block_hash = s.block_hash and g.txid = s.txid and g.kind = s.kind and g.ordinal = s.ordinal
        cross join lateral unnest(s.txids, s.ordinals) p (txid, ordinal)
      where g.canonical and s.network_id = ${networkId} and s.block_hash = any(${[...new Set(sightings.map((one) => one.blockHash))]}::text[]))
    select count(*)::int as fresh
    from unnest(${sightings.map((one) => one.blockHash)}::text[], ${sightings.map((one) => one.txid)}::text[], ${sightings.map((one) => one.kind)}::text[],
      ${sightings.map((one) => (one.kind === 'sent' ? 0 : one.ordinal))}::int[]) as t (block_hash, txid, kind, ordinal)
    where not exists (
      select 1 from sightings g where g.network_id = ${networkId} and g.block_hash = t.block_hash and g.txid = t.txid and g.kind = t.kind and g.ordinal = t.ordinal and g.canonical)
      and not exists (select 1 from summed s where s.block_hash = t.block_hash and s.txid = t.txid and s.kind = t.kind and s.ordinal = t.ordinal)`;
  return row.fresh;
}

function columns(sql: Reads) {
  return sql`r.id, n.name as network, r.from_height as "from", r.to_height as "to", r.cause, r.reason, r.next_height as next, r.found, r.problem,
    r.requested_at, r.finished_at`;
}

/**
 * Asks a network's indexer to start again from the tip under an epoch above `epoch`; false when that was already asked.
 * An operator's rescan names blocks and does not count as such a request. Takes no lock: a double request is harmless.
 */
export async function requestRewind(sql: Reads, request: { networkId: string; epoch: number; reason: string }): Promise<boolean> {
  const rows = await sql`
    insert into rewind_requests (network_id, epoch, reason)
    select ${request.networkId}, ${request.epoch}, ${request.reason}
    where not exists (select 1 from rewind_requests where network_id = ${request.networkId} and epoch >= ${request.epoch} and from_height is null)
    returning id`;
  return rows.length === 1;
}
