import { opcodes, Transaction } from 'bitcoinjs-lib';
import { fromHex, hash256, hashOf, idOf, toHex } from './bytes.ts';
import type { Coin } from './coins.ts';
import { REGTEST } from './parameters.ts';
import { type Tx, txOf } from './transaction.ts';

/** A block and its place in the tree of all blocks. */
export interface Block {
  hash: string;
  height: number;
  parent: Block | null;
  /** 80 bytes. */
  header: Uint8Array;
  time: number;
  /** Hashes expected to be spent on it and everything below. */
  work: bigint;
  transactions: Tx[];
  /** Coins its transactions spent, known from its first connecting on. */
  spent: Coin[][] | null;
  /** Said by `invalidateblock`, or found when it was connected. */
  invalid: boolean;
  /** Of two branches with the same work the one that came first is the chain. */
  arrival: number;
}

/** What is sent of a block. */
export type Found = Pick<Block, 'header' | 'transactions'>;

const COMMITMENT = Uint8Array.of(0x6a, 0x24, 0xaa, 0x21, 0xa9, 0xed);

export interface Draft {
  parent: Block;
  time: number;
  /** Where the subsidy and the fees go. */
  script: Uint8Array;
  fees: bigint;
  transactions: Tx[];
}

/** What a coinbase at `height` may make besides the fees. */
export function subsidyAt(height: number): bigint {
  return REGTEST.subsidy >> BigInt(Math.floor(height / REGTEST.halvingInterval));
}

/** Finds a proof of work for a block with these transactions; on average the second try meets the target. */
export function mineBlock(draft: Draft): Found {
  const transactions = [coinbaseOf(draft), ...draft.transactions];
  const header = Buffer.alloc(80);
  header.writeInt32LE(REGTEST.blockVersion, 0);
  header.set(hashOf(draft.parent.hash), 4);
  header.set(merkleRoot(transactions.map(({ txid }) => hashOf(txid))), 36);
  header.writeUInt32LE(draft.time, 68);
  header.writeUInt32LE(REGTEST.bits, 72);
  for (let nonce = 0; ; nonce += 1) {
    header.writeUInt32LE(nonce, 76);
    if (meetsTarget(header)) return { header: new Uint8Array(header), transactions };
  }
}

export function meetsTarget(header: Uint8Array): boolean {
  return idOf(hash256(header)) <= REGTEST.target;
}

export function merkleRoot(hashes: Uint8Array[]): Uint8Array {
  let level = hashes;
  while (level.length > 1) {
    const pairs: Uint8Array[] = [];
    for (let at = 0; at < level.length; at += 2) {
      const left = level[at] as Uint8Array;
      pairs.push(hash256(Buffer.concat([left, level[at + 1] ?? left])));
    }
    level = pairs;
  }
  return level[0] ?? new Uint8Array(32);
}

/** The output by which a coinbase commits to the witnesses of its block (BIP-141). */
export function witnessCommitment(transactions: Tx[], reserved: Uint8Array): Uint8Array {
  const root = merkleRoot([new Uint8Array(32), ...transactions.map(({ wtxid }) => hashOf(wtxid))]);
  return Uint8Array.of(...COMMITMENT, ...hash256(Buffer.concat([root, reserved])));
}

/** As Bitcoin Core 31 makes one: the height in the script, the height before in the lock time. */
function coinbaseOf({ parent, script, fees, transactions }: Draft): Tx {
  const height = parent.height + 1;
  const reserved = new Uint8Array(32);
  const raw = new Transaction();
  raw.version = 2;
  raw.addInput(new Uint8Array(32), 0xffffffff, 0xfffffffe, heightScript(height));
  raw.setWitness(0, [reserved]);
  raw.addOutput(script, subsidyAt(height) + fees);
  raw.addOutput(witnessCommitment(transactions, reserved), 0n);
  raw.locktime = height - 1;
  return txOf(raw);
}

/** The height pushed as BIP-34 asks; low ones are one byte, which is too short for a coinbase alone. */
export function heightScript(height: number): Uint8Array {
  if (height <= 16) return Uint8Array.of(height === 0 ? 0 : opcodes.OP_1 + height - 1, 0);
  const bytes: number[] = [];
  for (let rest = height; rest > 0; rest = Math.floor(rest / 256)) bytes.push(rest % 256);
  if ((bytes[bytes.length - 1] ?? 0) >= 0x80) bytes.push(0);
  return Uint8Array.of(bytes.length, ...bytes);
}

/** Every byte of a block as it is sent between nodes. */
export function blockHex(block: Found): string {
  return toHex(block.header) + toHex(countOf(block.transactions.length)) + block.transactions.map(({ hex }) => hex).join('');
}

function countOf(count: number): Uint8Array {
  if (count < 0xfd) return Uint8Array.of(count);
  if (count <= 0xffff) return Uint8Array.of(0xfd, count & 0xff, count >> 8);
  return Uint8Array.of(0xfe, count & 0xff, (count >> 8) & 0xff, (count >> 16) & 0xff, count >>> 24);
}

/** Reads a block; null when the bytes are none. */
export function parseBlock(hex: string): Found | null {
  const bytes = fromHex(hex);
  if (bytes === null || bytes.length < 81) return null;
  try {
    const view = Buffer.from(bytes);
    let at = 80;
    const marker = view.readUInt8(at);
    const count = marker < 0xfd ? marker : marker === 0xfd ? view.readUInt16LE(at + 1) : view.readUInt32LE(at + 1);
    at += marker < 0xfd ? 1 : marker === 0xfd ? 3 : 5;
    const transactions: Tx[] = [];
    for (let index = 0; index < count; index += 1) {
      const tx = txOf(Transaction.fromBuffer(bytes.subarray(at), true));
      transactions.push(tx);
      at += tx.size;
    }
    return at === bytes.length ? { header: bytes.slice(0, 80), transactions } : null;
  } catch {
    return null;
  }
}

/** The middle one of the last eleven times: what lock times are measured by (BIP-113). */
export function medianTime(block: Block): number {
  const times: number[] = [];
  for (let at: Block | null = block; at !== null && times.length < 11; at = at.parent) times.push(at.time);
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? block.time;
}
