import { Invariant } from '#shared/core/errors.ts';
import { baseBytes, type NewOutput, outputBytes, type Spend, type SpentOutput, sized, witnessBytes } from './spend.ts';

const MAGIC = Buffer.from('70736274ff', 'hex');
/** The keys that finalized bytes have (BIP-174), and no others: the transaction; what each input spends, and its witness. */
const UNSIGNED_TX = 0x00;
const WITNESS_UTXO = 0x01;
const FINAL_WITNESS = 0x08;
const END = Buffer.of(0x00);

/** Reads bytes from the front; every method throws where they end too early. */
interface Cursor {
  take(size: number): Buffer;
  integer(size: number): number;
  amount(): bigint;
  count(): number;
  sized(): Buffer;
}

/** A finalized spend as a PSBT (BIP-174): what its fee and its signatures are about is part of the bytes. */
export function encodePsbt(spend: Spend): Buffer {
  return Buffer.concat([
    MAGIC,
    entry(UNSIGNED_TX, baseBytes(spend)),
    END,
    ...spend.inputs.flatMap(({ spent, witness }) => [entry(WITNESS_UTXO, outputBytes(spent)), entry(FINAL_WITNESS, witnessBytes(witness)), END]),
    ...spend.outputs.map(() => END),
  ]);
}

/**
 * Reads a finalized PSBT back, sharing nothing with the library that made it, and accepts one spelling only: what it read,
 * written again, must be the very same bytes.
 * @throws Invariant when the bytes are anything but a PSBT with the output each input spends and its final witness
 */
export function decodePsbt(bytes: Uint8Array): Spend {
  try {
    const spend = readPsbt(cursorOf(bytes));
    if (!encodePsbt(spend).equals(bytes)) throw new Invariant('the signed bytes are not spelt canonically');
    return spend;
  } catch (cause) {
    throw cause instanceof Invariant ? cause : new Invariant('the signed bytes are no finalized PSBT', { cause });
  }
}

function readPsbt(from: Cursor): Spend {
  if (!from.take(MAGIC.length).equals(MAGIC)) throw new Invariant('the signed bytes are no PSBT');
  const unsigned = readUnsigned(cursorOf(readEntry(from, UNSIGNED_TX)));
  readEnd(from);
  const inputs = unsigned.inputs.map((input) => {
    const spent = readOutput(cursorOf(readEntry(from, WITNESS_UTXO)));
    const witness = readWitness(cursorOf(readEntry(from, FINAL_WITNESS)));
    readEnd(from);
    return { ...input, spent, witness };
  });
  for (const _ of unsigned.outputs) readEnd(from);
  return { ...unsigned, inputs };
}

function readUnsigned(from: Cursor): Omit<Spend, 'inputs'> & { inputs: Pick<SpentOutput, 'txid' | 'vout' | 'sequence'>[] } {
  const version = from.integer(4);
  const inputs = Array.from({ length: from.count() }, () => {
    const txid = Buffer.from(from.take(32)).reverse().toString('hex');
    const vout = from.integer(4);
    if (from.sized().length > 0) throw new Invariant('an input has a script of its own');
    return { txid, vout, sequence: from.integer(4) };
  });
  const outputs = Array.from({ length: from.count() }, () => readOutput(from));
  return { version, inputs, outputs, lockTime: from.integer(4) };
}

function readOutput(from: Cursor): NewOutput {
  return { rawAmount: from.amount(), script: from.sized().toString('hex') };
}

function readWitness(from: Cursor): Uint8Array[] {
  return Array.from({ length: from.count() }, () => Uint8Array.from(from.sized()));
}

/** The value of the one entry that may come next. */
function readEntry(from: Cursor, key: number): Buffer {
  if (!from.sized().equals(Buffer.of(key))) throw new Invariant('the signed bytes lack something, or have something that no finalized spend has');
  return from.sized();
}

function readEnd(from: Cursor): void {
  if (!from.take(1).equals(END)) throw new Invariant('the signed bytes have something that no finalized spend has');
}

function entry(key: number, value: Uint8Array): Buffer {
  return Buffer.concat([sized(Buffer.of(key)), sized(value)]);
}

function cursorOf(bytes: Uint8Array): Cursor {
  const all = Buffer.from(bytes);
  let at = 0;
  const take = (size: number): Buffer => {
    if (at + size > all.length) throw new Invariant('the signed bytes end too early');
    at += size;
    return all.subarray(at - size, at);
  };
  const integer = (size: number): number => take(size).readUIntLE(0, size);
  const count = (): number => {
    const first = integer(1);
    if (first < 0xfd) return first;
    // More than the bytes could hold is refused before room is made for it.
    const value = first === 0xfd ? integer(2) : integer(4);
    if (first === 0xff || value > all.length) throw new Invariant('the signed bytes count more than they hold');
    return value;
  };
  return { take, integer, amount: () => take(8).readBigUInt64LE(), count, sized: () => take(count()) };
}
