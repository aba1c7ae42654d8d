import { Buffer } from 'node:buffer';
import type { BitcoinParams } from './params.ts';
import { type Parts, type RawTransaction, reversedHex, sha256d } from './raw-transaction.ts';

/** What the 80 bytes of a block header are made of; hashes as people write them. */
export interface HeaderParts {
  version: number;
  previous: string;
  merkleRoot: string;
  time: number;
  bits: number;
  nonce: number;
}

/** Begins the output of a coinbase that commits to all witnesses (BIP-141). */
const COMMITMENT = '6a24aa21a9ed';
const COMMITMENT_LENGTH = COMMITMENT.length + 64;
const ROOT_LENGTH = 32;

/** The hash a header has. */
export function headerHashOf({ version, previous, merkleRoot, time, bits, nonce }: HeaderParts): string {
  const bytes = Buffer.alloc(80);
  bytes.writeInt32LE(version, 0);
  bytes.set(Buffer.from(previous, 'hex').reverse(), 4);
  bytes.set(Buffer.from(merkleRoot, 'hex').reverse(), 36);
  bytes.writeUInt32LE(time, 68);
  bytes.writeUInt32LE(bits, 72);
  bytes.writeUInt32LE(nonce, 76);
  return reversedHex(sha256d(bytes));
}

/** Whether a hash was worked for as its own header asks, and the header asks for no less than the network's easiest block. */
export function hasItsWork(hash: string, bits: number, { easiestTarget }: Pick<BitcoinParams, 'easiestTarget'>): boolean {
  const size = bits >>> 24;
  const mantissa = BigInt(bits & 0x7fffff);
  const target = size <= 3 ? mantissa >> BigInt(8 * (3 - size)) : mantissa << BigInt(8 * (size - 3));
  return (bits & 0x800000) === 0 && target > 0n && target <= easiestTarget && BigInt(`0x${hash}`) <= target;
}

/** The merkle root over ids as people write them. */
export function merkleRootOf(ids: readonly string[]): string {
  let level: Buffer[] = ids.map((id) => Buffer.from(id, 'hex').reverse());
  while (level.length > 1) {
    const above: Buffer[] = [];
    for (let i = 0; i < level.length; i += 2) {
      const left = level[i] as Buffer;
      // An odd one is paired with itself: hence ids must be unlike one another.
      above.push(sha256d(Buffer.concat([left, level[i + 1] ?? left])));
    }
    level = above;
  }
  return reversedHex(level[0] ?? Buffer.alloc(ROOT_LENGTH));
}

/** What a coinbase commits to its block's witnesses with (BIP-141). */
export interface Commitment {
  /** The hash it wrote, lower-case digits. */
  written: string;
  /** What is hashed beside the root; undefined when it shows nothing that could be. */
  reserved: Buffer | undefined;
}

/** Reads it from a coinbase; undefined where there is none, and so may be no witness. */
export function commitmentOf({ inputs, outputs }: Parts): Commitment | undefined {
  const found = outputs.findLast(({ script }) => script.length >= COMMITMENT_LENGTH && script.startsWith(COMMITMENT));
  if (found === undefined) return undefined;
  const [reserved, ...more] = inputs[0]?.witness ?? [];
  return {
    written: found.script.slice(COMMITMENT.length, COMMITMENT_LENGTH),
    reserved: reserved?.length === ROOT_LENGTH && more.length === 0 ? reserved : undefined,
  };
}

/** Whether the root of all witness ids, as its bytes stand, is what was committed to. */
export function isCommittedTo(root: Uint8Array, { written, reserved }: Commitment): boolean {
  return reserved !== undefined && sha256d(Buffer.concat([root, reserved])).toString('hex') === written;
}

/**
 * Whether the coinbase commits to exactly these witnesses (BIP-141): only then are they the block's own. A block without any
 * witness needs no commitment.
 */
export function commitsToWitnesses(transactions: readonly RawTransaction[]): boolean {
  const [coinbase, ...others] = transactions;
  const commitment = coinbase === undefined ? undefined : commitmentOf(coinbase);
  if (commitment === undefined) return transactions.every(({ inputs }) => inputs.every(({ witness }) => witness.length === 0));
  const root = merkleRootOf(['0'.repeat(64), ...others.map(({ wtxid }) => wtxid)]);
  return isCommittedTo(Buffer.from(root, 'hex').reverse(), commitment);
}

/** Whether a coinbase begins with the height of its block (BIP-34). */
export function namesHeight(coinbase: Parts, height: number): boolean {
  const said = coinbase.inputs[0]?.scriptSig ?? Buffer.alloc(0);
  return said.subarray(0, heightPush(height).length).equals(heightPush(height));
}

/** A height as a script pushes it: small ones by an opcode, others as the shortest signed number. */
function heightPush(height: number): Buffer {
  if (height === 0) return Buffer.from([0]);
  if (height <= 16) return Buffer.from([0x50 + height]);
  const digits: number[] = [];
  for (let left = height; left > 0; left = Math.floor(left / 256)) digits.push(left % 256);
  if (((digits.at(-1) ?? 0) & 0x80) !== 0) digits.push(0);
  return Buffer.from([digits.length, ...digits]);
}
