import type { Gateway } from '#api/deps.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** An API key with the gateway it belongs to; only the peppered hash of its secret half exists here. */
export interface StoredApiKey {
  id: string;
  secretHash: Uint8Array;
  /** Id of the pepper in the hash; null when whoever made it did not say. */
  hashedUnder: string | null;
  permissions: string[];
  lastUsedAt: Date | null;
  revokedAt: Date | null;
  gateway: Gateway;
}

/** Finds a key by its public half together with its gateway, revoked ones included; locks nothing. */
export async function findApiKey(sql: Reads, id: string): Promise<StoredApiKey | undefined> {
  const [row] = await sql<(Omit<StoredApiKey, 'gateway'> & { gatewayId: string } & Omit<Gateway, 'id'>)[]>`
    select k.id, k.secret_hash as "secretHash", k.hashed_under as "hashedUnder", k.permissions, k.last_used_at as "lastUsedAt", k.revoked_at as "revokedAt",
           g.id as "gatewayId", g.name, g.status, g.billing, g.settings
    from api_keys k join gateways g on g.id = k.gateway_id where k.id = ${id}`;
  if (row === undefined) return undefined;
  const { gatewayId, name, status, billing, settings, ...key } = row;
  return { ...key, gateway: { id: gatewayId, name, status, billing, settings } };
}

/** What an operator may see of a key. */
export interface ApiKeySummary {
  keyId: string;
  permissions: string[];
  createdAt: Date;
  lastUsedAt: Date | null;
  revokedAt: Date | null;
}

/** Lists a gateway's keys newest first; locks nothing. */
export async function listApiKeys(sql: Reads, gatewayId: string): Promise<ApiKeySummary[]> {
  return sql<ApiKeySummary[]>`
    select id as "keyId", permissions, created_at as "createdAt", last_used_at as "lastUsedAt", revoked_at as "revokedAt"
    from api_keys where gateway_id = ${gatewayId} order by created_at desc, id`;
}

/** Adds a key; locks nothing else. */
export async function insertApiKey(
  tx: Tx,
  key: { id: string; gatewayId: string; secretHash: Uint8Array; hashedUnder: string; permissions: readonly string[] },
): Promise<void> {
  await tx`
    insert into api_keys (id, gateway_id, secret_hash, hashed_under, permissions)
    values (${key.id}, ${key.gatewayId}, ${Buffer.from(key.secretHash)}, ${key.hashedUnder}, ${[...key.permissions]})`;
}

/** Puts a hash under another pepper in the place of the one that was read, unless somebody else did; locks that row for the statement. */
export async function rehashApiKey(sql: Reads, key: { id: string; from: Uint8Array; to: Uint8Array; hashedUnder: string }): Promise<void> {
  await sql`
    update api_keys set secret_hash = ${Buffer.from(key.to)}, hashed_under = ${key.hashedUnder}
    where id = ${key.id} and secret_hash = ${Buffer.from(key.from)}`;
}

/** How many keys that work are hashed under each pepper, by its id, and how many of those were ever used; null for a pepper nobody noted. Locks nothing. */
export async function countApiKeysByPepper(sql: Reads): Promise<{ key: string | null; count: number; used: number }[]> {
  return sql<{ key: string | null; count: number; used: number }[]>`
    select hashed_under as key, count(*)::int as count, count(last_used_at)::int as used from api_keys where revoked_at is null group by hashed_under`;
}

/** Revokes a gateway's key; false when it has no such working key. Locks that row. */
export async function revokeApiKey(tx: Tx, gatewayId: string, id: string): Promise<boolean> {
  const rows = await tx`update api_keys set revoked_at = now() where id = ${id} and gateway_id = ${gatewayId} and revoked_at is null returning id`;
  return rows.length === 1;
}

/** Notes an accepted use, to the minute, so that a busy key costs one write a minute. Locks that row for the statement. */
export async function touchApiKey(sql: Reads, id: string): Promise<void> {
  await sql`
    update api_keys set last_used_at = date_trunc('minute', now())
    where id = ${id} and (last_used_at is null or last_used_at < date_trunc('minute', now()))`;
}
