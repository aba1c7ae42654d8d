// Keccak-256 as Ethereum uses it: 24 rounds over 25 words, 136 bytes at a time, padded with 0x01.

const RATE: usize = 136;
/** What the last round but one of each step adds to the first word. */
const ROUNDS = memory.data<u64>([
  0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000, 0x000000000000808b, 0x0000000080000001, 0x8000000080008081,
  0x8000000000008009, 0x000000000000008a, 0x0000000000000088, 0x0000000080008009, 0x000000008000000a, 0x000000008000808b, 0x800000000000008b,
  0x8000000000008089, 0x8000000000008003, 0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a, 0x8000000080008081,
  0x8000000000008080, 0x0000000080000001, 0x8000000080008008,
]);
const state = memory.data(200, 16);
const last = memory.data(136, 16);

/** Mixes the 17 words at `from` into the state, and the state. */
function absorb(from: usize): void {
  let a00 = load<u64>(state) ^ load<u64>(from);
  let a01 = load<u64>(state, 8) ^ load<u64>(from, 8);
  let a02 = load<u64>(state, 16) ^ load<u64>(from, 16);
  let a03 = load<u64>(state, 24) ^ load<u64>(from, 24);
  let a04 = load<u64>(state, 32) ^ load<u64>(from, 32);
  let a05 = load<u64>(state, 40) ^ load<u64>(from, 40);
  let a06 = load<u64>(state, 48) ^ load<u64>(from, 48);
  let a07 = load<u64>(state, 56) ^ load<u64>(from, 56);
  let a08 = load<u64>(state, 64) ^ load<u64>(from, 64);
  let a09 = load<u64>(state, 72) ^ load<u64>(from, 72);
  let a10 = load<u64>(state, 80) ^ load<u64>(from, 80);
  let a11 = load<u64>(state, 88) ^ load<u64>(from, 88);
  let a12 = load<u64>(state, 96) ^ load<u64>(from, 96);
  let a13 = load<u64>(state, 104) ^ load<u64>(from, 104);
  let a14 = load<u64>(state, 112) ^ load<u64>(from, 112);
  let a15 = load<u64>(state, 120) ^ load<u64>(from, 120);
  let a16 = load<u64>(state, 128) ^ load<u64>(from, 128);
  let a17 = load<u64>(state, 136);
  let a18 = load<u64>(state, 144);
  let a19 = load<u64>(state, 152);
  let a20 = load<u64>(state, 160);
  let a21 = load<u64>(state, 168);
  let a22 = load<u64>(state, 176);
  let a23 = load<u64>(state, 184);
  let a24 = load<u64>(state, 192);
  for (let round: usize = 0; round < 192; round += 8) {
    const c0 = a00 ^ a05 ^ a10 ^ a15 ^ a20;
    const c1 = a01 ^ a06 ^ a11 ^ a16 ^ a21;
    const c2 = a02 ^ a07 ^ a12 ^ a17 ^ a22;
    const c3 = a03 ^ a08 ^ a13 ^ a18 ^ a23;
    const c4 = a04 ^ a09 ^ a14 ^ a19 ^ a24;
    const d0 = c4 ^ rotl<u64>(c1, 1);
    const d1 = c0 ^ rotl<u64>(c2, 1);
    const d2 = c1 ^ rotl<u64>(c3, 1);
    const d3 = c2 ^ rotl<u64>(c4, 1);
    const d4 = c3 ^ rotl<u64>(c0, 1);

    const b00 = a00 ^ d0;
    const b10 = rotl<u64>(a01 ^ d1, 1);
    const b20 = rotl<u64>(a02 ^ d2, 62);
    const b05 = rotl<u64>(a03 ^ d3, 28);
    const b15 = rotl<u64>(a04 ^ d4, 27);
    const b16 = rotl<u64>(a05 ^ d0, 36);
    const b01 = rotl<u64>(a06 ^ d1, 44);
    const b11 = rotl<u64>(a07 ^ d2, 6);
    const b21 = rotl<u64>(a08 ^ d3, 55);
    const b06 = rotl<u64>(a09 ^ d4, 20);
    const b07 = rotl<u64>(a10 ^ d0, 3);
    const b17 = rotl<u64>(a11 ^ d1, 10);
    const b02 = rotl<u64>(a12 ^ d2, 43);
    const b12 = rotl<u64>(a13 ^ d3, 25);
    const b22 = rotl<u64>(a14 ^ d4, 39);
    const b23 = rotl<u64>(a15 ^ d0, 41);
    const b08 = rotl<u64>(a16 ^ d1, 45);
    const b18 = rotl<u64>(a17 ^ d2, 15);
    const b03 = rotl<u64>(a18 ^ d3, 21);
    const b13 = rotl<u64>(a19 ^ d4, 8);
    const b14 = rotl<u64>(a20 ^ d0, 18);
    const b24 = rotl<u64>(a21 ^ d1, 2);
    const b09 = rotl<u64>(a22 ^ d2, 61);
    const b19 = rotl<u64>(a23 ^ d3, 56);
    const b04 = rotl<u64>(a24 ^ d4, 14);

    a00 = b00 ^ (~b01 & b02) ^ load<u64>(ROUNDS + round);
    a01 = b01 ^ (~b02 & b03);
    a02 = b02 ^ (~b03 & b04);
    a03 = b03 ^ (~b04 & b00);
    a04 = b04 ^ (~b00 & b01);
    a05 = b05 ^ (~b06 & b07);
    a06 = b06 ^ (~b07 & b08);
    a07 = b07 ^ (~b08 & b09);
    a08 = b08 ^ (~b09 & b05);
    a09 = b09 ^ (~b05 & b06);
    a10 = b10 ^ (~b11 & b12);
    a11 = b11 ^ (~b12 & b13);
    a12 = b12 ^ (~b13 & b14);
    a13 = b13 ^ (~b14 & b10);
    a14 = b14 ^ (~b10 & b11);
    a15 = b15 ^ (~b16 & b17);
    a16 = b16 ^ (~b17 & b18);
    a17 = b17 ^ (~b18 & b19);
    a18 = b18 ^ (~b19 & b15);
    a19 = b19 ^ (~b15 & b16);
    a20 = b20 ^ (~b21 & b22);
    a21 = b21 ^ (~b22 & b23);
    a22 = b22 ^ (~b23 & b24);
    a23 = b23 ^ (~b24 & b20);
    a24 = b24 ^ (~b20 & b21);
  }
  store<u64>(state, a00);
  store<u64>(state, a01, 8);
  store<u64>(state, a02, 16);
  store<u64>(state, a03, 24);
  store<u64>(state, a04, 32);
  store<u64>(state, a05, 40);
  store<u64>(state, a06, 48);
  store<u64>(state, a07, 56);
  store<u64>(state, a08, 64);
  store<u64>(state, a09, 72);
  store<u64>(state, a10, 80);
  store<u64>(state, a11, 88);
  store<u64>(state, a12, 96);
  store<u64>(state, a13, 104);
  store<u64>(state, a14, 112);
  store<u64>(state, a15, 120);
  store<u64>(state, a16, 128);
  store<u64>(state, a17, 136);
  store<u64>(state, a18, 144);
  store<u64>(state, a19, 152);
  store<u64>(state, a20, 160);
  store<u64>(state, a21, 168);
  store<u64>(state, a22, 176);
  store<u64>(state, a23, 184);
  store<u64>(state, a24, 192);
}

