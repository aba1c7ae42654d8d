import type { HasKey, WatchSet } from '../chain.ts';
import { writeBytes } from '../hex-bytes.ts';
import { toBase58 } from './address.ts';

const ADDRESS_BYTES = 20;
const digits = Buffer.alloc(2 * ADDRESS_BYTES);
const key = new Uint8Array(ADDRESS_BYTES);

/** How bytes are looked up in a watch set: without an address made of them, where the set can do without. */
export function watchedKeys(watched: WatchSet): HasKey {
  if (watched.hasKey !== undefined) return watched.hasKey.bind(watched);
  return (bytes, at) => watched.has(toBase58(Buffer.from(bytes.subarray(at, at + ADDRESS_BYTES)).toString('hex')));
}

/** The same of 40 hex digits, small letters only. */
export function watchedHex(watched: WatchSet): (hex: string) => boolean {
  if (watched.hasKey === undefined) return (hex) => watched.has(toBase58(hex));
  const has = watchedKeys(watched);
  return (hex) => {
    digits.write(hex, 'latin1');
    return writeBytes(digits, 0, key, 0, ADDRESS_BYTES) && has(key, 0);
  };
}
