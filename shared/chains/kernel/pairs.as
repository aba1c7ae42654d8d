// One row of a tree over hashes.

import { REPLY } from './memory';
import { DIGEST, sha256 } from './sha256';
import { placeValue } from './trie';

/**
 * Writes the row above `count` hashes in the reply over them: of each pair one, hashed `again` times more than once. An odd one is carried up as it is, or paired
 * with itself.
 */
export function hashPairs(count: usize, again: u32, carries: bool): void {
  const odd = (count & 1) == 1;
  const last = REPLY + count * DIGEST;
  if (odd && !carries) memory.copy(last, last - DIGEST, DIGEST);
  const pairs = (carries ? count : count + 1) >> 1;
  for (let i: usize = 0; i < pairs; i++) placeValue(i, REPLY + i * 2 * DIGEST, REPLY + (i + 1) * 2 * DIGEST);
  sha256(pairs, again, REPLY);
  if (odd && carries) memory.copy(REPLY + pairs * DIGEST, last - DIGEST, DIGEST);
}
