import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** Nobody having looked for this long, the database may be a copy that went back in time. */
export const BEAT_LASTS_SECONDS = 60;
/** How far derivation indexes jump in a history that may have lost any number of rows (architecture 3.2). */
const JUMP = 1_000_000;
/** The same after no more than a minute that nobody vouches for: more addresses than are ever given in one. */
const SHORT_JUMP = 10_000;
/** Epochs of indexers jump too: whatever they wrote in the lost time is older than all that comes. */
const EPOCH_JUMP = 1_000_000;

/** A history of the database: which one it is, and since when it is known, service time. */
export interface History {
  generation: number;
  notedAt: Date;
}

/**
 * Whether the books may be believed about one network: the database is where it was when they last matched its chain, and somebody
 * has looked within the last minute. False after a restore of any kind, a failover, a restart of Postgres, or a pause. Locks nothing.
 */
export async function isTrustedNetwork(sql: Reads, networkName: string): Promise<boolean> {
  return (await listUntrusted(sql, [networkName])).length === 0;
}

/** Those of these networks that the books are still compared with; one that nobody knows is among them. Locks nothing. */
export async function listUntrusted(sql: Reads, networkNames: readonly string[]): Promise<string[]> {
  return (await untrusted(sql, networkNames)).map((row) => row.name);
}

/** Whether there are any; a condition. */
export function isAnyUntrusted(sql: Reads, networkNames: readonly string[]): ReturnType<Reads> {
  return sql`exists (${untrusted(sql, networkNames)})`;
}

/** Their names, as a statement or a part of one. */
export function untrusted(sql: Reads, networkNames: readonly string[]) {
  return sql<{ name: string }[]>`
    select w.name from unnest(${[...networkNames]}::text[]) as w (name) where not exists (
      select 1 from networks n join database_epochs e on e.generation = n.trusted_generation
      where n.name = w.name and e.history = database_history() and ${isFresh(sql)})`;
}

/**
 * Says that the database is where it was, which keeps it trusted for another minute, and answers its history; undefined, changing nothing, when it is not or when the
 * last word is older than that: then it is a new history, to be noted. Locks the row.
 */
export async function beat(sql: Reads): Promise<History | undefined> {
  const [row] = await sql<History[]>`
    update database_epochs e set beat_at = greatest(beat_at, clock_timestamp()) where e.history = database_history() and ${isFresh(sql)}
    returning generation, noted_at`;
  return row;
}

/**
 * The same as a part of a statement, which keeps nothing either, and waits for nobody, where somebody else has the row locked at that moment.
 */
export function beating(sql: Reads): ReturnType<Reads> {
  return sql`
    update database_epochs b set beat_at = greatest(b.beat_at, clock_timestamp())
    from (select e.only_row from database_epochs e where e.history = database_history() and ${isFresh(sql)} for no key update skip locked) e
    where b.only_row = e.only_row returning b.generation, b.noted_at`;
}

/** The history that was noted last. Locks nothing. */
export async function readHistory(sql: Reads): Promise<History> {
  const [row] = await sql<[History]>`select generation, noted_at from database_epochs`;
  return row;
}

/** Whether the database is another one than was noted. Locks nothing. */
export async function isMoved(sql: Reads): Promise<boolean> {
  return (await sql`select 1 from database_epochs where history is not distinct from database_history()`).length === 0;
}

/**
 * Notes a new history unless it is noted: no network is trusted in it yet, addresses that were given in the time that may be lost are
 * never given again, and nothing that indexers wrote in that time is taken for news. Locks the row, then the indexers' leases.
 */
export async function noteHistory(tx: Tx): Promise<History & { fresh: boolean }> {
  const [was] = await tx<[History & { moved: boolean; placed: boolean; beating: boolean }]>`
    select e.generation, e.noted_at, e.history is distinct from h.now as moved, ${isFresh(tx)} as beating,
      regexp_replace(e.history, ' [^ ]+$', '') is not distinct from regexp_replace(h.now, ' [^ ]+$', '') as placed
    from database_epochs e, database_history() as h (now) for update of e`;
  if (!was.moved && was.beating) return { ...was, fresh: false };
  const [now] = await tx<[History]>`
    update database_epochs set history = database_history(), generation = generation + 1, noted_at = sluice_now(), beat_at = greatest(beat_at, clock_timestamp())
    returning generation, noted_at`;
  const near = was.placed && (was.beating || !was.moved);
  await tx`
    select setval(name::regclass, pg_sequence_last_value(name::regclass) + ${near ? SHORT_JUMP : JUMP}::bigint)
    from unnest(array['derivation_index_evm', 'derivation_index_tron', 'derivation_index_bitcoin']) as name
    where pg_sequence_last_value(name::regclass) is not null`;
  if (!near) await tx`update indexer_leases set epoch = epoch + ${EPOCH_JUMP}`;
  return { ...now, fresh: true };
}

