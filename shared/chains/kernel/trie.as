// The root of the trie that has values under their positions, without making an object of any of its nodes: keys are known by their order, leaves
// are written around the values.

import { keccak, keccakBoth } from './keccak';
import { ENDS, NODES, STARTS } from './memory';
import { headerLength, writeHeader } from './rlp';

/** Bytes that must be free before each value: what makes it a leaf is written there, so that no value is copied. */
export const LEAF_ROOM: usize = 16;
/** A node's list of sixteen references and one value, with its header. The longest key has six half bytes, and each may have a node and one that leads to it. */
const NODE_ROOM: usize = 544;
const LIST: usize = 0xc0;
const STRING: usize = 0x80;
const HASH: u8 = 0xa0;

/** Where the node that was written last is. */
let from: usize = 0;
let to: usize = 0;
let isLeaf = false;

/** A leaf that waits for another one to be hashed with, and where its hash belongs: leaves stay where they are. */
let waiting: usize = 0;
let waitingLength: usize = 0;
let waitingTo: usize = 0;

@inline
export function startOf(position: usize): usize {
  return load<u32>(STARTS + 4 * position);
}

@inline
export function endOf(position: usize): usize {
  return load<u32>(ENDS + 4 * position);
}

export function placeValue(position: usize, start: usize, end: usize): void {
  store<u32>(STARTS + 4 * position, start);
  store<u32>(ENDS + 4 * position, end);
}

/** Writes the root over the first `count` values to `root`. */
export function writeTrieRoot(count: usize, root: usize): void {
  writeNode(count, 0, count, 0, 0);
  keccak(from, to - from, root);
}

/** The position whose key is at this place among all keys in their order: 0x01 to 0x7f, 0x80 for position 0, then 0x8180 and so on. */
function positionAt(place: usize, count: usize): usize {
  const short = min<usize>(count, 0x80);
  if (place >= short) return place;
  return place == short - 1 ? 0 : place + 1;
}

function nibblesIn(position: usize): usize {
  if (position < 0x80) return 2;
  return position < 0x100 ? 4 : 6;
}

/** One half byte of a position's key, which is its number in RLP. */
function nibbleOf(position: usize, depth: usize): usize {
  let key = position;
  if (position == 0) key = 0x80;
  else if (position >= 0x100) key |= 0x82_0000;
  else if (position >= 0x80) key |= 0x8100;
  return (key >> (4 * (nibblesIn(position) - 1 - depth))) & 15;
}

/** Writes the node over the keys at places `first` to `last`, excluded, which agree in their first `depth` half bytes. */
function writeNode(count: usize, first: usize, last: usize, depth: usize, level: usize): void {
  const position = positionAt(first, count);
  if (last - first == 1) {
    writeLeaf(position, depth);
    return;
  }
  const body = NODES + level * NODE_ROOM + 4;
  let at = body;
  let shared: usize = 0;
  // Keys are in order, so that what the first and the last one share all of them do.
  const end = positionAt(last - 1, count);
  while (nibbleOf(position, depth + shared) == nibbleOf(end, depth + shared)) shared += 1;
  if (shared > 0) {
    at += writePath(at, position, depth, shared, false);
    writeNode(count, first, last, depth + shared, level + 1);
    at = refer(at);
  } else {
    let begin = first;
    for (let nibble: usize = 0; nibble < 16; nibble++) {
      let stop = begin;
      while (stop < last && nibbleOf(positionAt(stop, count), depth) == nibble) stop += 1;
      if (stop == begin) store<u8>(at++, STRING);
      else {
        writeNode(count, begin, stop, depth + 1, level + 1);
        at = refer(at);
      }
      begin = stop;
    }
    store<u8>(at++, STRING);
    hashWaiting();
  }
  enclose(body, at);
  isLeaf = false;
}

/** Hashes a leaf for which there is no other one. */
function hashWaiting(): void {
  if (waiting == 0) return;
  keccak(waiting, waitingLength, waitingTo);
  waiting = 0;
}

/** Writes the header of a list before its body, and remembers both as the node written last. */
function enclose(body: usize, end: usize): void {
  from = body - headerLength(end - body);
  to = end;
  writeHeader(from, end - body, LIST);
}

/** Writes path and headers of a leaf before its value. */
function writeLeaf(position: usize, depth: usize): void {
  const start = startOf(position);
  const end = endOf(position);
  // A value is a receipt or a transaction: never so short that it is its own header.
  let body = start - headerLength(end - start);
  writeHeader(body, end - start, STRING);
  const left = nibblesIn(position) - depth;
  body -= pathLength(left);
  writePath(body, position, depth, left, true);
  enclose(body, end);
  isLeaf = true;
}

function pathLength(nibbles: usize): usize {
  const length = (nibbles >> 1) + 1;
  return length == 1 ? 1 : length + 1;
}

/** Half bytes in whole ones, with a flag for odd lengths and for leaves; answers how many bytes that took. */
function writePath(at: usize, position: usize, depth: usize, nibbles: usize, leaf: bool): usize {
  const length = pathLength(nibbles);
  let place = at;
  if (length > 1) store<u8>(place++, STRING + length - 1);
  const odd = nibbles & 1;
  store<u8>(place++, (((leaf ? 2 : 0) + odd) << 4) | (odd == 1 ? nibbleOf(position, depth) : 0));
  for (let i = odd; i < nibbles; i += 2) store<u8>(place++, (nibbleOf(position, depth + i) << 4) | nibbleOf(position, depth + i + 1));
  return length;
}

/** Writes what names the node written last into the one around it: itself while it is short, else its hash. */
function refer(at: usize): usize {
  const length = to - from;
  if (length < 32) {
    memory.copy(at, from, length);
    return at + length;
  }
  store<u8>(at, HASH);
  if (!isLeaf) keccak(from, length, at + 1);
  else if (waiting != 0) {
    keccakBoth(waiting, waitingLength, waitingTo, from, length, at + 1);
    waiting = 0;
  } else {
    waiting = from;
    waitingLength = length;
    waitingTo = at + 1;
  }
  return at + 33;
}
