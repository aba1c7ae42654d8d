import { createHmac } from 'node:crypto';
import type { Deps, Gateway } from '#api/deps.ts';
import { rehashApiKey, touchApiKey } from '#api/store/gateways.ts';
import { sharedReads } from '#api/store/shared-reads.ts';
import { type KeyRing, keyId, peppers, signerOf } from '#shared/platform/key-ring.ts';

/** The permissions that an API key can have; a new key has all of them (decisions 8). */
export const PERMISSIONS = ['payment:create', 'payment:read', 'payment:inquire', 'settlement:read', 'settlement:create', 'settlement:approve'] as const;
export type Permission = (typeof PERMISSIONS)[number];

const PATTERN = /^sluice_([0-9a-f]{16})_([0-9a-f]{64})$/;

/** A new key. `text` is shown once and never stored; the other fields are stored. */
export interface NewApiKey {
  id: string;
  secretHash: Uint8Array;
  /** Id of the pepper in the hash. */
  hashedUnder: string;
  text: string;
}

/** Makes an API key from 40 random bytes: `sluice_<16 hex id>_<64 hex secret>`. */
export function createApiKey(pepper: string, randomBytes: (length: number) => Uint8Array): NewApiKey {
  const id = Buffer.from(randomBytes(8)).toString('hex');
  const secret = Buffer.from(randomBytes(32)).toString('hex');
  return { id, secretHash: hashSecret(pepper, secret), hashedUnder: keyId(pepper), text: `sluice_${id}_${secret}` };
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

/** The gateway and permissions behind a request's API key. */
export interface KeyHolder {
  keyId: string;
  permissions: readonly string[];
  gateway: Gateway;
}

/**
 * The holder of an API key; undefined when the key is malformed, unknown or revoked, or its gateway is not VERIFIED (contract 5.2). All get the
 * same answer, and an unknown id takes as long as a wrong secret.
 * Stores when the key was used, once a minute, and hashes the key again if the pepper has changed.
 */
export async function authenticateApiKey(deps: Deps, text: string | undefined): Promise<KeyHolder | undefined> {
  const parsed = parseApiKey(text ?? '');
  if (parsed === undefined) return undefined;
  const stored = await sharedReads(deps.db).apiKey(parsed.id);
  const ring = peppers(deps.config);
  const found = pepperOf(ring, parsed.secret, stored?.secretHash);
  if (found === undefined || stored === undefined) return undefined;
  if (stored.revokedAt !== null || stored.gateway.status !== 'VERIFIED') return undefined;
  if (found === 'previous' || stored.hashedUnder === null) {
    const pepper = (found === 'next' && ring.next) || ring.current;
    await rehashApiKey(deps.db.sql, { id: stored.id, from: stored.secretHash, to: hashSecret(pepper, parsed.secret), hashedUnder: keyId(pepper) });
  }
  if (stored.lastUsedAt === null || deps.wallClock() - stored.lastUsedAt.getTime() >= 60_000) await touchApiKey(deps.db.sql, stored.id);
  return { keyId: stored.id, permissions: stored.permissions, gateway: stored.gateway };
}
