import type { Gateway, GatewaySettings } from '#api/deps.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import { inOrder, type Placed, placeOf, stretch, type Walk } from './operator-walks.ts';
import { isOneOf } from './is-one-of.ts';

/** First halves of the advisory lock keys; the second is a hash of the gateway's id. */
const CASHOUT_LOCK_CLASS = 7_582_004;
const KEYS_LOCK_CLASS = 7_582_005;
/** Advisory lock of what shops are called. */
const NAMES_LOCK_CLASS = 7_582_011;

/** A gateway as stored, with the moment it was created. */
export interface StoredGateway extends Gateway {
  createdAt: Date;
}

/** Reads one gateway by id; locks nothing. */
export async function findGateway(sql: Reads, id: string): Promise<StoredGateway | undefined> {
  const [gateway] = await findGateways(sql, [id]);
  return gateway;
}

/** Reads gateways by their ids, in any order; locks nothing. */
export async function findGateways(sql: Reads, ids: readonly string[]): Promise<StoredGateway[]> {
  return sql<StoredGateway[]>`
    select id, name, status, billing, settings, created_at from gateways where id ${isOneOf(sql, ids)}`;
}

/** Reads one gateway and locks its row until commit, so that two changes of its settings cannot overwrite each other; rows that name it may be added meanwhile. */
export async function lockGateway(tx: Tx, id: string): Promise<StoredGateway | undefined> {
  const [row] = await tx<StoredGateway[]>`
    select id, name, status, billing, settings, created_at from gateways where id = ${id} for no key update`;
  return row;
}

/** Lists gateways newest first, `limit` at most, skipping `offset`; locks nothing. */
export async function listGateways(sql: Reads, page: { limit: number; offset: number }): Promise<Placed<StoredGateway>[]> {
  return sql<Placed<StoredGateway>[]>`
    select id, name, status, billing, settings, created_at, ${placeOf(sql, sql`created_at`)} as place from gateways
    order by created_at desc, id desc limit ${page.limit} offset ${page.offset}`;
}

/** Gateways of a walk, one more than `limit`. Reads gateways_newest, or the key of gateways; locks nothing. */
export async function walkGateways(sql: Reads, walk: Walk): Promise<Placed<StoredGateway>[]> {
  return sql<Placed<StoredGateway>[]>`
    select g.id, g.name, g.status, g.billing, g.settings, g.created_at, ${placeOf(sql, sql`g.created_at`)} as place from gateways g
    where ${walk.ids === null ? sql`true` : sql`g.id = any(${walk.ids}::uuid[])`} ${stretch(sql, walk, sql`g.created_at`, sql`g.id`)}
    ${inOrder(sql, walk, sql`g.created_at`, sql`g.id`)} limit ${walk.limit + 1}`;
}

/** Counts all gateways; locks nothing. */
export async function countGateways(sql: Reads): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*) as total from gateways`;
  return row?.total ?? 0;
}

/** Counts the gateways that may cash out; locks nothing. */
export async function countCashingOut(sql: Reads): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*) as total from gateways where status = 'VERIFIED' and settings->'cashout'->>'enabled' = 'true'`;
  return row?.total ?? 0;
}

/** Keeps everybody else from planning a cashout of this gateway until commit: after its settlement, before wallets. */
export async function lockGatewayCashouts(tx: Tx, gatewayId: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(${CASHOUT_LOCK_CLASS}, hashtext(${gatewayId}))`;
}

/** Adds a gateway whose settings are complete and validated; locks nothing else. */
export async function insertGateway(tx: Tx, gateway: Gateway): Promise<StoredGateway> {
  const [row] = await tx<StoredGateway[]>`
    insert into gateways (id, name, status, billing, settings)
    values (${gateway.id}, ${gateway.name}, ${gateway.status}, ${gateway.billing}, ${tx.json(asJson(gateway.settings))})
    returning id, name, status, billing, settings, created_at`;
  return row as StoredGateway;
}

/** Writes a changed gateway; the caller holds the lock of `lockGateway`. */
export async function updateGateway(tx: Tx, gateway: Gateway): Promise<StoredGateway> {
  const [row] = await tx<StoredGateway[]>`
    update gateways set name = ${gateway.name}, status = ${gateway.status}, billing = ${gateway.billing}, settings = ${tx.json(asJson(gateway.settings))}
    where id = ${gateway.id}
    returning id, name, status, billing, settings, created_at`;
  return row as StoredGateway;
}

/** The driver's JSON type wants an index signature, which an interface does not have. */
function asJson(settings: GatewaySettings): Parameters<Tx['json']>[0] {
  return settings as unknown as Parameters<Tx['json']>[0];
}

/** Has whoever gives a shop another name wait until this transaction ends. */
export async function lockShownNames(tx: Tx): Promise<void> {
  await tx`select pg_advisory_xact_lock(${NAMES_LOCK_CLASS}, 0)`;
}

/** What payers read of every other gateway; reads all of them, and locks nothing. */
export async function listShownNames(sql: Reads, exceptId: string): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select coalesce(settings -> 'branding' ->> 'displayName', name) as name from gateways where id <> ${exceptId} and status = 'VERIFIED'`;
  return rows.map(({ name }) => name);
}

