import { hash } from 'node:crypto';
import * as curve from 'tiny-secp256k1';
import { crypto, Transaction as BitcoinTransaction, script as scripts } from 'bitcoinjs-lib';
import type { Steps } from '#shared/core/turns.ts';
import { hash160 as keyHashOf } from './digests.ts';
import type { RawInput } from './raw-transaction.ts';
import { type Prevout, type Transaction, unsure } from './replies.ts';

const P2WPKH = /^0014([0-9a-f]{40})$/;
const P2WSH = /^0020([0-9a-f]{64})$/;
const P2TR = /^5120([0-9a-f]{64})$/;
const P2PKH = /^76a914([0-9a-f]{40})88ac$/;
const P2SH = /^a914([0-9a-f]{40})87$/;
/** How a witness program begins: its version, and a push of 2 to 40 bytes. */
const WITNESS_PROGRAM = /^(00|5[1-9a-f]|60)(0[2-9a-f]|1[0-9a-f]|2[0-8])/;
const SIGHASH_TYPES = new Set([0x01, 0x02, 0x03, 0x81, 0x82, 0x83]);
/** Leading byte of a control block and the key inside it (BIP-341); each step of the path adds one more hash. */
const SHORTEST_CONTROL_BYTES = 33;
const STEP_BYTES = 32;
const ANNEX = 0x50;
const KEY_BYTES = 33;

/**
 * Refuses what a node says a transaction spends unless its own inputs say so too. An output is spent by showing what its
 * script was made of (a key, a script, both committed to by hash), so a node can neither hide whose coins moved nor put the
 * blame on somebody else. Old scripts that name keys outright, and a taproot key's own signature, show nothing to compare.
 * `keys` looks only at inputs that show one compressed key, as all of ours do: a path to a taproot key takes a millisecond or
 * more, and a block can hold thousands of them that are nobody's business. Whoever pays us may show us as many, hence the steps.
 */
export function* crossCheckSpends({ txid, inputs, outputs, prevouts, coinbase }: Transaction, which: 'all' | 'keys' = 'all'): Steps<void> {
  if (coinbase) return;
  for (const [i, input] of inputs.entries()) {
    if (which === 'keys' && !showsKey(input)) continue;
    if (!isSpentBy(prevouts[i] as Prevout, input)) unsure(`input ${i} of ${txid} cannot spend what the node says it does`);
    yield;
  }
  if (feeOf({ prevouts, outputs }) < 0n) unsure(`transaction ${txid} would pay out more than it takes in`);
}

/** What a transaction leaves to whoever mines it, satoshis. */
export function feeOf({ prevouts, outputs }: Pick<Transaction, 'prevouts' | 'outputs'>): bigint {
  return prevouts.reduce((sum, { rawAmount }) => sum + rawAmount, 0n) - outputs.reduce((sum, { rawAmount }) => sum + rawAmount, 0n);
}

/**
 * Refuses the amounts of P2WPKH outputs that these inputs of a transaction spend, unless their signatures were made over them
 * (BIP-143). Other kinds of outputs, and kinds of signatures that no wallet makes, prove nothing and pass.
 */
export function crossCheckAmounts({ bytes, txid, inputs, prevouts }: Transaction, ats: readonly number[]): void {
  const whole = BitcoinTransaction.fromBuffer(bytes);
  for (const at of ats) {
    const { rawAmount, script } = prevouts[at] as Prevout;
    const [signature, key] = (inputs[at] as RawInput).witness;
    const [, keyHash] = P2WPKH.exec(script) ?? [];
    const type = signature?.at(-1) ?? 0;
    if (keyHash === undefined || signature === undefined || key === undefined || !SIGHASH_TYPES.has(type)) continue;
    const scriptCode = Buffer.from(`76a914${keyHash}88ac`, 'hex');
    const digest = whole.hashForWitnessV0(at, scriptCode, rawAmount, type);
    if (!isSigned(digest, key, signature)) unsure(`input ${at} of ${txid} was not signed over ${rawAmount} satoshis`);
  }
}

/** False also for what no such output can be spent with: a key that is no point, or a signature that is not in DER (BIP-66), which the library throws at. */
function isSigned(digest: Uint8Array, key: Buffer, signature: Buffer): boolean {
  // Asked first: what throws inside WebAssembly never gives its stack back, and some thousands of those leave the library of no use to this process.
  if (!curve.isPoint(key)) return false;
  try {
    return curve.verify(digest, key, scripts.signature.decode(signature).signature);
  } catch {
    return false;
  }
}

function showsKey({ witness: [, key, ...more] }: RawInput): boolean {
  return key?.length === KEY_BYTES && (key[0] === 0x02 || key[0] === 0x03) && more.length === 0;
}

