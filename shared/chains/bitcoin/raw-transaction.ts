import { hash } from 'node:crypto';

export interface RawInput {
  /** The output it spends. */
  txid: string;
  vout: number;
  scriptSig: Buffer;
  sequence: number;
  witness: Buffer[];
}

export interface RawOutput {
  rawAmount: bigint;
  /** Lower-case hexadecimal digits. */
  script: string;
  /** Where the script begins in the bytes of its transaction. */
  scriptAt: number;
}

/** A transaction as its bytes say it. */
export interface RawTransaction {
  bytes: Buffer;
  txid: string;
  /** Hash over the witness too (BIP-141). */
  wtxid: string;
  inputs: RawInput[];
  outputs: RawOutput[];
  /** Made by the block itself: it spends nothing. */
  coinbase: boolean;
}

const NO_TXID = '0'.repeat(64);
const NO_VOUT = 0xffffffff;
/** Satoshis; there will never be more of them. */
export const MOST_COINS = 21_000_000n * 10n ** 8n;

/** SHA-256 twice, as the bytes stand. */
export function sha256d(bytes: Uint8Array): Buffer {
  return hash('sha256', hash('sha256', bytes, 'buffer'), 'buffer');
}

/** A hash as people write it: its bytes from the last to the first. */
export function reversedHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).reverse().toString('hex');
}

/** What the bytes of a transaction say, without the hashes over them. */
export type Parts = Pick<RawTransaction, 'inputs' | 'outputs' | 'coinbase'>;

/**
 * Reads the bytes of a transaction (BIP-144); id and amounts come from them alone. Undefined when they are not exactly one
 * transaction: too few, too many, or with an amount that cannot be.
 */
export function readRawTransaction(hex: string): RawTransaction | undefined {
  if (hex.length % 2 !== 0 || !/^[0-9a-f]+$/.test(hex)) return undefined;
  const bytes = Buffer.from(hex, 'hex');
  const read = partsOf(bytes);
  if (read === undefined) return undefined;
  const { stripped, parts } = read;
  const wtxid = reversedHex(sha256d(bytes));
  return { bytes, txid: stripped === undefined ? wtxid : reversedHex(sha256d(Buffer.concat(stripped))), wtxid, ...parts };
}

/** The same of bytes whose hashes are known. */
export function readParts(bytes: Buffer): Parts | undefined {
  return partsOf(bytes)?.parts;
}

/** `stripped` are the pieces that its id is made of, when it has room for witnesses. */
function partsOf(bytes: Buffer): { parts: Parts; stripped: Buffer[] | undefined } | undefined {
  try {
    return read(bytes);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function read(bytes: Buffer): { parts: Parts; stripped: Buffer[] | undefined } {
  let at = 4;
  /** Where what is skipped begins. */
  const skip = (length: number): number => {
    if (length > bytes.length - at) throw new RangeError('the bytes end too early');
    at += length;
    return at - length;
  };
  const take = (length: number): Buffer => bytes.subarray(skip(length), at);
  const count = (): number => {
    const first = bytes[skip(1)] as number;
    if (first < 0xfd) return first;
    const value = first === 0xfd ? bytes.readUInt16LE(skip(2)) : first === 0xfe ? bytes.readUInt32LE(skip(4)) : Number(bytes.readBigUInt64LE(skip(8)));
    // No list and no script can be longer than all of the bytes.
    if (value > bytes.length) throw new RangeError('a length beyond the bytes');
    return value;
  };

  const segwit = bytes[4] === 0 && bytes[5] === 1;
  if (segwit) at += 2;
  const body = at;
  const inputs: RawInput[] = [];
  for (let left = count(); left > 0; left--) {
    const txid = reversedHex(take(32));
    inputs.push({ txid, vout: bytes.readUInt32LE(skip(4)), scriptSig: take(count()), sequence: bytes.readUInt32LE(skip(4)), witness: [] });
  }
  const outputs: RawOutput[] = [];
  for (let left = count(); left > 0; left--) {
    const rawAmount = bytes.readBigUInt64LE(skip(8));
    if (rawAmount > MOST_COINS) throw new RangeError('an amount beyond all coins');
    const scriptAt = skip(count());
    outputs.push({ rawAmount, script: bytes.toString('hex', scriptAt, at), scriptAt });
  }
  const bodyEnd = at;
  if (segwit) for (const input of inputs) for (let left = count(); left > 0; left--) input.witness.push(take(count()));
  const lockTime = take(4);
  const [first] = inputs;
  if (at !== bytes.length || first === undefined || outputs.length === 0) throw new RangeError('not exactly one transaction');
  const coinbase = inputs.length === 1 && first.txid === NO_TXID && first.vout === NO_VOUT;
  return { parts: { inputs, outputs, coinbase }, stripped: segwit ? [bytes.subarray(0, 4), bytes.subarray(body, bodyEnd), lockTime] : undefined };
}