/** What a stored secret is for. */
export type SecretKind = 'webhook' | 'cashout' | 'totp';

/** A secret as stored: readable only with the master key, and only under its own row id. */
export interface SealedSecret {
  id: string;
  sealed: Uint8Array;
}

/** The secrets of a kind that still count, of each of these gateways the current one first, then those in their rotation overlap; locks nothing. */
export async function listUsableSecrets(
  sql: Reads,
  wanted: readonly { gatewayId: string; kind: SecretKind }[],
): Promise<(SealedSecret & { gatewayId: string; kind: SecretKind })[]> {
  return sql<(SealedSecret & { gatewayId: string; kind: SecretKind })[]>`
    select s.id, s.sealed, s.gateway_id, s.kind
    from unnest(${wanted.map(({ gatewayId }) => gatewayId)}::uuid[], ${wanted.map(({ kind }) => kind)}::text[]) as ours (gateway_id, kind)
    join gateway_secrets s on s.gateway_id = ours.gateway_id and s.kind = ours.kind
    where ${isUsable(sql)} order by ${currentFirst(sql)}`;
}

/** The same of the webhooks of one gateway, with its id as a fragment of a statement: a document of their ids and of them in base64. */
export function usableWebhookSecrets(sql: Reads, gatewayId: ReturnType<Reads>): ReturnType<Reads> {
  return sql`
    (select coalesce(json_agg(json_build_object('id', s.id, 'sealed', encode(s.sealed, 'base64')) order by ${currentFirst(sql)}), '[]')
    from gateway_secrets s where s.gateway_id = ${gatewayId} and s.kind = 'webhook' and ${isUsable(sql)})`;
}

function isUsable(sql: Reads) {
  return sql`(s.expires_at is null or s.expires_at > sluice_now())`;
}

function currentFirst(sql: Reads) {
  return sql`s.expires_at desc nulls first, s.created_at desc`;
}

/** What a gateway's people are told of its secrets that count: everything but the secret. */
export interface SecretState {
  id: string;
  kind: SecretKind;
  createdAt: Date;
  /** Until when it counts beside the one that took its place; null for the current one. */
  expiresAt: Date | null;
}

/** The secrets of a gateway that count, the current one of each kind first; there are few, and nothing is locked. */
export async function listSecretStates(sql: Reads, gatewayId: string): Promise<SecretState[]> {
  return sql<SecretState[]>`
    select id, kind, created_at, expires_at from gateway_secrets where gateway_id = ${gatewayId} and (expires_at is null or expires_at > sluice_now())
    order by kind, expires_at desc nulls first, created_at desc limit 100`;
}

/** Adds a sealed secret, which becomes the current one of its kind; locks nothing else. */
export async function insertSecret(tx: Tx, secret: SealedSecret & { sealedUnder: string; gatewayId: string; kind: SecretKind }): Promise<void> {
  await tx`
    insert into gateway_secrets (id, gateway_id, kind, sealed, sealed_under)
    values (${secret.id}, ${secret.gatewayId}, ${secret.kind}, ${Buffer.from(secret.sealed)}, ${secret.sealedUnder})`;
}

/**
 * Ends every secret of one kind `overlapSeconds` from now, or earlier where it already ends earlier; locks those rows.
 * An overlap of 0 ends all of them at once, earlier overlaps included.
 */
export async function retireSecrets(tx: Tx, gatewayId: string, kind: SecretKind, overlapSeconds: number): Promise<void> {
  await tx`
    update gateway_secrets set expires_at = least(coalesce(expires_at, 'infinity'), sluice_now() + make_interval(secs => ${overlapSeconds}))
    where gateway_id = ${gatewayId} and kind = ${kind}`;
}

