import type { Reads } from '#shared/platform/postgres.ts';
import type { StoredNetwork } from './networks.ts';

/** A network with how far its indexer and its consumer are. */
export interface NetworkStatus extends StoredNetwork {
  /** Last block applied; null before the first one. */
  tipHeight: number | null;
  finalHeight: number | null;
  /** Highest block the node knew of. */
  headHeight: number | null;
  /** When the tip was applied, by the database clock. */
  appliedAt: Date | null;
  /** Latest service time at which the published block was the chain's head. */
  caughtUpAt: Date | null;
  /** Highest block the indexer published. */
  publishedHeight: number | null;
  /** True while an indexer holds the network's lease. */
  indexed: boolean;
  /** The lease's fencing number; 0 before the first lease. */
  epoch: number;
}

/** Lists every network with its progress, by name; locks nothing. */
export async function listNetworkStatus(sql: Reads): Promise<NetworkStatus[]> {
  return sql<NetworkStatus[]>`
    select n.id, n.name, n.family, n.chain_id as "chainId", n.genesis_hash as "genesisHash", n.native_symbol as "nativeSymbol", n.paused_at as "pausedAt",
      t.height as "tipHeight", t.final_height as "finalHeight", t.head_height as "headHeight", t.applied_at as "appliedAt",
      l.caught_up_at as "caughtUpAt", l.published_height as "publishedHeight", coalesce(l.expires_at > now(), false) as indexed, coalesce(l.epoch, 0) as epoch
    from networks n left join chain_tips t on t.network_id = n.id left join indexer_leases l on l.network_id = n.id order by n.name`;
}

/**
 * True when every network that has an indexer has applied all that was published and was seen to be at its chain's head
 * no earlier than `since` (service time); locks nothing.
 */
export async function isCaughtUp(sql: Reads, since: Date): Promise<boolean> {
  const rows = await sql`
    select 1 from indexer_leases l left join chain_tips t on t.network_id = l.network_id
    where l.expires_at > now() and (l.caught_up_at is null or l.caught_up_at < ${since} or t.height is null or t.height < l.published_height) limit 1`;
  return rows.length === 0;
}
