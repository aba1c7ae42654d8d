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
    select id, name, family, chain_id as "chainId", genesis_hash as "genesisHash", native_symbol as "nativeSymbol", paused_at as "pausedAt"
    from networks where name = ${name}`;
  return row;
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
    returning id, name, family, chain_id as "chainId", genesis_hash as "genesisHash", native_symbol as "nativeSymbol", paused_at as "pausedAt"`;
  return row as StoredNetwork;
}

/** Stores the chain's genesis hash at first contact and returns the stored one, which another chain will not equal. Locks the row then. */
export async function pinGenesisHash(sql: Reads, networkId: string, hash: string): Promise<string> {
  const [row] = await sql<{ genesisHash: string }[]>`
    update networks set genesis_hash = coalesce(genesis_hash, ${hash}) where id = ${networkId} returning genesis_hash as "genesisHash"`;
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
