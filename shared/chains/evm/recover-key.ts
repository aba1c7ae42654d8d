import { recover } from 'tiny-secp256k1';

const WORD_BYTES = 32;

/**
 * The public key, without the byte that says how it is written, whose owner signed a hash: bitcoin-core's libsecp256k1 in WebAssembly, some six times as
 * fast as in JavaScript (decision 0050). Signatures with a high s are taken too, which blocks before Homestead hold (EIP-2). Pure.
 * @throws Error when they are no signature of anybody
 */
export function recoverKey(hash: Uint8Array, { r, s, parity }: { r: bigint; s: bigint; parity: bigint }): Uint8Array {
  if (parity !== 0n && parity !== 1n) throw new RangeError('a signature names one of two keys');
  const key = recover(hash, Buffer.from(wordOf(r) + wordOf(s), 'hex'), parity === 1n ? 1 : 0, false);
  if (key === null) throw new RangeError('nobody has signed this');
  return key.subarray(1);
}

function wordOf(value: bigint): string {
  const digits = value.toString(16).padStart(2 * WORD_BYTES, '0');
  // A sign is no digit.
  if (value < 0n || digits.length > 2 * WORD_BYTES) throw new RangeError('a part of a signature is longer than a word');
  return digits;
}
