// RIPEMD-160 of digests of 32 bytes, each one block, four of them side by side.

import { DIGEST } from './sha256';

const KEY_HASH: usize = 20;
const STEPS: usize = 80;
/** Which word each step of either line takes, and by how many bits it turns. */
const TAKEN = memory.data<u8>([
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
  7, 4, 13, 1, 10, 6, 15, 3, 12, 0, 9, 5, 2, 14, 11, 8,
  3, 10, 14, 4, 9, 15, 8, 1, 2, 7, 0, 6, 13, 11, 5, 12,
  1, 9, 11, 10, 0, 8, 12, 4, 13, 3, 7, 15, 14, 5, 6, 2,
  4, 0, 5, 9, 7, 12, 2, 10, 14, 1, 3, 8, 11, 6, 15, 13,
  5, 14, 7, 0, 9, 2, 11, 4, 13, 6, 15, 8, 1, 10, 3, 12,
  6, 11, 3, 7, 0, 13, 5, 10, 14, 15, 8, 12, 4, 9, 1, 2,
  15, 5, 1, 3, 7, 14, 6, 9, 11, 8, 12, 2, 10, 0, 4, 13,
  8, 6, 4, 1, 3, 11, 15, 0, 5, 12, 2, 13, 9, 7, 10, 14,
  12, 15, 10, 4, 1, 5, 8, 7, 6, 2, 13, 14, 0, 3, 9, 11,
]);
const TURNED = memory.data<u8>([
  11, 14, 15, 12, 5, 8, 7, 9, 11, 13, 14, 15, 6, 7, 9, 8,
  7, 6, 8, 13, 11, 9, 7, 15, 7, 12, 15, 9, 11, 7, 13, 12,
  11, 13, 6, 7, 14, 9, 13, 15, 14, 8, 13, 6, 5, 12, 7, 5,
  11, 12, 14, 15, 14, 15, 9, 8, 9, 14, 5, 6, 8, 6, 5, 12,
  9, 15, 5, 11, 6, 8, 13, 12, 5, 12, 13, 14, 11, 8, 5, 6,
  8, 9, 9, 11, 13, 15, 15, 5, 7, 7, 8, 11, 14, 14, 12, 6,
  9, 13, 15, 7, 12, 8, 9, 11, 7, 7, 12, 7, 6, 15, 13, 11,
  9, 7, 15, 11, 8, 6, 6, 14, 12, 13, 5, 14, 13, 13, 7, 5,
  15, 5, 8, 11, 14, 14, 6, 14, 6, 9, 12, 9, 12, 5, 15, 8,
  8, 5, 12, 9, 12, 5, 14, 6, 8, 13, 6, 5, 15, 13, 11, 11,
]);
const ADDED = memory.data<u32>([0, 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xa953fd4e, 0x50a28be6, 0x5c4dd124, 0x6d703ef3, 0x7a6d76e9, 0]);
const words = memory.data(16 * 16, 16);
/** What either line comes to: five words of each digest. */
const lines = memory.data(2 * 5 * 16, 16);

/** Writes the twenty bytes of each of `count` digests at `from` to `to`, one after the other. What is beyond the last one is hashed too, and written nowhere. */
export function ripemd160(from: usize, count: usize, to: usize): void {
  for (let i: usize = 0; i < count; i += 4) {
    takeWords(from + i * DIGEST);
    walkLine(0);
    walkLine(1);
    for (let word: usize = 0; word < 5; word++) {
      const sum = i32x4.add(i32x4.splat(initial((word + 1) % 5)), i32x4.add(lineAt(0, (word + 2) % 5), lineAt(1, (word + 3) % 5)));
      v128.store(words + 16 * word, sum);
    }
    for (let lane: usize = 0; lane < min<usize>(4, count - i); lane++)
      for (let word: usize = 0; word < 5; word++) store<u32>(to + (i + lane) * KEY_HASH + 4 * word, load<u32>(words + 16 * word + 4 * lane));
  }
}

function initial(word: usize): i32 {
  switch (<i32>word) {
    case 0:
      return 0x67452301;
    case 1:
      return 0xefcdab89;
    case 2:
      return 0x98badcfe;
    case 3:
      return 0x10325476;
    default:
      return 0xc3d2e1f0;
  }
}

@inline
function lineAt(line: usize, word: usize): v128 {
  return v128.load(lines + (line * 5 + word) * 16);
}

/** The words of four digests, and what fills up the block behind each: a mark and its length. */
function takeWords(from: usize): void {
  for (let word: usize = 0; word < 8; word++) {
    const at = from + 4 * word;
    store<u32>(words + 16 * word, load<u32>(at));
    store<u32>(words + 16 * word, load<u32>(at + DIGEST), 4);
    store<u32>(words + 16 * word, load<u32>(at + 2 * DIGEST), 8);
    store<u32>(words + 16 * word, load<u32>(at + 3 * DIGEST), 12);
  }
  for (let word: usize = 8; word < 16; word++) v128.store(words + 16 * word, i32x4.splat(word == 8 ? 0x80 : word == 14 ? <i32>DIGEST * 8 : 0));
}

@inline
function turned(word: v128, bits: i32): v128 {
  return v128.or(i32x4.shl(word, bits), i32x4.shr_u(word, 32 - bits));
}

function mixed(kind: usize, x: v128, y: v128, z: v128): v128 {
  switch (<i32>kind) {
    case 0:
      return v128.xor(v128.xor(x, y), z);
    case 1:
      return v128.bitselect(y, z, x);
    case 2:
      return v128.xor(v128.or(x, v128.not(y)), z);
    case 3:
      return v128.bitselect(x, y, z);
    default:
      return v128.xor(x, v128.or(y, v128.not(z)));
  }
}

/** Goes all steps of one of the two lines, which take the same mixtures in opposite order. */
function walkLine(line: usize): void {
  let a = i32x4.splat(initial(0));
  let b = i32x4.splat(initial(1));
  let c = i32x4.splat(initial(2));
  let d = i32x4.splat(initial(3));
  let e = i32x4.splat(initial(4));
  for (let step: usize = 0; step < STEPS; step++) {
    const round = step / 16;
    const word = v128.load(words + 16 * <usize>load<u8>(TAKEN + line * STEPS + step));
    const sum = i32x4.add(
      i32x4.add(a, mixed(line == 0 ? round : 4 - round, b, c, d)),
      i32x4.add(word, v128.load32_splat(ADDED + 4 * (line * 5 + round))),
    );
    a = e;
    e = d;
    d = turned(c, 10);
    c = b;
    b = i32x4.add(turned(sum, load<u8>(TURNED + line * STEPS + step)), a);
  }
  const own = lines + line * 5 * 16;
  v128.store(own, a);
  v128.store(own, b, 16);
  v128.store(own, c, 32);
  v128.store(own, d, 48);
  v128.store(own, e, 64);
}
