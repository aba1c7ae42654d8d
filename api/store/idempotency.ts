import { POLICY } from '#shared/core/policy.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** What makes two requests the same one: gateway × operation × key (decisions 8). */
export interface IdempotencyScope {
  gatewayId: string;
  operation: string;
  key: string;
}

export interface StoredReply {
  fingerprint: Uint8Array;
  status: number;
  /** The response, byte for byte. */
  body: string;
}

/** The first request with this key is still being worked on. */
export class KeyInUse extends Error {}

/** What tells a key from all others. */
export function nameOfScope({ gatewayId, operation, key }: IdempotencyScope): string {
  return `${gatewayId} ${operation} ${key}`;
}

/** The key that a name of it says. */
export function scopeOf(name: string): IdempotencyScope {
  const [gatewayId = '', operation = '', ...key] = name.split(' ');
  return { gatewayId, operation, key: key.join(' ') };
}

/** The replies kept under keys, by `nameOfScope`; those of which none was committed are left out. Locks nothing. */
export async function findStoredReplies(sql: Reads, scopes: readonly IdempotencyScope[]): Promise<Map<string, StoredReply>> {
  const rows = await sql<(IdempotencyScope & StoredReply)[]>`
    select gateway_id, operation, key, fingerprint, status, body from idempotency_keys where (gateway_id, operation, key) in (
      select * from unnest(${scopes.map((one) => one.gatewayId)}::uuid[], ${scopes.map((one) => one.operation)}::text[], ${scopes.map((one) => one.key)}::text[]))`;
  return new Map(rows.map(({ fingerprint, status, body, ...scope }) => [nameOfScope(scope), { fingerprint, status, body }]));
}

/**
 * Takes a key for this transaction. A duplicate still in flight is waited for, for at most POLICY.idempotencyWaitMs (decisions 8).
 * Locks the key until commit. False when the key already has a committed reply.
 * @throws KeyInUse when the wait was in vain
 */
export async function takeKey(tx: Tx, scope: IdempotencyScope, fingerprint: Uint8Array): Promise<boolean> {
  try {
    // Sent together; one connection runs them in this order.
    const [, rows] = await Promise.all([
      tx`select set_config('lock_timeout', ${`${POLICY.idempotencyWaitMs}ms`}, true)`,
      tx`
        insert into idempotency_keys (gateway_id, operation, key, fingerprint)
        values (${scope.gatewayId}, ${scope.operation}, ${scope.key}, ${fingerprint})
        on conflict do nothing returning 1`,
      tx`set local lock_timeout to default`,
    ]);
    return rows.length === 1;
  } catch (error) {
    throw (error as { code?: unknown }).code === '55P03' ? new KeyInUse() : error;
  }
}

/** Keeps the reply beside the effect, in the effect's own transaction. */
export async function storeReply(tx: Tx, scope: IdempotencyScope, reply: { status: number; body: string; resourceId: string | null }): Promise<void> {
  await tx`
    update idempotency_keys set status = ${reply.status}, body = ${reply.body}, resource_id = ${reply.resourceId}
    where gateway_id = ${scope.gatewayId} and operation = ${scope.operation} and key = ${scope.key}`;
}

/** Keeps a reply under a key whose request nobody has any more; false when the key has one already. */
export async function insertReply(
  tx: Tx,
  scope: IdempotencyScope,
  reply: { fingerprint: Uint8Array; status: number; body: string; resourceId: string },
): Promise<boolean> {
  const rows = await tx`
    insert into idempotency_keys (gateway_id, operation, key, fingerprint, status, body, resource_id)
    values (${scope.gatewayId}, ${scope.operation}, ${scope.key}, ${Buffer.from(reply.fingerprint)}, ${reply.status}, ${reply.body}, ${reply.resourceId})
    on conflict do nothing returning 1`;
  return rows.length === 1;
}

/** Forgets replies kept for longer than POLICY says, at most `limit` of them; returns how many. */
export async function deleteOldReplies(sql: Reads, limit: number): Promise<number> {
  const rows = await sql`
    delete from idempotency_keys where (gateway_id, operation, key) in
      (select gateway_id, operation, key from idempotency_keys where created_at < now() - make_interval(days => ${POLICY.idempotencyKeptDays}) limit ${limit})
    returning 1`;
  return rows.length;
}