/** Writes the last block: what is left of the bytes, and how their end is told. */
function pad(block: usize, at: usize, left: usize): void {
  memory.fill(block, 0, RATE);
  memory.copy(block, at, left);
  store<u8>(block + left, 1);
  store<u8>(block, load<u8>(block, 135) | 0x80, 135);
}

/** Writes the hash of `length` bytes at `from` to `to`. */
export function keccak(from: usize, length: usize, to: usize): void {
  memory.fill(state, 0, 200);
  let at = from;
  let left = length;
  for (; left >= RATE; left -= RATE, at += RATE) absorb(at);
  pad(last, at, left);
  absorb(last);
  v128.store(to, v128.load(state));
  v128.store(to, v128.load(state, 16), 16);
}

/** Two states side by side, and the last blocks of both: two hashes take little longer than one. */
const states = memory.data(400, 16);
const otherLast = memory.data(136, 16);

@inline
function xor(a: v128, b: v128): v128 {
  return v128.xor(a, b);
}

@inline
function rotate(a: v128, bits: i32): v128 {
  return v128.or(i64x2.shl(a, bits), i64x2.shr_u(a, 64 - bits));
}

@inline
function pair(from: usize, other: usize, offset: usize): v128 {
  return v128.load64_lane(other + offset, v128.load64_zero(from + offset), 1);
}

