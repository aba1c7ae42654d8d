// SHA-256 (FIPS 180-4) of many messages, four of them side by side: where one ends, the next one takes its place.

import { endOf, startOf } from './trie';

export const DIGEST: usize = 32;
const BLOCK: usize = 64;
/** Bytes after its last whole block with which a message still has room for a mark and its length in one block. */
const MOST_LEFT: usize = 55;

const CONSTANTS = memory.data<u32>([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
  0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
  0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
  0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
  0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
  0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
]);
const INITIAL = memory.data<u32>([0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19]);
const words = memory.data(64 * 16, 16);
/** Eight words of each message, the same ones beside each other. */
const state = memory.data(8 * 16, 16);

/** What is known of each of the four: which message it is, where its next block is, and how many there are before its end and in it. */
const lanes = memory.data(4 * 20, 16);
const MESSAGE: usize = 0;
const AT: usize = 4;
const WHOLE: usize = 8;
const LAST: usize = 12;
/** How often what comes out is hashed once more. */
const AGAIN: usize = 16;
const LANE: usize = 20;
const NO_MESSAGE: u32 = u32.MAX_VALUE;
/** The end of each message, filled up to whole blocks. */
const ends = memory.data(4 * 128, 16);

let next: usize = 0;
let count: usize = 0;

/**
 * Writes the digests of the first `messages` values (trie.as) to `to`, one after the other; each digest is hashed `again` times. A value at 0 is none, and
 * nothing is written of it. Digests may be written over messages that begin no later.
 */
export function sha256(messages: usize, again: u32, to: usize): void {
  next = 0;
  count = messages;
  let running = 0;
  for (let lane: usize = 0; lane < 4; lane++) if (take(lane, again)) running += 1;
  while (running > 0) {
    compress(load<u32>(lanes, AT), load<u32>(lanes + LANE, AT), load<u32>(lanes + 2 * LANE, AT), load<u32>(lanes + 3 * LANE, AT));
    for (let lane: usize = 0; lane < 4; lane++) {
      const own = lanes + lane * LANE;
      if (load<u32>(own, MESSAGE) == NO_MESSAGE || !hasEnded(lane)) continue;
      const left = load<u32>(own, AGAIN);
      if (left > 0) {
        writeDigest(lane, endOfLane(lane));
        begin(lane, endOfLane(lane), DIGEST, left - 1);
      } else {
        writeDigest(lane, to + <usize>load<u32>(own, MESSAGE) * DIGEST);
        if (!take(lane, again)) running -= 1;
      }
    }
  }
}

@inline
function endOfLane(lane: usize): usize {
  return ends + lane * 128;
}

/** Begins the next message there is; false when there is none. */
function take(lane: usize, again: u32): bool {
  while (next < count && startOf(next) == 0) next += 1;
  const own = lanes + lane * LANE;
  if (next == count) {
    store<u32>(own, NO_MESSAGE, MESSAGE);
    store<u32>(own, endOfLane(lane), AT);
    return false;
  }
  store<u32>(own, next, MESSAGE);
  begin(lane, startOf(next), endOf(next) - startOf(next), again);
  next += 1;
  return true;
}

function begin(lane: usize, from: usize, length: usize, again: u32): void {
  const own = lanes + lane * LANE;
  const whole = length / BLOCK;
  const left = length % BLOCK;
  const last: usize = left > MOST_LEFT ? 2 : 1;
  const end = endOfLane(lane);
  memory.copy(end, from + whole * BLOCK, left);
  memory.fill(end + left, 0, last * BLOCK - left);
  store<u8>(end + left, 0x80);
  store<u64>(end + last * BLOCK - 8, bswap<u64>(<u64>length * 8));
  store<u32>(own, whole > 0 ? from : end, AT);
  store<u32>(own, whole, WHOLE);
  store<u32>(own, last, LAST);
  store<u32>(own, again, AGAIN);
  for (let word: usize = 0; word < 8; word++) store<u32>(state + 16 * word + 4 * lane, load<u32>(INITIAL + 4 * word));
}

