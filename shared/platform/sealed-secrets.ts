import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import { Invariant } from '#shared/core/errors.ts';
import { type KeyRing, rungsOf } from './key-ring.ts';

/** Where a sealed value is stored; it opens nowhere else, so a ciphertext moved to another row is useless. */
export interface SealedPlace {
  table: string;
  column: string;
  rowId: string;
}

const VERSION = 1;
const NONCE = 12;
const TAG = 16;
const KEY = 32;
const WRAPPED = NONCE + KEY + TAG;

/** Derived keys of this process by what they were derived from, which a deployment has few of. */
const derived = new Map<string, Uint8Array>();
const MOST_DERIVED = 8;

/** Turns the configured master key text into the key that wraps data keys. */
export function wrappingKey(masterKey: string): Uint8Array {
  const known = derived.get(masterKey);
  if (known !== undefined) return known;
  const key = new Uint8Array(hkdfSync('sha256', masterKey, 'sluice', 'wrap data keys, version 1', KEY));
  if (derived.size >= MOST_DERIVED) derived.clear();
  derived.set(masterKey, key);
  return key;
}

/**
 * Encrypts a secret under a fresh data key, and that key under `wrapping` (AES-256-GCM twice). Both are bound to `place`
 * and the format version as associated data. Layout: version, wrapped key (nonce, key, tag), nonce, ciphertext, tag.
 */
export function seal(wrapping: Uint8Array, place: SealedPlace, secret: string, randomBytes: (length: number) => Uint8Array): Uint8Array {
  const aad = associatedData(place);
  const dataKey = randomBytes(KEY);
  return Buffer.concat([
    Buffer.of(VERSION),
    encrypt(wrapping, dataKey, aad, randomBytes(NONCE)),
    encrypt(dataKey, Buffer.from(secret, 'utf8'), aad, randomBytes(NONCE)),
  ]);
}

/**
 * Reads a sealed secret back.
 * @throws Invariant when the bytes were changed, belong to another row, or were sealed under another master key
 */
export function open(wrapping: Uint8Array, place: SealedPlace, sealed: Uint8Array): string {
  const aad = associatedData(place);
  try {
    if (sealed[0] !== VERSION) throw new Error(`unknown version ${sealed[0]}`);
    const dataKey = decrypt(wrapping, sealed.subarray(1, 1 + WRAPPED), aad);
    return decrypt(dataKey, sealed.subarray(1 + WRAPPED), aad).toString('utf8');
  } catch (error) {
    throw new Invariant(`the secret of ${place.table} ${place.rowId} does not open: it was changed, moved, or sealed under another master key`, {
      cause: error,
    });
  }
}

/**
 * Reads a sealed secret back under whichever key of a ring opens it, and says which.
 * @throws Invariant as `open` does, when none of them does
 */
export function openWithAny(ring: KeyRing, place: SealedPlace, sealed: Uint8Array): { secret: string; key: string } {
  let failure: unknown;
  for (const { key } of rungsOf(ring)) {
    try {
      return { secret: open(wrappingKey(key), place, sealed), key };
    } catch (error) {
      failure ??= error;
    }
  }
  throw failure;
}

function associatedData(place: SealedPlace): Buffer {
  return Buffer.from(JSON.stringify([place.table, place.column, place.rowId, VERSION]), 'utf8');
}

function encrypt(key: Uint8Array, text: Uint8Array, aad: Uint8Array, nonce: Uint8Array): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(aad);
  return Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]);
}

function decrypt(key: Uint8Array, bytes: Uint8Array, aad: Uint8Array): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE), { authTagLength: TAG });
  decipher.setAAD(aad);
  decipher.setAuthTag(bytes.subarray(bytes.length - TAG));
  return Buffer.concat([decipher.update(bytes.subarray(NONCE, bytes.length - TAG)), decipher.final()]);
}
