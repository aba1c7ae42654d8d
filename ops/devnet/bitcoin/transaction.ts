import { Transaction } from 'bitcoinjs-lib';
import { hash256, idOf, toHex } from './bytes.ts';

/** What an input spends. */
export interface Spent {
  script: Uint8Array;
  value: bigint;
}

/** A transaction with everything about it that is asked for again and again. */
export interface Tx {
  raw: Transaction;
  hex: string;
  txid: string;
  wtxid: string;
  /** Bytes with witnesses. */
  size: number;
  weight: number;
  vsize: number;
  coinbase: boolean;
}

export function txOf(raw: Transaction): Tx {
  const bytes = raw.toBuffer();
  const stripped = raw.hasWitnesses() ? withoutWitnesses(raw) : bytes;
  const weight = stripped.length * 3 + bytes.length;
  return {
    raw,
    hex: toHex(bytes),
    txid: idOf(hash256(stripped)),
    // The id under which a coinbase is counted in the witness commitment is zero, but it is printed like any other's.
    wtxid: idOf(hash256(bytes)),
    size: bytes.length,
    weight,
    vsize: Math.ceil(weight / 4),
    coinbase: raw.isCoinbase(),
  };
}

function withoutWitnesses(raw: Transaction): Uint8Array {
  const plain = raw.clone();
  plain.stripWitnesses();
  return plain.toBuffer();
}

/** Reads a transaction; null when the text is none. */
export function parseTx(hex: string): Tx | null {
  try {
    const raw = Transaction.fromHex(hex);
    return raw.ins.length === 0 ? null : txOf(raw);
  } catch {
    return null;
  }
}

/** An outpoint as it is used for a key: `txid:vout`. */
export function outpoint(txid: string, vout: number): string {
  return `${txid}:${vout}`;
}

/** Outpoints a transaction spends, in the order of its inputs. */
export function spentBy(tx: Tx): string[] {
  return tx.raw.ins.map((input) => outpoint(idOf(input.hash), input.index));
}