/** The current secret of a kind, locked until commit, so that nobody replaces it meanwhile. */
export async function lockCurrentSecret(tx: Tx, gatewayId: string, kind: SecretKind): Promise<string | undefined> {
  const [row] = await tx<{ id: string }[]>`
    select id from gateway_secrets where gateway_id = ${gatewayId} and kind = ${kind} and expires_at is null for update`;
  return row?.id;
}

/** Ends now whatever secret of this kind still counts beside the current one; false when there is none. Locks those rows. */
export async function endRetiredSecrets(tx: Tx, gatewayId: string, kind: SecretKind): Promise<boolean> {
  const rows = await tx`
    update gateway_secrets set expires_at = sluice_now() where gateway_id = ${gatewayId} and kind = ${kind} and expires_at > sluice_now() returning id`;
  return rows.length > 0;
}

/** Some secrets that are not known to be under another master key than `previous`, in id order from the one after `after`; locks them, but waits for none. */
export async function lockSecretsUnder(tx: Tx, previous: string | null, after: string, limit: number): Promise<SealedSecret[]> {
  return tx<SealedSecret[]>`
    select id, sealed from gateway_secrets where (sealed_under is null or sealed_under = ${previous}) and id > ${after}
    order by id limit ${limit} for update skip locked`;
}

/** Stores a secret sealed anew, or, without `sealed`, only which key it is under. */
export async function reseal(tx: Tx, id: string, sealedUnder: string, sealed?: Uint8Array): Promise<void> {
  await tx`
    update gateway_secrets set sealed_under = ${sealedUnder}, sealed = coalesce(${sealed === undefined ? null : Buffer.from(sealed)}::bytea, sealed) where id = ${id}`;
}

/** How many secrets, of gateways and of people, are under each master key, by its id; null for those nobody looked at yet. Locks nothing. */
export async function countSecretsByKey(sql: Reads): Promise<{ key: string | null; count: number }[]> {
  return sql<{ key: string | null; count: number }[]>`
    select sealed_under as key, count(*)::int as count from (select sealed_under from gateway_secrets union all select sealed_under from authenticators) s
    group by sealed_under`;
}

/** An API key with the gateway it belongs to; only the peppered hash of its secret half exists here. */
export interface StoredApiKey {
  id: string;
  secretHash: Uint8Array;
  /** Id of the pepper in the hash; null when whoever made it did not say. */
  hashedUnder: string | null;
  permissions: string[];
  lastUsedAt: Date | null;
  revokedAt: Date | null;
  expiresAt: Date | null;
  /** By service time, when it was read. */
  expired: boolean;
  /** Null allows every address. */
  allowlist: string[] | null;
  gateway: Gateway;
}

/** Finds keys by their public halves together with their gateways, revoked ones included; locks nothing. */
export async function findApiKeys(sql: Reads, ids: readonly string[]): Promise<StoredApiKey[]> {
  const rows = await sql<(Omit<StoredApiKey, 'gateway'> & { gatewayId: string } & Omit<Gateway, 'id'>)[]>`
    select k.id, k.secret_hash, k.hashed_under, k.permissions, k.last_used_at, k.revoked_at, k.expires_at, k.allowlist,
           coalesce(k.expires_at <= sluice_now(), false) as expired,
           g.id as "gatewayId", g.name, g.status, g.billing, g.settings
    from api_keys k join gateways g on g.id = k.gateway_id where k.id ${isOneOf(sql, ids)}`;
  return rows.map(({ gatewayId, name, status, billing, settings, ...key }) => ({ ...key, gateway: { id: gatewayId, name, status, billing, settings } }));
}

/** What whoever manages keys may see of one. */
export interface ApiKeySummary {
  keyId: string;
  name: string | null;
  /** The public half, as its text begins. */
  prefix: string;
  lastFour: string | null;
  permissions: string[];
  /** Null allows every address. */
  allowlist: string[] | null;
  createdAt: Date;
  /** The key of the same gateway that made it; null when an operator did. */
  createdBy: string | null;
  expiresAt: Date | null;
  /** To the minute. */
  lastUsedAt: Date | null;
  lastUsedFrom: string | null;
  revokedAt: Date | null;
}

/** Lists a gateway's keys newest first; locks nothing. */
export async function listApiKeys(sql: Reads, gatewayId: string): Promise<ApiKeySummary[]> {
  return sql<ApiKeySummary[]>`select ${keyColumns(sql)} from api_keys where gateway_id = ${gatewayId} order by created_at desc, id desc`;
}

