import { CLOSE_LIST, CLOSE_OBJECT, COMMA, DOUBT, endOfKey, endOfValue, isAt, isKey, OPEN_LIST, OPEN_OBJECT } from '../json-bytes.ts';
import type { Unread } from '../unread.ts';
import { type Bodies, type ChainRules, isMadeBySync } from './content.ts';
import { encodeTransaction } from './envelope.ts';
import { keccak } from './keccak.ts';
import { type Header, readTransaction, type Transaction } from './replies.ts';
import { endOfQuantity, headerLength, writeHeader, writeHex, writeQuantity, writeString } from './rlp-writer.ts';
import { LEAF_ROOM, openValues, type Values, writeTrieRoot } from './trie-writer.ts';

/** What is looked at of a transaction, by the place of its name here. */
const FIELDS = [
  ...['type', 'hash', 'blockHash', 'from', 'to', 'value', 'nonce', 'chainId', 'gasPrice', 'maxPriorityFeePerGas', 'maxFeePerGas', 'gas', 'input'],
  ...['accessList', 'v', 'r', 's', 'yParity'],
] as const;
type Field = (typeof FIELDS)[number];
const PLACE = Object.fromEntries(FIELDS.map((field, i) => [field, i])) as Record<Field, number>;
const LONGEST_NAME = 20;
/** The fields whose names have so many letters. */
const BY_LENGTH = Array.from({ length: LONGEST_NAME + 1 }, (_, length) =>
  FIELDS.filter((field) => field.length === length).map((field) => ({ key: Buffer.from(field), place: PLACE[field] })),
);

/** What is signed of a transaction, and the signature, in the order of its bytes: legacy, EIP-2930 and EIP-1559. All others are encoded from objects. */
const FORMS: readonly (readonly Field[])[] = [
  ['nonce', 'gasPrice', 'gas', 'to', 'value', 'input', 'v', 'r', 's'],
  ['chainId', 'nonce', 'gasPrice', 'gas', 'to', 'value', 'input', 'accessList', 'yParity', 'r', 's'],
  ['chainId', 'nonce', 'maxPriorityFeePerGas', 'maxFeePerGas', 'gas', 'to', 'value', 'input', 'accessList', 'yParity', 'r', 's'],
];

const NULL = Buffer.from('null');
const EMPTY = Buffer.from('[]');
const TRANSACTIONS = Buffer.from('transactions');
const BEFORE_FIELDS = LEAF_ROOM + 1 + 4;
/** Digits of a word; what is longer is none that a transaction has. */
const LONGEST_NUMBER = 64;
/** Digits of a nonce that every reader holds exactly. */
const LONGEST_NONCE = 13;
/** As of receipts (walk-receipts.ts). */
const LARGEST_BYTES = 4 * 1024 * 1024;

/** Where the value of each field begins and ends in the transaction that is walked; 0 is nowhere. */
const begins = new Int32Array(FIELDS.length);
const stops = new Int32Array(FIELDS.length);
const address = new Uint8Array(20);

const begin = (field: Field): number => begins[PLACE[field]] as number;
const stop = (field: Field): number => stops[PLACE[field]] as number;

/**
 * Walks once over a block told with its transactions, writes each as its trie has it, and makes objects of those at `positions` alone. Undefined unless
 * every check of crossCheckBodies would pass and the root in the header covers all of them (decision 0046): then nothing is known.
 */
export function walkBodies(answer: Unread, header: Header, { chainId, stateSyncs }: ChainRules, positions: readonly number[]): Bodies | undefined {
  const { bytes } = answer;
  const count = header.transactions.length;
  if (header.rootless === true || bytes.length > LARGEST_BYTES) return undefined;
  let at = transactionsIn(bytes);
  const values = at === DOUBT ? undefined : openValues(bytes.length, count);
  if (values === undefined) return undefined;
  const blockHash = Buffer.from(`"${header.hash}"`);
  const wanted = new Set(positions);
  const told: Record<string, unknown>[] = [];
  const read: Transaction[] = [];
  for (let i = 0; i < count; i++) {
    const txid = header.transactions[i] as string;
    const end = walkTransaction(bytes, at, Buffer.from(`"${txid}"`), blockHash);
    if (end === DOUBT || bytes[end] !== (i === count - 1 ? CLOSE_LIST : COMMA)) return undefined;
    if (stateSyncs && isMadeBySync({ from: textOf(bytes, 'from') as string, to: textOf(bytes, 'to') })) return undefined;
    if (!writeTransaction(bytes, values, i) && !encodeInto(values, i, answer.read(at, end) as Record<string, unknown>, typeOf(bytes), chainId))
      return undefined;
    const hash = keccak(values.bytes.subarray(values.starts[i], values.ends[i]));
    if (`0x${Buffer.from(hash).toString('hex')}` !== txid) return undefined;
    if (wanted.has(i)) {
      told[i] = answer.read(at, end) as Record<string, unknown>;
      read[i] = readTransaction(told[i]);
    }
    at = end + 1;
  }
  if (!endsAfter(bytes, at) || `0x${Buffer.from(writeTrieRoot(values)).toString('hex')}` !== header.transactionsRoot) return undefined;
  return { told, read, covered: count };
}

/** Where the first transaction of a block begins, or DOUBT: also when there is none. */
function transactionsIn(bytes: Buffer): number {
  if (bytes[0] !== OPEN_OBJECT) return DOUBT;
  for (let at = 1; ; ) {
    const value = endOfKey(bytes, at);
    if (value === DOUBT) return DOUBT;
    // What is in the list is walked over once, by whoever reads it.
    if (isKey(bytes, at, value, TRANSACTIONS)) return bytes[value] === OPEN_LIST && bytes[value + 1] === OPEN_OBJECT ? value + 1 : DOUBT;
    const end = endOfValue(bytes, value);
    if (end === DOUBT || bytes[end] !== COMMA) return DOUBT;
    at = end + 1;
  }
}

