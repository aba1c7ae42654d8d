import { keccak } from './keccak.ts';
import { headerLength, writeHeader } from './rlp-writer.ts';

/** Bytes that must be free before each value: what makes it a leaf is written there, so that no value is copied. */
export const LEAF_ROOM = 16;
/** A node's list of sixteen references and one value, with its header. */
const NODE_ROOM = 544;
/** The longest key has six half bytes, and each may have a node and one that leads to it. */
const LEVELS = 14;
const nodes = new Uint8Array(NODE_ROOM * LEVELS);
/** Keys of three bytes end here. */
const MOST_VALUES = 0xffff;

const LIST = 0xc0;
const STRING = 0x80;
const HASH = 0xa0;

/** Values of a trie, each in one piece, with LEAF_ROOM bytes of nobody's before it. */
export interface Values {
  bytes: Uint8Array;
  starts: Int32Array;
  ends: Int32Array;
  count: number;
}

/** Where values go. It is used from the beginning to the end of one walk, which nothing interrupts. */
const shared: Values = { bytes: new Uint8Array(1 << 20), starts: new Int32Array(1 << 9), ends: new Int32Array(1 << 9), count: 0 };
/** Beside the values themselves: each begins further on than the one before ends. */
const SPARE = 1 << 10;

/** Room for that many values of so many bytes together, in place of those before; undefined when there are none, or more than a trie is written of. */
export function openValues(size: number, count: number): Values | undefined {
  if (count === 0 || count > MOST_VALUES) return undefined;
  if (shared.bytes.length < size + SPARE) shared.bytes = new Uint8Array(Math.max(size + SPARE, 2 * shared.bytes.length));
  if (shared.starts.length < count) [shared.starts, shared.ends] = [new Int32Array(MOST_VALUES), new Int32Array(MOST_VALUES)];
  shared.count = count;
  return shared;
}

/** Where the node that was written last is. */
let [written, from, to]: [Uint8Array, number, number] = [nodes, 0, 0];

/**
 * The root of the trie that has these values under their positions, as trie-root.ts finds it, without making an object of any of its nodes:
 * keys are known by their order, leaves are written around the values.
 */
export function writeTrieRoot(values: Values): Uint8Array {
  writeNode(values, 0, values.count, 0, 0);
  return keccak(written.subarray(from, to));
}

/** The position whose key is at this place among all keys in their order: 0x01 to 0x7f, 0x80 for position 0, then 0x8180 and so on. */
function positionAt(place: number, count: number): number {
  const short = Math.min(count, 0x80);
  if (place >= short) return place;
  return place === short - 1 ? 0 : place + 1;
}

function nibblesIn(position: number): number {
  if (position < 0x80) return 2;
  return position < 0x100 ? 4 : 6;
}

/** One half byte of a position's key, which is its number in RLP. */
function nibbleOf(position: number, depth: number): number {
  const key = position === 0 ? 0x80 : position < 0x80 ? position : position < 0x100 ? 0x8100 | position : 0x82_0000 | position;
  return (key >> (4 * (nibblesIn(position) - 1 - depth))) & 15;
}

/** Writes the node over the keys at places `first` to `last`, excluded, which agree in their first `depth` half bytes. */
function writeNode(values: Values, first: number, last: number, depth: number, level: number): void {
  const position = positionAt(first, values.count);
  if (last - first === 1) {
    writeLeaf(values, position, depth);
    return;
  }
  const room = level * NODE_ROOM;
  const body = room + 4;
  let at = body;
  let shared = 0;
  // Keys are in order, so that what the first and the last one share all of them do.
  const end = positionAt(last - 1, values.count);
  while (nibbleOf(position, depth + shared) === nibbleOf(end, depth + shared)) shared += 1;
  if (shared > 0) {
    at += writePath(nodes, at, position, depth, shared, false);
    writeNode(values, first, last, depth + shared, level + 1);
    at = refer(at);
  } else {
    let begin = first;
    for (let nibble = 0; nibble < 16; nibble++) {
      let stop = begin;
      while (stop < last && nibbleOf(positionAt(stop, values.count), depth) === nibble) stop += 1;
      if (stop === begin) nodes[at++] = STRING;
      else {
        writeNode(values, begin, stop, depth + 1, level + 1);
        at = refer(at);
      }
      begin = stop;
    }
    nodes[at++] = STRING;
  }
  enclose(nodes, body, at);
}

/** Writes the header of a list before its body, and remembers both as the node written last. */
function enclose(bytes: Uint8Array, body: number, end: number): void {
  [written, from, to] = [bytes, body - headerLength(end - body), end];
  writeHeader(bytes, from, end - body, LIST);
}

/** Writes path and headers of a leaf before its value. */
function writeLeaf({ bytes, starts, ends }: Values, position: number, depth: number): void {
  const [start, end] = [starts[position] as number, ends[position] as number];
  const length = end - start;
  // A value is a receipt or a transaction: never so short that it is its own header.
  let body = start - headerLength(length);
  writeHeader(bytes, body, length, STRING);
  const left = nibblesIn(position) - depth;
  body -= pathLength(left);
  writePath(bytes, body, position, depth, left, true);
  enclose(bytes, body, end);
}

function pathLength(nibbles: number): number {
  const length = (nibbles >> 1) + 1;
  return length === 1 ? 1 : length + 1;
}

/** Half bytes in whole ones, with a flag for odd lengths and for leaves; answers how many bytes that took. */
function writePath(bytes: Uint8Array, at: number, position: number, depth: number, nibbles: number, leaf: boolean): number {
  const length = pathLength(nibbles);
  let place = at;
  if (length > 1) bytes[place++] = STRING + length - 1;
  const odd = nibbles & 1;
  bytes[place++] = (((leaf ? 2 : 0) + odd) << 4) | (odd === 1 ? nibbleOf(position, depth) : 0);
  for (let i = odd; i < nibbles; i += 2) bytes[place++] = (nibbleOf(position, depth + i) << 4) | nibbleOf(position, depth + i + 1);
  return length;
}

/** Writes what names the node written last into the one around it: itself while it is short, else its hash. */
function refer(at: number): number {
  if (to - from < 32) {
    nodes.set(written.subarray(from, to), at);
    return at + to - from;
  }
  nodes[at] = HASH;
  nodes.set(keccak(written.subarray(from, to)), at + 1);
  return at + 33;
}
