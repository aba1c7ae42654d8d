import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** What a network's indexer says about itself. */
export interface IndexerLease {
  epoch: number;
  /** Highest block it published under this epoch; null before the first. */
  publishedHeight: number | null;
  /** Latest service time at which it had published the chain's head. */
  caughtUpAt: Date | null;
}

/**
 * Takes or renews the right to apply a network's stream for `seconds` of wall time; undefined while somebody else has it.
 * The fencing number grows at each change of holder. Locks the network's lease row.
 */
export async function acquireConsumerLease(sql: Reads, lease: { networkId: string; holder: string; seconds: number }): Promise<number | undefined> {
  const [row] = await sql<{ fence: number }[]>`
    insert into consumer_leases as l (network_id, holder, fence, expires_at)
    values (${lease.networkId}, ${lease.holder}, 1, clock_timestamp() + make_interval(secs => ${lease.seconds}))
    on conflict (network_id) do update
      set holder = excluded.holder, fence = l.fence + (case when l.holder = excluded.holder then 0 else 1 end), expires_at = excluded.expires_at
      where l.holder = excluded.holder or l.expires_at < clock_timestamp()
    returning fence`;
  return row?.fence;
}

/** True when `fence` is still the current one; share-locks the lease row, so that nobody can take over before this transaction ends. */
export async function holdsConsumerLease(tx: Tx, networkId: string, fence: number): Promise<boolean> {
  const rows = await tx`select 1 from consumer_leases where network_id = ${networkId} and fence = ${fence} for share`;
  return rows.length === 1;
}

/** Gives a lease up at once, so that another worker need not wait for its end; does nothing when it was lost already. */
export async function releaseConsumerLease(sql: Reads, lease: { networkId: string; holder: string }): Promise<void> {
  await sql`update consumer_leases set expires_at = clock_timestamp() where network_id = ${lease.networkId} and holder = ${lease.holder}`;
}

/** What the network's indexer last said about itself; undefined before it first started. Takes no lock. */
export async function readIndexerLease(reads: Reads, networkId: string): Promise<IndexerLease | undefined> {
  const [row] = await reads<IndexerLease[]>`
    select epoch, published_height, caught_up_at from indexer_leases where network_id = ${networkId}`;
  return row;
}

/**
 * True unless another writer of the network's stream has begun since; share-locks the lease row, so that none begins before this
 * transaction ends, and starts from a tip that is about to move.
 */
export async function isNewestEpoch(tx: Tx, networkId: string, epoch: number): Promise<boolean> {
  const [row] = await tx<{ epoch: number }[]>`select epoch from indexer_leases where network_id = ${networkId} for share`;
  return row === undefined || epoch >= row.epoch;
}
