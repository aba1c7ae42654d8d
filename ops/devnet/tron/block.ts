import { fromHex, type Hex, sha256, toHex } from './bytes.ts';
import type { Before } from './cells.ts';
import type { Effects } from './execute.ts';
import { writeFields } from './protobuf.ts';
import { addressOfKey, bytesOf, signHash, type Transaction } from './transaction.ts';

/** A transaction in a block, with what it did. */
export interface Included {
  transaction: Transaction;
  effects: Effects;
}

export interface Block {
  number: number;
  /** 8 bytes of number, then the tail of the header's hash. */
  id: Hex;
  parentId: Hex;
  /** Unix milliseconds. */
  timestamp: bigint;
  /** Which of the pretended producers made it; differs between the blocks of two forks. */
  producer: number;
  txTrieRoot: Hex;
  included: Included[];
  /** What the cells held before the block. */
  before: Before;
}

/** Numbers of `contractResult` in Tron.proto. */
export const CONTRACT_RESULTS: Record<string, bigint> = { SUCCESS: 1n, REVERT: 2n, OUT_OF_ENERGY: 10n, OUT_OF_TIME: 11n, TRANSFER_FAILED: 14n };

/** Header version of nodes of 2026. */
export const BLOCK_VERSION = 34n;

const producerKey = (producer: number): Hex => toHex(sha256(new TextEncoder().encode(`local TRON producer ${producer}`)));
const producers = new Map<number, Hex>();

export function producerAddress(producer: number): Hex {
  const known = producers.get(producer) ?? addressOfKey(producerKey(producer));
  producers.set(producer, known);
  return known;
}

/** Completes a block: its root, and an id that commits to header and transactions as a node computes it. */
export function sealBlock(block: Omit<Block, 'id' | 'txTrieRoot'>): Block {
  const txTrieRoot = merkleRoot(block.included.map(({ transaction, effects }) => sha256(bytesOf(transaction, CONTRACT_RESULTS[effects.contractRet] ?? 0n))));
  const hash = toHex(sha256(headerBytes({ ...block, txTrieRoot })));
  return { ...block, txTrieRoot, id: block.number.toString(16).padStart(16, '0') + hash.slice(16) };
}

const signatures = new WeakMap<Block, Hex>();

/** The producer's signature over the header; made when somebody first looks at the block, since many look at the newest one again and again. */
export function producerSignature(block: Block): Hex {
  const known = signatures.get(block) ?? signHash(toHex(sha256(headerBytes(block))), producerKey(block.producer));
  signatures.set(block, known);
  return known;
}

function headerBytes(block: Omit<Block, 'id'>): Uint8Array {
  const wire = [
    { number: 1, value: block.timestamp },
    { number: 2, value: fromHex(block.txTrieRoot) },
    { number: 3, value: fromHex(block.parentId) },
    { number: 7, value: BigInt(block.number) },
    { number: 9, value: fromHex(producerAddress(block.producer)) },
    { number: 10, value: BLOCK_VERSION },
  ];
  return writeFields(wire.filter(({ value }) => value !== 0n));
}

function merkleRoot(leaves: Uint8Array[]): Hex {
  if (leaves.length === 0) return '0'.repeat(64);
  let level = leaves;
  while (level.length > 1) {
    const above: Uint8Array[] = [];
    for (let at = 0; at < level.length; at += 2) {
      const left = level[at] as Uint8Array;
      const right = level[at + 1];
      above.push(right ? sha256(new Uint8Array(Buffer.concat([left, right]))) : left);
    }
    level = above;
  }
  return toHex(level[0] as Uint8Array);
}