/** Trusts the books about a network from now on, unless they are in another history by now; answers whether it does. Locks the network. */
export async function trustNetwork(tx: Tx, networkId: string, generation: number): Promise<boolean> {
  const rows = await tx`
    update networks n set trusted_generation = e.generation from database_epochs e
    where n.id = ${networkId} and e.generation = ${generation} and e.history = database_history() returning 1`;
  return rows.length === 1;
}

/** Lets one transaction at a time trust networks until it ends. Locks the row. */
export async function lockEpochs(tx: Tx): Promise<void> {
  await tx`select 1 from database_epochs for no key update`;
}

/** Tells releases that know no generations that this is the history to trust. Locks the row. */
export async function trustEpoch(tx: Tx): Promise<void> {
  await tx`
    update database_epochs set system_identifier = c.system_identifier::text, timeline = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)
    from pg_control_system() c`;
}

/** True when a network has an indexer that was at the head of its chain no earlier than `since`, and all it published is applied. Locks nothing. */
export async function isFollowed(sql: Reads, networkId: string, since: Date): Promise<boolean> {
  const rows = await sql`
    select 1 from indexer_leases l join chain_tips t on t.network_id = l.network_id
    where l.network_id = ${networkId} and l.expires_at > now() and l.caught_up_at >= ${since} and t.height >= l.published_height`;
  return rows.length === 1;
}

/**
 * Whether bytes that expire, signed no later than `since`, may still be mined while somebody is owed something that they may pay: until a
 * final block is `seconds` younger than that. Locks nothing.
 */
export async function mayStillBeMined(sql: Reads, networkId: string, { since, seconds }: { since: Date; seconds: number }): Promise<boolean> {
  const rows = await sql`
    select 1 where exists (
        select 1 from settlements s where s.network_id = ${networkId} and s.status not in ('SETTLED', 'REJECTED') and s.created_at < ${since}
        union all
        select 1 from aml_refunds r join assets a on a.id = r.asset_id where a.network_id = ${networkId} and r.status = 'ordered')
      and not exists (
        select 1 from chain_blocks b join chain_tips t on t.network_id = b.network_id
        where b.network_id = ${networkId} and b.canonical and b.height <= t.final_height and b.block_time >= ${since}::timestamptz + make_interval(secs => ${seconds}))`;
  return rows.length === 1;
}

function isFresh(sql: Reads) {
  return sql`e.beat_at > clock_timestamp() - make_interval(secs => ${BEAT_LASTS_SECONDS})`;
}

/** How many things keep cashouts from being sent, by what they stop. */
export interface DispatchStops {
  all: number;
  network: number;
  asset: number;
  /** Wallets that did something the books do not know of. */
  wallet: number;
}

/** Counts freezes and stopped wallets; locks nothing. */
export async function countDispatchStops(sql: Reads): Promise<DispatchStops> {
  const [row] = await sql<[DispatchStops]>`
    select count(*) filter (where scope = 'all') as all, count(*) filter (where scope like 'network:%') as network,
      count(*) filter (where scope like 'asset:%') as asset, (select count(*) from wallets where halted_reason is not null) as wallet
    from freezes`;
  return row;
}

/** A backup that was completed; what is older than its snapshot is in it. */
export interface StoredBackup {
  takenAt: Date;
  completedAt: Date;
  rows: number;
  /** When it was last read and found to be as it was written; null while nobody did. */
  verifiedAt: Date | null;
  /** Age of its snapshot by the database's own clock, which nobody moves. */
  ageSeconds: number;
}

/** The newest backups that were noted, newest first, at most `limit`. Locks nothing. */
export async function listBackups(sql: Reads, limit: number): Promise<StoredBackup[]> {
  return sql<StoredBackup[]>`
    select taken_at, completed_at, rows, verified_at,
      greatest(0, extract(epoch from clock_timestamp() - taken_at))::float8 as "ageSeconds"
    from backups order by taken_at desc limit ${limit}`;
}
