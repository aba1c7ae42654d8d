import { createHmac } from 'node:crypto';
import type { Deps, Gateway } from '#api/deps.ts';
import { rehashApiKey, touchApiKey } from '#api/store/gateways.ts';
import type { Database } from '#shared/platform/postgres.ts';
import { sharedReads } from '#api/store/shared-reads.ts';
import { type KeyRing, keyId, peppers, signerOf } from '#shared/platform/key-ring.ts';

/** The permissions that a new key has unless it is made with others (decisions 8). */
export const DEFAULT_PERMISSIONS = ['payment:create', 'payment:read', 'payment:inquire', 'settlement:read', 'settlement:create', 'settlement:approve'] as const;
/** All that an API key can have; those beyond the default ones are granted by name only (decision 0060). */
export const PERMISSIONS = [...DEFAULT_PERMISSIONS, 'key:manage', 'settings:write', 'report:export'] as const;

const PATTERN = /^sluice_([0-9a-f]{16})_([0-9a-f]{64})$/;

/** A new key. `text` is shown once and never stored; the other fields are stored. */
export interface NewApiKey {
  id: string;
  secretHash: Uint8Array;
  /** Id of the pepper in the hash. */
  hashedUnder: string;
  lastFour: string;
  text: string;
}

/** Makes an API key from 40 random bytes: `sluice_<16 hex id>_<64 hex secret>`. */
export function createApiKey(pepper: string, randomBytes: (length: number) => Uint8Array): NewApiKey {
  const id = Buffer.from(randomBytes(8)).toString('hex');
  const secret = Buffer.from(randomBytes(32)).toString('hex');
  return { id, secretHash: hashSecret(pepper, secret), hashedUnder: keyId(pepper), lastFour: secret.slice(-4), text: `sluice_${id}_${secret}` };
}

/** Splits a key into its public id and its secret half; undefined when it is not one. */
export function parseApiKey(text: string): { id: string; secret: string } | undefined {
  const match = PATTERN.exec(text);
  return match === null ? undefined : { id: match[1] as string, secret: match[2] as string };
}

/** HMAC-SHA256 of a key's secret half under the pepper. The pepper is never in the database, so a stolen table is useless. */
export function hashSecret(pepper: string, secret: string): Uint8Array {
  return createHmac('sha256', pepper).update(secret).digest();
}

/** The pepper under which a secret half gives the stored hash, compared in constant time. Without a stored hash it does the same work and finds none. */
export function pepperOf(ring: KeyRing, secret: string, storedHash: Uint8Array | undefined): ReturnType<typeof signerOf> {
  return signerOf(ring, storedHash ?? null, (pepper) => hashSecret(pepper, secret));
}

/** A request's API key, as far as it matters for what the request may do. */
export interface CallingKey {
  keyId: string;
  permissions: readonly string[];
  /** Null allows every address. */
  allowlist: readonly string[] | null;
  expiresAt: Date | null;
}

/** An API key that was found genuine, with the gateway behind it. */
export interface KeyHolder extends CallingKey {
  lastUsedAt: Date | null;
  gateway: Gateway;
}

/**
 * The holder of an API key; undefined when the key is malformed, unknown, revoked or expired, or its gateway is not VERIFIED (contract 5.2). All
 * get the same answer, and an unknown id takes as long as a wrong secret.
 * Hashes the key again if the pepper has changed. The caller holds the address against the key's allowlist.
 */
export async function authenticateApiKey(deps: Deps, text: string | undefined): Promise<KeyHolder | undefined> {
  const parsed = parseApiKey(text ?? '');
  if (parsed === undefined) return undefined;
  const stored = await sharedReads(deps.db).apiKey(parsed.id);
  const ring = peppers(deps.config);
  const found = pepperOf(ring, parsed.secret, stored?.secretHash);
  if (found === undefined || stored === undefined) return undefined;
  if (stored.revokedAt !== null || stored.expired || stored.gateway.status !== 'VERIFIED') return undefined;
  if (found === 'previous' || stored.hashedUnder === null) {
    const pepper = (found === 'next' && ring.next) || ring.current;
    await rehashApiKey(deps.db.sql, { id: stored.id, from: stored.secretHash, to: hashSecret(pepper, parsed.secret), hashedUnder: keyId(pepper) });
  }
  const { id, permissions, allowlist, expiresAt, lastUsedAt, gateway } = stored;
  return { keyId: id, permissions, allowlist, expiresAt, lastUsedAt, gateway };
}

/** Keys whose use is being noted, so that many requests of one moment ask for one write. */
const beingNoted = new WeakMap<Database, Set<string>>();

/** Has the use of a key noted, at most once a minute; the request does not wait for it, and a note that is lost loses nothing but itself. */
export function noteKeyUse(deps: Pick<Deps, 'db' | 'log' | 'wallClock'>, { keyId: id, lastUsedAt }: KeyHolder, clientIp: string): void {
  if (lastUsedAt !== null && deps.wallClock() - lastUsedAt.getTime() < 60_000) return;
  const noting = beingNoted.get(deps.db) ?? new Set();
  beingNoted.set(deps.db, noting);
  if (noting.has(id)) return;
  noting.add(id);
  touchApiKey(deps.db.sql, id, clientIp)
    .catch((error: unknown) => deps.log.debug({ error, keyId: id }, 'the use of a key was not noted'))
    .finally(() => noting.delete(id));
}
