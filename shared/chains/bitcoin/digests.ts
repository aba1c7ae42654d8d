import { Buffer } from 'node:buffer';
import { hash } from 'node:crypto';
import { createRIPEMD160 } from 'hash-wasm';

export const DIGEST_BYTES = 32;
// Both are used from beginning to end by one call at a time, so that one of each is enough.
const inner = Buffer.alloc(DIGEST_BYTES);
const ripemd = await createRIPEMD160();

/** RIPEMD-160 of SHA-256, by which an output names a key. */
export function hash160(bytes: Uint8Array): Uint8Array {
  inner.write(hash('sha256', bytes, 'binary'), 0, DIGEST_BYTES, 'latin1');
  return ripemd.init().update(inner).digest('binary');
}
