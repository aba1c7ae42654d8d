import { bytesToHex } from 'viem';
import type { Steps } from '#shared/core/turns.ts';
import { keccak } from './keccak.ts';
import { encodeRlp, quantity, type Rlp } from './rlp.ts';

/** A key in half bytes and its value. */
type Entry = readonly [key: readonly number[], value: Uint8Array];

/** The root of the trie that has these values under their positions, as headers name it for transactions and receipts (Yellow Paper 4.4.3), in steps. Pure. */
export function* findTrieRoot(values: readonly Uint8Array[]): Steps<string> {
  const entries = values.map((value, i): Entry => [keyOf(i), value]);
  const root = entries.length === 0 ? new Uint8Array() : yield* nodeOf(entries, 0);
  return bytesToHex(keccak(encodeRlp(root)));
}

/** The same in every block; as many as the largest one has. */
const keys: (readonly number[])[] = [];

function keyOf(position: number): readonly number[] {
  const known = keys[position];
  if (known !== undefined) return known;
  const key = nibbles(encodeRlp(quantity(BigInt(position))));
  keys[position] = key;
  return key;
}

/** The trie's node over entries that agree in their first `depth` half bytes. No key is the beginning of another one. */
function* nodeOf(entries: readonly Entry[], depth: number): Steps<Rlp> {
  yield;
  const [first] = entries as [Entry];
  if (entries.length === 1) return [pathOf(first[0].slice(depth), true), first[1]];
  let shared = 0;
  while (entries.every(([key]) => key[depth + shared] === first[0][depth + shared])) shared += 1;
  if (shared > 0) return [pathOf(first[0].slice(depth, depth + shared), false), referenceTo(yield* nodeOf(entries, depth + shared))];
  const node: Rlp[] = [];
  for (let nibble = 0; nibble < 16; nibble++) {
    const child = entries.filter(([key]) => key[depth] === nibble);
    node.push(child.length === 0 ? new Uint8Array() : referenceTo(yield* nodeOf(child, depth + 1)));
  }
  return [...node, new Uint8Array()];
}

/** A node inside another one: itself while it is short, else its hash. */
function referenceTo(node: Rlp): Rlp {
  const encoded = encodeRlp(node);
  return encoded.length < 32 ? node : keccak(encoded);
}

/** Half bytes in whole ones, with a flag for odd lengths and for leaves. */
function pathOf(path: readonly number[], leaf: boolean): Uint8Array {
  const flag = (leaf ? 2 : 0) + (path.length % 2);
  const padded = path.length % 2 === 1 ? [flag, ...path] : [flag, 0, ...path];
  return Uint8Array.from({ length: padded.length / 2 }, (_, i) => ((padded[2 * i] as number) << 4) | (padded[2 * i + 1] as number));
}

function nibbles(key: Uint8Array): number[] {
  return [...key].flatMap((byte) => [byte >> 4, byte & 15]);
}
