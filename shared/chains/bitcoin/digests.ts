import { Buffer } from 'node:buffer';
import { hash } from 'node:crypto';
import { createRIPEMD160 } from 'hash-wasm';

export const DIGEST_BYTES = 32;
// Both are used from beginning to end by one call at a time, so that one of each is enough.
const inner = Buffer.alloc(DIGEST_BYTES);
const ripemd = await createRIPEMD160();

/**
 * Writes SHA-256 of SHA-256 to `into`, and answers it as text too, a letter for each byte. A digest that comes as such a text costs a third of one that comes
 * as a Buffer, and there are four of these for every transaction of a block.
 */
export function writeSha256d(bytes: Uint8Array, into: Buffer, at: number): string {
  inner.write(hash('sha256', bytes, 'binary'), 0, DIGEST_BYTES, 'latin1');
  const digest = hash('sha256', inner, 'binary');
  into.write(digest, at, DIGEST_BYTES, 'latin1');
  return digest;
}

/** RIPEMD-160 of SHA-256, by which an output names a key. */
export function hash160(bytes: Uint8Array): Uint8Array {
  inner.write(hash('sha256', bytes, 'binary'), 0, DIGEST_BYTES, 'latin1');
  return ripemd.init().update(inner).digest('binary');
}
