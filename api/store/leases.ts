import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** What a network's indexer says about itself. */
export interface IndexerLease {
  epoch: number;
  /** Highest block it published under this epoch; null before the first. */
  publishedHeight: number | null;
  /** Latest service time at which it had published the chain's head. */
  caughtUpAt: Date | null;
}

/** Networks whose streams this process may apply, with their fencing numbers, and who holds others without any session at Postgres. */
export interface ConsumerTerms {
  held: { networkId: string; fence: number }[];
  absent: string[];
}

/**
 * Takes or renews the right to apply these networks' streams for `seconds` of wall time, as far as nobody else has it, or only somebody who is absent and was
 * before (`gone`). A fencing number grows at each change of holder. A lease that a transaction leans on right now is left as it is, so that a block which takes long to
 * be applied holds up no other network; nobody else can take it either. Nor is a row that is there inserted, which would wait for one that is being renewed. Who is absent may just be opening a session anew, so ask twice (decision 0096).
 * Locks the lease rows, for the statement.
 */
export async function acquireConsumerLeases(
  sql: Reads,
  { networkIds, holder, seconds, gone = [] }: { networkIds: readonly string[]; holder: string; seconds: number; gone?: readonly string[] },
): Promise<ConsumerTerms> {
  const [row] = await sql<[ConsumerTerms]>`
    with absent as materialized (
      select distinct l.holder from consumer_leases l
      where l.network_id = any(${[...networkIds]}::uuid[]) and l.holder <> ${holder} and l.holder ~ '^api:[0-9a-f]{8}-' and l.expires_at > clock_timestamp()
        and not exists (
          select 1 from pg_stat_activity a
          where a.datname = current_database() and a.application_name like 'sluice-api % ' || substr(l.holder, 5, 8) || ' %')),
    made as (
      insert into consumer_leases (network_id, holder, fence, expires_at)
      select id, ${holder}, 1, clock_timestamp() + make_interval(secs => ${seconds}) from unnest(${[...networkIds]}::uuid[]) as n (id)
      where not exists (select 1 from consumer_leases l where l.network_id = n.id) order by id
      on conflict do nothing returning network_id, fence),
    free as (
      select network_id from consumer_leases
      where network_id = any(${[...networkIds]}::uuid[]) and (
        holder = ${holder} or expires_at < clock_timestamp() or holder = any(${[...gone]}::text[]) and holder in (select holder from absent))
      order by network_id for update skip locked),
    taken as (
      update consumer_leases l
      set holder = ${holder}, fence = l.fence + (case when l.holder = ${holder} then 0 else 1 end), expires_at = clock_timestamp() + make_interval(secs => ${seconds})
      from free f where l.network_id = f.network_id returning l.network_id, l.fence)
    select coalesce((select json_agg(json_build_object('networkId', network_id, 'fence', fence)) from (select * from made union all select * from taken) h), '[]') as held,
      array(select holder from absent) as absent`;
  return row;
}

/**
 * True when `fence` is still the current one; locks the lease row, shared, so that nobody can take over before this transaction ends. With `seconds` it renews the lease for so
 * long, and nobody else can lean on it meanwhile.
 */
export async function holdsConsumerLease(tx: Tx, networkId: string, fence: number, seconds?: number): Promise<boolean> {
  const rows =
    seconds === undefined
      ? await tx`select 1 from consumer_leases where network_id = ${networkId} and fence = ${fence} for share`
      : await tx`
          update consumer_leases set expires_at = clock_timestamp() + make_interval(secs => ${seconds})
          where network_id = ${networkId} and fence = ${fence} returning 1`;
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
