// Ids of transactions of Bitcoin, and the hashes of keys.

import { FOUND, REPLY, VALUES } from './memory';
import { ripemd160 } from './ripemd160';
import { writeDigits } from './rlp';
import { DIGEST, sha256 } from './sha256';
import { placeValue, startOf } from './trie';

/** Where room for witnesses is announced in a transaction, and in how many bytes (BIP-144); how long its lock time is. */
const MARKER: usize = 4;
const MARKER_BYTES: usize = 2;
const LOCK_TIME: usize = 4;
const KEY: usize = 33;

/**
 * Writes two hashes of each transaction of which FOUND tells where in the reply it begins, where its outputs end and where it ends: the one that covers witnesses, and its id.
 * Each takes 64 bytes of FOUND, which tell the places before.
 */
export function hashTransactions(count: usize): void {
  let to = VALUES;
  for (let i: usize = 0; i < count; i++) {
    const own = FOUND + 2 * DIGEST * i;
    const from = REPLY + load<u32>(own);
    const bodyEnd = REPLY + load<u32>(own, 4);
    const end = REPLY + load<u32>(own, 8);
    placeValue(2 * i, from, end);
    if (load<u8>(from, MARKER) != 0) {
      placeValue(2 * i + 1, 0, 0);
      continue;
    }
    const body = from + MARKER + MARKER_BYTES;
    memory.copy(to, from, MARKER);
    memory.copy(to + MARKER, body, bodyEnd - body);
    const last = to + MARKER + (bodyEnd - body);
    memory.copy(last, end - LOCK_TIME, LOCK_TIME);
    placeValue(2 * i + 1, to, last + LOCK_TIME);
    to = last + LOCK_TIME;
  }
  sha256(2 * count, 1, FOUND);
  // Without witnesses both are the same.
  for (let i: usize = 0; i < count; i++) {
    const own = FOUND + 2 * DIGEST * i;
    if (startOf(2 * i + 1) == 0) memory.copy(own + DIGEST, own, DIGEST);
  }
}

/** Writes the twenty bytes by which outputs name each of the keys that stand side by side in the reply to FOUND. */
export function hashKeys(count: usize): void {
  for (let i: usize = 0; i < count; i++) placeValue(i, REPLY + i * KEY, REPLY + (i + 1) * KEY);
  sha256(count, 0, VALUES);
  ripemd160(VALUES, count, FOUND);
}

/** Writes the bytes whose digits stand at VALUES to the reply; false when one is not a digit in lower case. */
export function readDigits(length: usize): bool {
  return writeDigits(VALUES, REPLY, length);
}
