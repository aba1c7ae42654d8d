import { hash } from 'node:crypto';
import { type Field, writeFields } from './protobuf.ts';

/** What a block header's bytes are made of (java-tron's `BlockHeader.raw`); hex as the node writes it. */
export interface RawHeader {
  timestamp: bigint;
  txTrieRoot: string;
  parentHash: string;
  number: bigint;
  witnessId: bigint;
  witnessAddress: string;
  version: bigint;
  accountStateRoot: string;
}

/** What the merkle leaf of a transaction is made of: all of its bytes, signatures and outcome included. */
export interface LeafParts {
  rawData: Uint8Array;
  signatures: readonly string[];
  outcomes: readonly { fee: bigint; failed: boolean; contractRet: number; unknown?: readonly Field[] }[];
  /** Fields that the node's own build does not know, in the order in which it prints and writes them: after all others. */
  unknown?: readonly Field[];
}

/** The root over no transactions. */
export const NOTHING = '0'.repeat(64);
const HASH_BYTES = 32;
const pair = Buffer.alloc(2 * HASH_BYTES);

/** SHA-256 as hex. */
export function sha256(bytes: Uint8Array): string {
  return hash('sha256', bytes);
}

/** The id a header has: SHA-256 of its bytes with the number in place of the first eight. */
export function blockIdOf(header: RawHeader): string {
  const bytes = writeFields([
    { number: 1, value: header.timestamp },
    { number: 2, value: fromHex(header.txTrieRoot) },
    { number: 3, value: fromHex(header.parentHash) },
    { number: 7, value: header.number },
    { number: 8, value: header.witnessId },
    { number: 9, value: fromHex(header.witnessAddress) },
    { number: 10, value: header.version },
    { number: 11, value: fromHex(header.accountStateRoot) },
  ]);
  return header.number.toString(16).padStart(16, '0') + sha256(bytes).slice(16);
}

/** The height a block id begins with. */
export function heightOf(blockId: string): number {
  return Number.parseInt(blockId.slice(0, 16), 16);
}

/**
 * The `txTrieRoot` of these transactions: leaves are hashed in pairs, an odd one is carried up as it is (java-tron's
 * `MerkleTree`); without any it is zero.
 */
export function merkleRootOf(transactions: readonly LeafParts[]): string {
  return rootOf(transactions.map(leafHashOf));
}

/** The same of the hashes of their leaves. */
export function rootOf(leafHashes: readonly string[]): string {
  let level = leafHashes;
  while (level.length > 1) {
    const above: string[] = [];
    for (let i = 0; i < level.length; i += 2) {
      const [left, right] = [level[i] as string, level[i + 1]];
      if (right === undefined) above.push(left);
      else {
        pair.write(left, 0, 'hex');
        pair.write(right, HASH_BYTES, 'hex');
        above.push(sha256(pair));
      }
    }
    level = above;
  }
  return level[0] ?? NOTHING;
}

/** The hash of a transaction's leaf. */
export function leafHashOf(parts: LeafParts): string {
  return sha256(bytesOf(parts));
}

/** Bytes of hex text. */
export function fromHex(hex: string): Uint8Array {
  return Buffer.from(hex, 'hex');
}

function bytesOf({ rawData, signatures, outcomes, unknown = [] }: LeafParts): Uint8Array {
  return writeFields([
    { number: 1, value: rawData, always: true },
    ...signatures.map((signature) => ({ number: 2, value: fromHex(signature), always: true as const })),
    ...outcomes.map(({ fee, failed, contractRet, unknown: own = [] }) => ({
      number: 5,
      value: writeFields([
        { number: 1, value: fee },
        { number: 2, value: failed ? 1n : 0n },
        { number: 3, value: BigInt(contractRet) },
        ...own.map((field) => ({ ...field, always: true as const })),
      ]),
      always: true as const,
    })),
    ...unknown.map((field) => ({ ...field, always: true as const })),
  ]);
}
