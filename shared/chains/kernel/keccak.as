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

/** Writes the hash of `length` bytes at `from` to `to`. */
export function keccak(from: usize, length: usize, to: usize): void {
  memory.fill(state, 0, 200);
  let at = from;
  let left = length;
  for (; left >= RATE; left -= RATE, at += RATE) absorb(at);
  memory.fill(last, 0, RATE);
  memory.copy(last, at, left);
  store<u8>(last + left, 1);
  store<u8>(last, load<u8>(last, 135) | 0x80, 135);
  absorb(last);
  v128.store(to, v128.load(state));
  v128.store(to, v128.load(state, 16), 16);
}
