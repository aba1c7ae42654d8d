import type { Reads, Sql } from '#shared/platform/postgres.ts';

/**
 * How long an indexer that says nothing keeps others out while its sessions at Postgres live on: one that hangs, or a host that is cut off. One whose
 * process ended has no session any more, and keeps nobody out. Nothing rests on it: the epoch is what fences a late writer.
 */
export const LEASE_SECONDS = 15;
/** Leaves room for one renewal that fails. */
export const RENEW_MS = 5_000;

/** How far the holder has come, written with each renewal. */
export interface Progress {
  publishedHeight: number | null;
  /** Seconds since the published block was known to be the chain's head; null when it never was in this epoch. */
  caughtUpSecondsAgo: number | null;
}

/**
 * Takes the right to write a network's stream, under an epoch that no one had before. Progress starts anew: what an
 * earlier epoch published may have been lost on the way.
 * Answers undefined while another process holds it, unless that is `gone`: a holder whose process has ended. Locks the lease row; the only table
 * an indexer writes.
 */
export async function acquireLease(sql: Sql, networkId: string, holder: string, gone: string | null = null): Promise<number | undefined> {
  const [row] = await sql<{ epoch: number }[]>`
    insert into indexer_leases as l (network_id, holder, epoch, expires_at)
    values (${networkId}, ${holder}, 1, clock_timestamp() + make_interval(secs => ${LEASE_SECONDS}))
    on conflict (network_id) do update
      set holder = excluded.holder, epoch = l.epoch + 1, expires_at = excluded.expires_at, published_height = null, caught_up_at = null
      where l.holder = excluded.holder or l.expires_at < clock_timestamp() or l.holder = ${gone}
    returning epoch`;
  return row?.epoch;
}

/**
 * Who holds the lease without any session at Postgres: a process that ended, or one that is just opening a session anew, so ask twice. Null while its
 * process is connected, and for a name that no session bears (decision 0056). Locks nothing.
 */
export async function readAbsentHolder(sql: Sql, networkId: string): Promise<string | null> {
  const [row] = await sql<{ holder: string }[]>`
    select l.holder from indexer_leases l
    where l.network_id = ${networkId} and split_part(l.holder, ':', 3) ~ '^[0-9a-f]{8}-' and not exists (
      select 1 from pg_stat_activity a
      where a.datname = current_database() and a.application_name like 'sluice-indexer ' || left(split_part(l.holder, ':', 3), 8) || ' %')`;
  return row?.holder ?? null;
}

/** What Postgres wants of the indexer. */
export interface Pulse {
  /** False when another process has taken the lease. */
  held: boolean;
  /** The last message of this epoch that the consumer applied; 0 before the first. */
  appliedSeq: number;
  /** Addresses whose watch nobody acknowledged yet, found by state and never by a moving id; the rest of very many come later. */
  unacked: string[];
  /** Why this epoch must be given up, if anybody asked for it. */
  rewind: string | null;
  /** Whether blocks are to be read again. */
  rescan: boolean;
  /** Service time. */
  now: Date;
}

/** Most unacknowledged addresses looked at in one go; the rest come right after. */
const UNACKED_AT_ONCE = 20_000;

/**
 * Keeps the lease, reports progress, and reads what there is to do, in one statement: what asks four questions each time asks a hundred times a minute
 * for nothing. With `reading` it also notes what is about to be read, and does not wait for Postgres to have that on disk. Locks the lease row.
 */
export async function takePulse(sql: Reads, lease: { networkId: string; holder: string; epoch: number }, progress: Progress, reading?: string): Promise<Pulse> {
  const { networkId, epoch } = lease;
  const [row] = await sql<[Pulse]>`
    with renewed as (${renewal(sql, lease, progress, reading)})
    select exists (select 1 from renewed) as held,
      coalesce((select seq from chain_tips where network_id = ${networkId} and epoch = ${epoch}), 0) as "appliedSeq",
      array(select address from watches where network_id = ${networkId} and acked_epoch is null order by created_at limit ${UNACKED_AT_ONCE}) as unacked,
      (select reason from rewind_requests where network_id = ${networkId} and epoch >= ${epoch} order by epoch desc, id desc limit 1) as rewind,
      exists (select 1 from rescans where network_id = ${networkId} and finished_at is null) as rescan, sluice_now() as now`;
  return row;
}

/** Keeps the lease and reports progress, a row when it is still held: a statement, or a part of one. */
function renewal(
  sql: Reads,
  { networkId, holder, epoch }: { networkId: string; holder: string; epoch: number },
  progress: Progress,
  reading?: string,
): ReturnType<Reads> {
  return sql`
    update indexer_leases
    set ${reading === undefined ? sql`` : sql`reading = ${reading}::text::jsonb,`} expires_at = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS}),
        published_height = ${progress.publishedHeight},
        caught_up_at = greatest(caught_up_at, sluice_now() - make_interval(secs => ${progress.caughtUpSecondsAgo}))
    where network_id = ${networkId} and holder = ${holder} and epoch = ${epoch}
      ${reading === undefined ? sql`` : sql`and (select set_config('synchronous_commit', 'off', true)) is not null`}
    returning 1`;
}

/** Keeps the lease and reports progress; false when another process has taken it. Locks the lease row. */
async function renewLease(sql: Sql, networkId: string, holder: string, epoch: number, progress: Progress): Promise<boolean> {
  return (await renewal(sql, { networkId, holder, epoch }, progress)).length === 1;
}

/**
 * Does what an epoch begins with while the lease is kept, however long it takes: a standby would take it away every few seconds
 * from whoever has many addresses to load, and lose it in the same way.
 * @throws when another process has taken it all the same
 */
export async function whileHeld<T>(
  sql: Sql,
  { networkId, holder, epoch }: { networkId: string; holder: string; epoch: number },
  { signal, work }: { signal: AbortSignal; work(): Promise<T> },
): Promise<T> {
  let lost = false;
  const renew = async (): Promise<void> => {
    if (signal.aborted) return;
    lost ||= !(await renewLease(sql, networkId, holder, epoch, { publishedHeight: null, caughtUpSecondsAgo: null }));
  };
  // A failed renewal is retried at the next turn; if the lease was lost meanwhile, that retry says so.
  const timer = setInterval(() => void renew().catch(() => undefined), RENEW_MS);
  try {
    const result = await work();
    if (lost) throw new Error('another indexer holds the lease');
    return result;
  } finally {
    clearInterval(timer);
  }
}

/** Lets another process take over at once; does nothing when one already has. Locks the lease row. */
export async function releaseLease(sql: Sql, networkId: string, holder: string): Promise<void> {
  await sql`update indexer_leases set expires_at = clock_timestamp() where network_id = ${networkId} and holder = ${holder}`;
}
