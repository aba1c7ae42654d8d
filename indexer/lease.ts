import type { Sql } from '#shared/platform/postgres.ts';

/** How long a dead indexer keeps others out. Nothing rests on it: the epoch is what fences a late writer. */
export const LEASE_SECONDS = 4;
const RENEW_MS = 1_000;

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
  // One that fails is tried again a second later; whether it came too late the next one tells.
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