/** Whether the block ends well after its transactions, whose list was closed just before `from`, and does not tell them again. */
function endsAfter(bytes: Buffer, from: number): boolean {
  for (let end = from; ; ) {
    if (bytes[end] !== COMMA) return bytes[end] === CLOSE_OBJECT && end + 1 === bytes.length;
    const value = endOfKey(bytes, end + 1);
    if (value === DOUBT || isKey(bytes, end + 1, value, TRANSACTIONS)) return false;
    end = endOfValue(bytes, value);
    if (end === DOUBT) return false;
  }
}

/** Finds where everything is in the transaction that begins at `from`, and makes every check of readTransaction; answers the place after it, or DOUBT. */
function walkTransaction(bytes: Buffer, from: number, txid: Buffer, blockHash: Buffer): number {
  if (bytes[from] !== OPEN_OBJECT) return DOUBT;
  begins.fill(0);
  for (let at = from + 1; ; ) {
    const value = endOfKey(bytes, at);
    const end = value === DOUBT ? DOUBT : endOfValue(bytes, value);
    if (end === DOUBT) return DOUBT;
    const length = value - at - 3;
    for (const { key, place } of length <= LONGEST_NAME ? (BY_LENGTH[length] ?? []) : []) {
      if (!isKey(bytes, at, value, key)) continue;
      if (begins[place] !== 0) return DOUBT;
      begins[place] = value;
      stops[place] = end;
    }
    if (bytes[end] === COMMA) {
      at = end + 1;
      continue;
    }
    return bytes[end] === CLOSE_OBJECT && isWhole(bytes, txid, blockHash) ? end + 1 : DOUBT;
  }
}

function isWhole(bytes: Buffer, txid: Buffer, blockHash: Buffer): boolean {
  const [type, nonce] = [begin('type'), begin('nonce')];
  return (
    isAt(bytes, begin('hash'), txid) &&
    isAt(bytes, begin('blockHash'), blockHash) &&
    writeHex(bytes, begin('from'), address, 0, 20) === stop('from') &&
    (!isTold(bytes, 'to') || writeHex(bytes, begin('to'), address, 0, 20) === stop('to')) &&
    begin('value') > 0 &&
    endOfQuantity(bytes, begin('value')) === stop('value') &&
    nonce > 0 &&
    endOfQuantity(bytes, nonce) === stop('nonce') &&
    stop('nonce') - nonce - 4 <= LONGEST_NONCE &&
    (!isTold(bytes, 'type') || (endOfQuantity(bytes, type) === stop('type') && stop('type') - type <= 6))
  );
}

function isTold(bytes: Buffer, field: Field): boolean {
  return begin(field) > 0 && !isAt(bytes, begin(field), NULL);
}

function textOf(bytes: Buffer, field: Field): string | null {
  return isTold(bytes, field) ? bytes.toString('latin1', begin(field) + 1, stop(field) - 1) : null;
}

function typeOf(bytes: Buffer): number {
  return Number(textOf(bytes, 'type') ?? 0);
}

/** Writes the transaction that was walked last; false where its form is none of the plain ones, or something is told in another way than most nodes do. */
function writeTransaction(bytes: Buffer, { bytes: into, starts, ends }: Values, position: number): boolean {
  const type = typeOf(bytes);
  const form = FORMS[type];
  if (form === undefined) return false;
  const base = position === 0 ? 0 : (ends[position - 1] as number);
  const body = base + BEFORE_FIELDS;
  let to = body;
  for (const field of form) {
    to = writeField(bytes, field === 'yParity' && !isTold(bytes, 'yParity') ? 'v' : field, into, to);
    if (to === DOUBT) return false;
  }
  let start = body - headerLength(to - body);
  writeHeader(into, start, to - body, 0xc0);
  if (type !== 0) into[--start] = type;
  starts[position] = start;
  ends[position] = to;
  return true;
}

function writeField(bytes: Buffer, field: Field, into: Uint8Array, to: number): number {
  const [at, end] = [begin(field), stop(field)];
  if (field === 'to') {
    into[to] = isTold(bytes, 'to') ? 0x94 : 0x80;
    if (into[to] === 0x80) return to + 1;
    return writeHex(bytes, at, into, to + 1, 20) === DOUBT ? DOUBT : to + 21;
  }
  if (at === 0) return DOUBT;
  if (field === 'input') return writeString(bytes, at, end, into, to);
  if (field === 'accessList') {
    into[to] = 0xc0;
    return isAt(bytes, at, EMPTY) ? to + 1 : DOUBT;
  }
  if (endOfQuantity(bytes, at) !== end || end - at - 4 > LONGEST_NUMBER) return DOUBT;
  return writeQuantity(bytes, at, end, into, to);
}

/** Encodes a transaction as careful readers do, and puts it where the next one belongs; false when its form is not known. */
function encodeInto({ bytes: into, starts, ends }: Values, position: number, tx: Readonly<Record<string, unknown>>, type: number, chainId: string): boolean {
  const encoded = encodeTransaction(tx, type, chainId);
  if (encoded === null) return false;
  const start = (position === 0 ? 0 : (ends[position - 1] as number)) + LEAF_ROOM;
  if (start + encoded.length > into.length) return false;
  into.set(encoded, start);
  starts[position] = start;
  ends[position] = start + encoded.length;
  return true;
}