/**
 * A gateway's keys, newest first, behind the one called `after`; undefined when it has no such key. One more than `limit` says that others
 * follow. Reads the index `api_keys_newest`; locks nothing.
 */
export async function listApiKeysAfter(sql: Reads, page: { gatewayId: string; limit: number; after: string | null }): Promise<ApiKeySummary[] | undefined> {
  const { gatewayId, limit, after } = page;
  if (after !== null && (await findApiKeySummary(sql, gatewayId, after)) === undefined) return undefined;
  const behind = after === null ? sql`` : sql`and (created_at, id) < (select created_at, id from api_keys where id = ${after})`;
  return sql<ApiKeySummary[]>`
    select ${keyColumns(sql)} from api_keys where gateway_id = ${gatewayId} ${behind} order by created_at desc, id desc limit ${limit + 1}`;
}

/** Reads what may be seen of one key of a gateway; locks nothing. */
export async function findApiKeySummary(sql: Reads, gatewayId: string, id: string): Promise<ApiKeySummary | undefined> {
  const [row] = await sql<ApiKeySummary[]>`select ${keyColumns(sql)} from api_keys where id = ${id} and gateway_id = ${gatewayId}`;
  return row;
}

function keyColumns(sql: Reads) {
  return sql`id as "keyId", name, 'sluice_' || id as prefix, last_four, permissions, allowlist, created_at, created_by, expires_at, last_used_at,
    last_used_from, revoked_at`;
}

/** Keeps everybody else from making or revoking a key of this gateway until commit, and nobody from using one. */
export async function lockApiKeys(tx: Tx, gatewayId: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(${KEYS_LOCK_CLASS}, hashtext(${gatewayId}))`;
}

/** Counts a gateway's keys that work or were made within a day; the caller holds the lock of `lockApiKeys`. */
export async function countApiKeys(tx: Tx, gatewayId: string): Promise<number> {
  const [row] = await tx<{ total: number }[]>`
    select count(*)::int as total from api_keys where gateway_id = ${gatewayId}
      and (created_at > now() - interval '1 day' or (revoked_at is null and (expires_at is null or expires_at > sluice_now())))`;
  return row?.total ?? 0;
}

/** A key to be stored. */
export interface ApiKeyRow {
  id: string;
  gatewayId: string;
  secretHash: Uint8Array;
  hashedUnder: string;
  lastFour: string;
  permissions: readonly string[];
  name?: string | null;
  expiresAt?: Date | null;
  allowlist?: readonly string[] | null;
  createdBy?: string | null;
}

/** Adds a key; locks nothing else. */
export async function insertApiKey(tx: Tx, key: ApiKeyRow): Promise<void> {
  await tx`
    insert into api_keys (id, gateway_id, secret_hash, hashed_under, last_four, permissions, name, expires_at, allowlist, created_by)
    values (${key.id}, ${key.gatewayId}, ${Buffer.from(key.secretHash)}, ${key.hashedUnder}, ${key.lastFour}, ${[...key.permissions]}, ${key.name ?? null},
      ${key.expiresAt ?? null}, ${key.allowlist == null ? null : [...key.allowlist]}, ${key.createdBy ?? null})`;
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

/** Calls a working key of a gateway otherwise, and narrows or widens it; false when there is no such key. Locks that row. */
export async function changeApiKey(
  tx: Tx,
  key: { gatewayId: string; id: string; name: string | null; expiresAt: Date | null; allowlist: readonly string[] | null },
): Promise<boolean> {
  const rows = await tx`
    update api_keys set name = ${key.name}, expires_at = ${key.expiresAt}, allowlist = ${key.allowlist === null ? null : [...key.allowlist]}
    where id = ${key.id} and gateway_id = ${key.gatewayId} and revoked_at is null and (expires_at is null or expires_at > sluice_now()) returning id`;
  return rows.length === 1;
}

/** Notes an accepted use and its address, to the minute, so that a busy key costs one write a minute. Locks that row for the statement. */
export async function touchApiKey(sql: Reads, id: string, from: string): Promise<void> {
  await sql`
    update api_keys set last_used_at = date_trunc('minute', now()), last_used_from = ${from}
    where id = ${id} and (last_used_at is null or last_used_at < date_trunc('minute', now()))`;
}

/** What these gateways are called, by id; by the key. Locks nothing. */
export async function listGatewayNames(sql: Reads, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await sql<{ id: string; name: string }[]>`select id, name from gateways where id = any(${[...ids]}::uuid[])`;
  return new Map(rows.map(({ id, name }) => [id, name]));
}