/** Goes on to the next block of a message; true when there is none. */
function hasEnded(lane: usize): bool {
  const own = lanes + lane * LANE;
  const whole = load<u32>(own, WHOLE);
  if (whole > 1) {
    store<u32>(own, whole - 1, WHOLE);
    store<u32>(own, load<u32>(own, AT) + <u32>BLOCK, AT);
    return false;
  }
  if (whole == 1) {
    store<u32>(own, 0, WHOLE);
    store<u32>(own, endOfLane(lane), AT);
    return false;
  }
  const last = load<u32>(own, LAST) - 1;
  store<u32>(own, last, LAST);
  store<u32>(own, load<u32>(own, AT) + <u32>BLOCK, AT);
  return last == 0;
}

function writeDigest(lane: usize, to: usize): void {
  for (let word: usize = 0; word < 8; word++) store<u32>(to + 4 * word, bswap<u32>(load<u32>(state + 16 * word + 4 * lane)));
}

@inline
function turnedBy(word: v128, bits: i32): v128 {
  return v128.or(i32x4.shr_u(word, bits), i32x4.shl(word, 32 - bits));
}

@inline
function turned0(word: v128): v128 {
  return v128.xor(v128.xor(turnedBy(word, 2), turnedBy(word, 13)), turnedBy(word, 22));
}

@inline
function turned1(word: v128): v128 {
  return v128.xor(v128.xor(turnedBy(word, 6), turnedBy(word, 11)), turnedBy(word, 25));
}

