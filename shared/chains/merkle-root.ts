import type { Steps } from '#shared/core/turns.ts';
import { hashPairs, MOST_PAIRED, type Pairing } from './kernel.ts';

const HASH_BYTES = 32;
/** Hashes that a row above is made of in one go. */
const PART_OF_ROW = MOST_PAIRED * HASH_BYTES;

/** The merkle root over hashes that stand one after the other, which are overwritten. */
export function* merkleRoot(row: Buffer, pairing: Pairing): Steps<Buffer> {
  for (let length = row.length; length > HASH_BYTES; ) {
    let above = 0;
    for (let at = 0; at < length; at += PART_OF_ROW) {
      const part = row.subarray(at, Math.min(at + PART_OF_ROW, length));
      above += part.copy(row, above, 0, hashPairs(part, pairing));
      if (part.length === PART_OF_ROW) yield;
    }
    length = above;
  }
  return row.subarray(0, HASH_BYTES);
}
