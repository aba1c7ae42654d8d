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

/** A key that a request came with, and what tells the request from another one with the same key. */
export interface KeyToTake {
  scope: IdempotencyScope;
  fingerprint: Uint8Array;
}

/** Of pieces of work with one key the first; the others are its duplicates. Pure. */
export function firstOfEachKey<W extends { key: KeyToTake | undefined }>(works: readonly W[]): W[] {
  const seen = new Set<string>();
  return works.filter(({ key }) => {
    if (key === undefined) return true;
    const name = nameOfScope(key.scope);
    return !seen.has(name) && seen.add(name);
  });
}

/** What is kept of a reply. */
export interface ReplyToStore {
  scope: IdempotencyScope;
  status: number;
  body: string;
  /** What it created. */
  resourceId?: string;
}

/**
 * Takes keys for this transaction, none of them given twice, and returns the names of those that had no committed reply. A duplicate still in flight is
 * waited for, for at most `waitMs`. Locks the keys until commit, in the order of their names: two that take several never wait for each other.
 * @throws KeyInUse when the wait was in vain
 */
export async function takeKeys(tx: Tx, keys: readonly KeyToTake[], waitMs: number): Promise<Set<string>> {
  const ordered = keys.map((key) => ({ ...key, name: nameOfScope(key.scope) })).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  try {
    // Sent together; one connection runs them in this order.
    const [, rows] = await Promise.all([
      tx`select set_config('lock_timeout', ${`${waitMs}ms`}, true)`,
      tx<IdempotencyScope[]>`
        insert into idempotency_keys (gateway_id, operation, key, fingerprint)
        select gateway_id, operation, key, decode(fingerprint, 'hex') from unnest(
          ${ordered.map(({ scope }) => scope.gatewayId)}::uuid[], ${ordered.map(({ scope }) => scope.operation)}::text[],
          ${ordered.map(({ scope }) => scope.key)}::text[], ${ordered.map(({ fingerprint }) => Buffer.from(fingerprint).toString('hex'))}::text[]
        ) as given (gateway_id, operation, key, fingerprint)
        on conflict do nothing returning gateway_id, operation, key`,
      tx`set local lock_timeout to default`,
    ]);
    return new Set(rows.map(nameOfScope));
  } catch (error) {
    throw (error as { code?: unknown }).code === '55P03' ? new KeyInUse() : error;
  }
}

/** Keeps replies beside their effects, in the effects' own transaction. */
export async function storeReplies(tx: Tx, replies: readonly ReplyToStore[]): Promise<void> {
  await tx`
    update idempotency_keys k set status = given.status, body = given.body, resource_id = given.resource_id
    from unnest(
      ${replies.map(({ scope }) => scope.gatewayId)}::uuid[], ${replies.map(({ scope }) => scope.operation)}::text[], ${replies.map(({ scope }) => scope.key)}::text[],
      ${replies.map(({ status }) => status)}::int[], ${replies.map(({ body }) => body)}::text[], ${replies.map(({ resourceId }) => resourceId ?? null)}::uuid[]
    ) as given (gateway_id, operation, key, status, body, resource_id)
    where k.gateway_id = given.gateway_id and k.operation = given.operation and k.key = given.key`;
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
