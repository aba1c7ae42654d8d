// The kernel: what is done to every byte of a reply. It keeps nothing from one call to the next but its memory.

import { DOUBT, endOfValue as endOf } from './json';
import { REPLY, ZEROS } from './memory';

export { hashKeys, hashTransactions, readDigits } from './bitcoin';
export { keccakBoth } from './keccak';
export { walkBodies } from './bodies';
export { hashPairs } from './pairs';
export { walkReceipts } from './receipts';
export { sha256 } from './sha256';
export { walkFrame } from './traces';
export { walkOutcomes, walkTransactions } from './tron';
export { walkContract } from './tron-contract';
export { writeTrieRoot } from './trie';

/** The place after the value that begins at `at` of the reply; 0 when there is none of the plainest form, or it is not all there. */
export function endOfValue(at: usize): usize {
  const end = endOf(REPLY + at);
  return end == DOUBT ? 0 : end - REPLY;
}

/** Has nothing follow a reply of this length. */
export function endReply(length: usize): void {
  memory.fill(REPLY + length, 0, ZEROS);
}
