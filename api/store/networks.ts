import type { Family } from '#shared/core/assets.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** A chain this deployment serves, as stored. */
export interface StoredNetwork {
  id: string;
  name: string;
  family: Family;
  chainId: string;
  genesisHash: string | null;
  nativeSymbol: string;
  pausedAt: Date | null;
}

/** Reads one network by the name configuration and the API use; locks nothing. */
export async function findNetwork(sql: Reads, name: string): Promise<StoredNetwork | undefined> {
  const [row] = await sql<StoredNetwork[]>`
    select id, name, family, chain_id, genesis_hash, native_symbol, paused_at
    from networks where name = ${name}`;
  return row;
}

/** The genesis hashes that are stored of these networks, by name; one without any is left out. Locks nothing. */
export async function listGenesisHashes(sql: Reads, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await sql<{ name: string; genesisHash: string }[]>`
    select name, genesis_hash from networks where name = any(${[...names]}::text[]) and genesis_hash is not null`;
  return new Map(rows.map(({ name, genesisHash }) => [name, genesisHash]));
}

/** Adds a network or renews its ticker; family and chain id of a known name never change. Locks its row. Returns what is stored. */
export async function upsertNetwork(
  tx: Tx,
  network: { id: string; name: string; family: Family; chainId: string; nativeSymbol: string },
): Promise<StoredNetwork> {
  const [row] = await tx<StoredNetwork[]>`
    insert into networks (id, name, family, chain_id, native_symbol)
    values (${network.id}, ${network.name}, ${network.family}, ${network.chainId}, ${network.nativeSymbol})
    on conflict (name) do update set native_symbol = excluded.native_symbol
    returning id, name, family, chain_id, genesis_hash, native_symbol, paused_at`;
  return row as StoredNetwork;
}

/** Stores the chain's genesis hash at first contact and returns the stored one, which another chain will not equal. Locks the row then. */
export async function pinGenesisHash(sql: Reads, networkId: string, hash: string): Promise<string> {
  const [row] = await sql<{ genesisHash: string }[]>`
    update networks set genesis_hash = coalesce(genesis_hash, ${hash}) where id = ${networkId} returning genesis_hash`;
  return row?.genesisHash ?? hash;
}

/**
 * Says whether nobody shows what contracts pass on, so that the native coin is not offered; true when that changed. Locks
 * the row then.
 */
export async function setTracesMissing(sql: Reads, networkId: string, missing: boolean): Promise<boolean> {
  const rows = await sql`
    update networks set traces_missing_since = case when ${missing} then sluice_now() end
    where id = ${networkId} and (traces_missing_since is null) = ${missing} returning id`;
  return rows.length === 1;
}

/** Pauses or resumes a network by name; false when there is none. A second pause keeps the first moment. Locks the row. */
export async function setNetworkPaused(tx: Tx, name: string, paused: boolean): Promise<boolean> {
  const rows = await tx`
    update networks set paused_at = case when ${paused} then coalesce(paused_at, sluice_now()) end where name = ${name} returning id`;
  return rows.length === 1;
}

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
    select n.id, n.name, n.family, n.chain_id, n.genesis_hash, n.native_symbol, n.paused_at,
      t.height as "tipHeight", t.final_height, t.head_height, t.applied_at,
      l.caught_up_at, l.published_height, coalesce(l.expires_at > now(), false) as indexed, coalesce(l.epoch, 0) as epoch
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