function isSpentBy({ script }: Prevout, input: RawInput): boolean {
  const keyHash = P2PKH.exec(script)?.[1];
  if (keyHash !== undefined) return input.witness.length === 0 && (!isPushOnly(input.scriptSig) || hash160(lastPush(input.scriptSig)) === keyHash);
  const scriptHash = P2SH.exec(script)?.[1];
  if (scriptHash !== undefined) {
    const redeem = lastPush(input.scriptSig);
    if (hash160(redeem) !== scriptHash) return false;
    const program = redeem?.toString('hex') ?? '';
    // Taproot's rules are for outputs alone: the same program behind P2SH can be spent with any witness (BIP-341).
    return P2TR.test(program) || isProgramSpentBy(program, input.witness);
  }
  return (!isProgram(script) || input.scriptSig.length === 0) && isProgramSpentBy(script, input.witness);
}

/** Whether a script is a version and one push of all that follows (BIP-141). */
function isProgram(script: string): boolean {
  return WITNESS_PROGRAM.test(script) && script.length === 4 + 2 * Number.parseInt(script.slice(2, 4), 16);
}

/** A script that is no witness program is spent without any witness. */
function isProgramSpentBy(script: string, witness: readonly Buffer[]): boolean {
  if (!isProgram(script)) return witness.length === 0;
  const keyHash = P2WPKH.exec(script)?.[1];
  if (keyHash !== undefined) return witness.length === 2 && hash160(witness[1]) === keyHash;
  const scriptHash = P2WSH.exec(script)?.[1];
  if (scriptHash !== undefined) return witness.length > 0 && hash('sha256', witness.at(-1) as Buffer, 'hex') === scriptHash;
  const outputKey = P2TR.exec(script)?.[1];
  return outputKey === undefined || isTaprootSpentBy(outputKey, witness);
}

/** One element is a signature of the output key itself; more end with a script and the path that leads from it to the key. */
function isTaprootSpentBy(outputKey: string, witness: readonly Buffer[]): boolean {
  const stack = witness.length > 1 && witness.at(-1)?.[0] === ANNEX ? witness.slice(0, -1) : witness;
  if (stack.length < 2) return stack.length === 1;
  const [script, control] = stack.slice(-2) as [Buffer, Buffer];
  if (control.length < SHORTEST_CONTROL_BYTES || (control.length - SHORTEST_CONTROL_BYTES) % STEP_BYTES !== 0) return false;
  let node = tagged('TapLeaf', [Buffer.from([(control[0] ?? 0) & 0xfe]), lengthOf(script), script]);
  for (let at = SHORTEST_CONTROL_BYTES; at < control.length; at += STEP_BYTES) {
    const step = control.subarray(at, at + STEP_BYTES);
    node = tagged('TapBranch', Buffer.compare(node, step) < 0 ? [node, step] : [step, node]);
  }
  const internal = control.subarray(1, SHORTEST_CONTROL_BYTES);
  const tweaked = curve.isXOnlyPoint(internal) ? curve.xOnlyPointAddTweak(internal, tagged('TapTweak', [internal, node])) : null;
  return tweaked !== null && Buffer.from(tweaked.xOnlyPubkey).toString('hex') === outputKey;
}

function tagged(tag: 'TapLeaf' | 'TapBranch' | 'TapTweak', parts: readonly Uint8Array[]): Buffer {
  return Buffer.from(crypto.taggedHash(tag, Buffer.concat(parts)));
}

function lengthOf({ length }: Buffer): Buffer {
  if (length < 0xfd) return Buffer.from([length]);
  const bytes = Buffer.alloc(length <= 0xffff ? 3 : 5, length <= 0xffff ? 0xfd : 0xfe);
  if (length <= 0xffff) bytes.writeUInt16LE(length, 1);
  else bytes.writeUInt32LE(length, 1);
  return bytes;
}

function hash160(bytes: Uint8Array | undefined): string | undefined {
  return bytes === undefined ? undefined : Buffer.from(keyHashOf(bytes)).toString('hex');
}

function isPushOnly(script: Buffer): boolean {
  return pushesOf(script) !== undefined;
}

function lastPush(script: Buffer): Buffer | undefined {
  return pushesOf(script)?.at(-1);
}

/** What a script of nothing but pushes leaves on the stack; undefined when it does anything else. */
function pushesOf(script: Buffer): Buffer[] | undefined {
  const pushes: Buffer[] = [];
  for (let at = 0; at < script.length; ) {
    const opcode = script[at] as number;
    at += 1;
    const width = opcode === 0x4c ? 1 : opcode === 0x4d ? 2 : opcode === 0x4e ? 4 : 0;
    if (at + width > script.length) return undefined;
    const length = width > 0 ? script.readUIntLE(at, width) : opcode < 0x4c ? opcode : 0;
    at += width;
    if (at + length > script.length) return undefined;
    if (opcode <= 0x4e) pushes.push(script.subarray(at, at + length));
    else if (opcode === 0x4f) pushes.push(Buffer.from([0x81]));
    else if (opcode >= 0x51 && opcode <= 0x60) pushes.push(Buffer.from([opcode - 0x50]));
    else return undefined;
    at += length;
  }
  return pushes;
}