/** Four words at a place, whose first byte is written first. */
@inline
function wordsAt(at: usize): v128 {
  const bytes = v128.load(at);
  return i8x16.shuffle(bytes, bytes, 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
}

/** Mixes a block of each message into the state. */
function compress(one: usize, two: usize, three: usize, four: usize): void {
  for (let at: usize = 0; at < BLOCK; at += 16) {
    const first = wordsAt(one + at);
    const second = wordsAt(two + at);
    const third = wordsAt(three + at);
    const fourth = wordsAt(four + at);
    // The first words of all beside each other, then the second ones.
    const front = i32x4.shuffle(first, second, 0, 4, 1, 5);
    const back = i32x4.shuffle(third, fourth, 0, 4, 1, 5);
    v128.store(words + 4 * at, i64x2.shuffle(front, back, 0, 2));
    v128.store(words + 4 * at, i64x2.shuffle(front, back, 1, 3), 16);
    const front2 = i32x4.shuffle(first, second, 2, 6, 3, 7);
    const back2 = i32x4.shuffle(third, fourth, 2, 6, 3, 7);
    v128.store(words + 4 * at, i64x2.shuffle(front2, back2, 0, 2), 32);
    v128.store(words + 4 * at, i64x2.shuffle(front2, back2, 1, 3), 48);
  }
  for (let at = words; at < words + 48 * 16; at += 16) {
    const early = v128.load(at, 16);
    const late = v128.load(at, 14 * 16);
    const mixed = i32x4.add(
      v128.xor(v128.xor(turnedBy(early, 7), turnedBy(early, 18)), i32x4.shr_u(early, 3)),
      v128.xor(v128.xor(turnedBy(late, 17), turnedBy(late, 19)), i32x4.shr_u(late, 10)),
    );
    v128.store(at, i32x4.add(mixed, i32x4.add(v128.load(at), v128.load(at, 9 * 16))), 256);
  }
  let a = v128.load(state);
  let b = v128.load(state, 16);
  let c = v128.load(state, 32);
  let d = v128.load(state, 48);
  let e = v128.load(state, 64);
  let f = v128.load(state, 80);
  let g = v128.load(state, 96);
  let h = v128.load(state, 112);
  let sum = a;
  for (let at: usize = 0; at < 64 * 4; at += 8 * 4) {
    sum = i32x4.add(i32x4.add(h, turned1(e)), i32x4.add(v128.bitselect(f, g, e), i32x4.add(v128.load(words + 4 * at, 0), v128.load32_splat(CONSTANTS + at, 0))));
    d = i32x4.add(d, sum);
    h = i32x4.add(sum, i32x4.add(turned0(a), v128.bitselect(c, b, v128.xor(a, b))));
    sum = i32x4.add(i32x4.add(g, turned1(d)), i32x4.add(v128.bitselect(e, f, d), i32x4.add(v128.load(words + 4 * at, 16), v128.load32_splat(CONSTANTS + at, 4))));
    c = i32x4.add(c, sum);
    g = i32x4.add(sum, i32x4.add(turned0(h), v128.bitselect(b, a, v128.xor(h, a))));
    sum = i32x4.add(i32x4.add(f, turned1(c)), i32x4.add(v128.bitselect(d, e, c), i32x4.add(v128.load(words + 4 * at, 32), v128.load32_splat(CONSTANTS + at, 8))));
    b = i32x4.add(b, sum);
    f = i32x4.add(sum, i32x4.add(turned0(g), v128.bitselect(a, h, v128.xor(g, h))));
    sum = i32x4.add(i32x4.add(e, turned1(b)), i32x4.add(v128.bitselect(c, d, b), i32x4.add(v128.load(words + 4 * at, 48), v128.load32_splat(CONSTANTS + at, 12))));
    a = i32x4.add(a, sum);
    e = i32x4.add(sum, i32x4.add(turned0(f), v128.bitselect(h, g, v128.xor(f, g))));
    sum = i32x4.add(i32x4.add(d, turned1(a)), i32x4.add(v128.bitselect(b, c, a), i32x4.add(v128.load(words + 4 * at, 64), v128.load32_splat(CONSTANTS + at, 16))));
    h = i32x4.add(h, sum);
    d = i32x4.add(sum, i32x4.add(turned0(e), v128.bitselect(g, f, v128.xor(e, f))));
    sum = i32x4.add(i32x4.add(c, turned1(h)), i32x4.add(v128.bitselect(a, b, h), i32x4.add(v128.load(words + 4 * at, 80), v128.load32_splat(CONSTANTS + at, 20))));
    g = i32x4.add(g, sum);
    c = i32x4.add(sum, i32x4.add(turned0(d), v128.bitselect(f, e, v128.xor(d, e))));
    sum = i32x4.add(i32x4.add(b, turned1(g)), i32x4.add(v128.bitselect(h, a, g), i32x4.add(v128.load(words + 4 * at, 96), v128.load32_splat(CONSTANTS + at, 24))));
    f = i32x4.add(f, sum);
    b = i32x4.add(sum, i32x4.add(turned0(c), v128.bitselect(e, d, v128.xor(c, d))));
    sum = i32x4.add(i32x4.add(a, turned1(f)), i32x4.add(v128.bitselect(g, h, f), i32x4.add(v128.load(words + 4 * at, 112), v128.load32_splat(CONSTANTS + at, 28))));
    e = i32x4.add(e, sum);
    a = i32x4.add(sum, i32x4.add(turned0(b), v128.bitselect(d, c, v128.xor(b, c))));
  }
  v128.store(state, i32x4.add(a, v128.load(state)));
  v128.store(state, i32x4.add(b, v128.load(state, 16)), 16);
  v128.store(state, i32x4.add(c, v128.load(state, 32)), 32);
  v128.store(state, i32x4.add(d, v128.load(state, 48)), 48);
  v128.store(state, i32x4.add(e, v128.load(state, 64)), 64);
  v128.store(state, i32x4.add(f, v128.load(state, 80)), 80);
  v128.store(state, i32x4.add(g, v128.load(state, 96)), 96);
  v128.store(state, i32x4.add(h, v128.load(state, 112)), 112);
}