/** Mixes the 17 words at `from`, and those at `other`, into the two states that lie side by side, and both states. */
function absorbBoth(from: usize, other: usize): void {
  let a00 = xor(v128.load(states), pair(from, other, 0));
  let a01 = xor(v128.load(states, 16), pair(from, other, 8));
  let a02 = xor(v128.load(states, 32), pair(from, other, 16));
  let a03 = xor(v128.load(states, 48), pair(from, other, 24));
  let a04 = xor(v128.load(states, 64), pair(from, other, 32));
  let a05 = xor(v128.load(states, 80), pair(from, other, 40));
  let a06 = xor(v128.load(states, 96), pair(from, other, 48));
  let a07 = xor(v128.load(states, 112), pair(from, other, 56));
  let a08 = xor(v128.load(states, 128), pair(from, other, 64));
  let a09 = xor(v128.load(states, 144), pair(from, other, 72));
  let a10 = xor(v128.load(states, 160), pair(from, other, 80));
  let a11 = xor(v128.load(states, 176), pair(from, other, 88));
  let a12 = xor(v128.load(states, 192), pair(from, other, 96));
  let a13 = xor(v128.load(states, 208), pair(from, other, 104));
  let a14 = xor(v128.load(states, 224), pair(from, other, 112));
  let a15 = xor(v128.load(states, 240), pair(from, other, 120));
  let a16 = xor(v128.load(states, 256), pair(from, other, 128));
  let a17 = v128.load(states, 272);
  let a18 = v128.load(states, 288);
  let a19 = v128.load(states, 304);
  let a20 = v128.load(states, 320);
  let a21 = v128.load(states, 336);
  let a22 = v128.load(states, 352);
  let a23 = v128.load(states, 368);
  let a24 = v128.load(states, 384);
  for (let round: usize = 0; round < 192; round += 8) {
    const c0 = xor(xor(a00, a05), xor(xor(a10, a15), a20));
    const c1 = xor(xor(a01, a06), xor(xor(a11, a16), a21));
    const c2 = xor(xor(a02, a07), xor(xor(a12, a17), a22));
    const c3 = xor(xor(a03, a08), xor(xor(a13, a18), a23));
    const c4 = xor(xor(a04, a09), xor(xor(a14, a19), a24));
    const d0 = xor(c4, rotate(c1, 1));
    const d1 = xor(c0, rotate(c2, 1));
    const d2 = xor(c1, rotate(c3, 1));
    const d3 = xor(c2, rotate(c4, 1));
    const d4 = xor(c3, rotate(c0, 1));

    const b00 = xor(a00, d0);
    const b10 = rotate(xor(a01, d1), 1);
    const b20 = rotate(xor(a02, d2), 62);
    const b05 = rotate(xor(a03, d3), 28);
    const b15 = rotate(xor(a04, d4), 27);
    const b16 = rotate(xor(a05, d0), 36);
    const b01 = rotate(xor(a06, d1), 44);
    const b11 = rotate(xor(a07, d2), 6);
    const b21 = rotate(xor(a08, d3), 55);
    const b06 = rotate(xor(a09, d4), 20);
    const b07 = rotate(xor(a10, d0), 3);
    const b17 = rotate(xor(a11, d1), 10);
    const b02 = rotate(xor(a12, d2), 43);
    const b12 = rotate(xor(a13, d3), 25);
    const b22 = rotate(xor(a14, d4), 39);
    const b23 = rotate(xor(a15, d0), 41);
    const b08 = rotate(xor(a16, d1), 45);
    const b18 = rotate(xor(a17, d2), 15);
    const b03 = rotate(xor(a18, d3), 21);
    const b13 = rotate(xor(a19, d4), 8);
    const b14 = rotate(xor(a20, d0), 18);
    const b24 = rotate(xor(a21, d1), 2);
    const b09 = rotate(xor(a22, d2), 61);
    const b19 = rotate(xor(a23, d3), 56);
    const b04 = rotate(xor(a24, d4), 14);

    a00 = xor(xor(b00, v128.andnot(b02, b01)), v128.load_splat<u64>(ROUNDS + round));
    a01 = xor(b01, v128.andnot(b03, b02));
    a02 = xor(b02, v128.andnot(b04, b03));
    a03 = xor(b03, v128.andnot(b00, b04));
    a04 = xor(b04, v128.andnot(b01, b00));
    a05 = xor(b05, v128.andnot(b07, b06));
    a06 = xor(b06, v128.andnot(b08, b07));
    a07 = xor(b07, v128.andnot(b09, b08));
    a08 = xor(b08, v128.andnot(b05, b09));
    a09 = xor(b09, v128.andnot(b06, b05));
    a10 = xor(b10, v128.andnot(b12, b11));
    a11 = xor(b11, v128.andnot(b13, b12));
    a12 = xor(b12, v128.andnot(b14, b13));
    a13 = xor(b13, v128.andnot(b10, b14));
    a14 = xor(b14, v128.andnot(b11, b10));
    a15 = xor(b15, v128.andnot(b17, b16));
    a16 = xor(b16, v128.andnot(b18, b17));
    a17 = xor(b17, v128.andnot(b19, b18));
    a18 = xor(b18, v128.andnot(b15, b19));
    a19 = xor(b19, v128.andnot(b16, b15));
    a20 = xor(b20, v128.andnot(b22, b21));
    a21 = xor(b21, v128.andnot(b23, b22));
    a22 = xor(b22, v128.andnot(b24, b23));
    a23 = xor(b23, v128.andnot(b20, b24));
    a24 = xor(b24, v128.andnot(b21, b20));
  }
  v128.store(states, a00);
  v128.store(states, a01, 16);
  v128.store(states, a02, 32);
  v128.store(states, a03, 48);
  v128.store(states, a04, 64);
  v128.store(states, a05, 80);
  v128.store(states, a06, 96);
  v128.store(states, a07, 112);
  v128.store(states, a08, 128);
  v128.store(states, a09, 144);
  v128.store(states, a10, 160);
  v128.store(states, a11, 176);
  v128.store(states, a12, 192);
  v128.store(states, a13, 208);
  v128.store(states, a14, 224);
  v128.store(states, a15, 240);
  v128.store(states, a16, 256);
  v128.store(states, a17, 272);
  v128.store(states, a18, 288);
  v128.store(states, a19, 304);
  v128.store(states, a20, 320);
  v128.store(states, a21, 336);
  v128.store(states, a22, 352);
  v128.store(states, a23, 368);
  v128.store(states, a24, 384);
}

/** Writes the hashes of the `length` bytes at `from` and of the `otherLength` bytes at `other`. */
export function keccakBoth(from: usize, length: usize, to: usize, other: usize, otherLength: usize, otherTo: usize): void {
  // What is longer by a whole block is better hashed by itself.
  if (length / RATE != otherLength / RATE) {
    keccak(from, length, to);
    keccak(other, otherLength, otherTo);
    return;
  }
  memory.fill(states, 0, 400);
  const whole = (length / RATE) * RATE;
  for (let done: usize = 0; done < whole; done += RATE) absorbBoth(from + done, other + done);
  pad(last, from + whole, length - whole);
  pad(otherLast, other + whole, otherLength - whole);
  absorbBoth(last, otherLast);
  for (let word: usize = 0; word < 4; word++) {
    store<u64>(to + 8 * word, load<u64>(states + 16 * word));
    store<u64>(otherTo + 8 * word, load<u64>(states + 16 * word, 8));
  }
}
