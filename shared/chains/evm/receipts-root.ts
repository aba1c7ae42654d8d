import { bytesToHex, concatBytes, toRlp } from 'viem';
import { atOnce, type Steps } from '#shared/core/turns.ts';
import { keccak } from './keccak.ts';
import type { Receipt } from './replies.ts';

/** Receipts written the same way on every chain that has them: legacy and the envelopes of EIP-2930, 1559, 4844 and 7702. */
const KNOWN_TYPES = new Set([0, 1, 2, 3, 4]);

type Rlp = Uint8Array | readonly Rlp[];
/** A key in half bytes and its value. */
type Entry = readonly [key: readonly number[], value: Uint8Array];

type Rooted = Pick<Receipt, 'type' | 'succeeded' | 'cumulativeGasUsed' | 'logsBloom' | 'logs'>;

/**
 * The root a block's header must name for exactly these receipts, in this order (EIP-2718, Ethereum's receipts trie): it
 * covers outcomes, gas and every byte of every log, which blooms do not. Pure.
 * @returns null when a receipt is of a type whose form is not known here
 */
export function receiptsRoot(receipts: readonly Rooted[]): string | null {
  return atOnce(findReceiptsRoot(receipts));
}

/** The same in steps. */
export function* findReceiptsRoot(receipts: readonly Rooted[]): Steps<string | null> {
  if (receipts.some(({ type }) => !KNOWN_TYPES.has(type))) return null;
  const entries: Entry[] = [];
  for (const [i, receipt] of receipts.entries()) {
    entries.push([keyOf(i), yield* encode(receipt)]);
    yield;
  }
  const root = entries.length === 0 ? new Uint8Array() : yield* nodeOf(entries, 0);
  return bytesToHex(keccak(toRlp(root, 'bytes')));
}

/** The same in every block; as many as the largest one has. */
const keys: (readonly number[])[] = [];

function keyOf(position: number): readonly number[] {
  const known = keys[position];
  if (known !== undefined) return known;
  const key = nibbles(toRlp(quantity(BigInt(position)), 'bytes'));
  keys[position] = key;
  return key;
}

function* encode({ type, succeeded, cumulativeGasUsed, logsBloom, logs }: Rooted): Steps<Uint8Array> {
  const items: Rlp[] = [];
  for (const log of logs) {
    items.push([bytes(log.emitter), log.topics.map(bytes), bytes(log.data)]);
    yield;
  }
  const body = toRlp([quantity(succeeded ? 1n : 0n), quantity(cumulativeGasUsed), bytes(logsBloom), items], 'bytes');
  return type === 0 ? body : concatBytes([Uint8Array.of(type), body]);
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
  const encoded = toRlp(node, 'bytes');
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

/** A number as RLP writes it: no leading zeros, nothing for 0. */
function quantity(value: bigint): Uint8Array {
  if (value === 0n) return new Uint8Array();
  const hex = value.toString(16);
  return bytes(`0x${hex.length % 2 === 0 ? hex : `0${hex}`}`);
}

function bytes(hex: string): Uint8Array {
  return Buffer.from(hex.slice(2), 'hex');
}
