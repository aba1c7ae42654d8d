import type { Sql } from '#shared/platform/postgres.ts';

/** How long a dead indexer keeps others out. Nothing rests on it: the epoch is what fences a late writer. */
export const LEASE_SECONDS = 4;

/** How far the holder has come, written with each renewal. */
export interface Progress {
  publishedHeight: number | null;
  /** Seconds since the published block was known to be the chain's head; null when it never was in this epoch. */
  caughtUpSecondsAgo: number | null;
}

/**
 * Takes the right to write a network's stream, under an epoch that no one had before. Progress starts anew: what an
 * earlier epoch published may have been lost on the way.
 * Answers undefined while another process holds it. Locks the lease row; the only table an indexer writes.
 */
export async function acquireLease(sql: Sql, networkId: string, holder: string): Promise<number | undefined> {
  const [row] = await sql<{ epoch: number }[]>`
    insert into indexer_leases as l (network_id, holder, epoch, expires_at)
    values (${networkId}, ${holder}, 1, clock_timestamp() + make_interval(secs => ${LEASE_SECONDS}))
    on conflict (network_id) do update
      set holder = excluded.holder, epoch = l.epoch + 1, expires_at = excluded.expires_at, published_height = null, caught_up_at = null
      where l.holder = excluded.holder or l.expires_at < clock_timestamp()
    returning epoch`;
  return row?.epoch;
}

/** Keeps the lease and reports progress; false when another process has taken it. Locks the lease row. */
export async function renewLease(sql: Sql, networkId: string, holder: string, epoch: number, progress: Progress): Promise<boolean> {
  const rows = await sql`
    update indexer_leases
    set expires_at = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS}),
        published_height = ${progress.publishedHeight},
        caught_up_at = greatest(caught_up_at, sluice_now() - make_interval(secs => ${progress.caughtUpSecondsAgo}))
    where network_id = ${networkId} and holder = ${holder} and epoch = ${epoch}
    returning 1`;
  return rows.length === 1;
}

/** Lets another process take over at once; does nothing when one already has. Locks the lease row. */
export async function releaseLease(sql: Sql, networkId: string, holder: string): Promise<void> {
  await sql`update indexer_leases set expires_at = clock_timestamp() where network_id = ${networkId} and holder = ${holder}`;
}
