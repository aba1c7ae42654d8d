import { hash } from 'node:crypto';
import type { HasKey } from '../chain.ts';
import { areBytes, writeBytes } from '../hex-bytes.ts';
import { CLOSE_LIST, COMMA, DOUBT, endOfString, endOfValue, isAt, OPEN_LIST, OPEN_OBJECT, QUOTE } from '../json-bytes.ts';
import { type Finder, findFields } from '../json-fields.ts';
import { contractName, TRANSFER, TRIGGER } from './contract.ts';
import { RESULTS } from './replies.ts';
import { walkContract, type WalkedContract } from './walk-contract.ts';

const quoted = (text: string): Buffer => Buffer.from(`"${text}"`);

const VALUE = findFields(['amount', 'call_value', 'owner_address', 'to_address', 'contract_address']);
const PARAMETER = findFields(['value'], { value: VALUE });
const CONTRACT = findFields(['type', 'parameter'], { parameter: PARAMETER });
/** Nobody reads more than the first contract that is told: bytes say that there is one. */
const FIRST_CONTRACT: Finder = {
  opens: OPEN_LIST,
  forget: () => CONTRACT.forget(),
  find(bytes, from) {
    CONTRACT.forget();
    if (bytes[from + 1] !== OPEN_OBJECT) return endOfValue(bytes, from);
    let at = CONTRACT.find(bytes, from + 1);
    while (at !== DOUBT && bytes[at] === COMMA) at = endOfValue(bytes, at + 1);
    return at !== DOUBT && bytes[at] === CLOSE_LIST ? at + 1 : DOUBT;
  },
};
const RAW_DATA = findFields(['contract'], { contract: FIRST_CONTRACT });
/** All that a transaction may have beside fields that nobody knows. */
const TRANSACTION = findFields(['txID', 'raw_data', 'raw_data_hex', 'signature', 'ret', 'contract_address', 'visible'], { raw_data: RAW_DATA });

const [RET_BEGINS, RET_ENDS, SUCCESS] = ['[{"contractRet":"', '"}]', '[{"contractRet":"SUCCESS"}]'].map((text) => Buffer.from(text)) as [
  Buffer,
  Buffer,
  Buffer,
];
const [TRANSFER_NAME, TRIGGER_NAME] = [TRANSFER, TRIGGER].map((type) => quoted(contractName(type) as string)) as [Buffer, Buffer];
const LONGEST_RESULT = 40;
const HASH_DIGITS = 64;
/** Digits of an integer that a double holds exactly. */
const LONGEST_NUMBER = 15;
const [ZERO, NINE] = [0x30, 0x39];

/** Where the bytes of one transaction are written, as its merkle leaf has them. No transaction is told in more text than this has room for. */
const leaf = new Uint8Array(1 << 20);

/** What a walk finds of a transaction. */
export interface WalkedTransaction {
  /** Place after it in the reply. */
  end: number;
  txid: string;
  type: number;
  /** The outcome that the block states. */
  contractRet: string;
  /** SHA-256 of its merkle leaf, in hex. */
  leafHash: string;
  /** Whether it is sent by a watched address, or would pass TRX to one by itself. */
  named: boolean;
}

const contract: WalkedContract = { type: 0, owner: 0, recipient: 0, rawAmount: 0 };

/**
 * Walks over the transaction that begins at `from` and makes every check that reading it makes: its id is that of its bytes, and what is told of them is what they say.
 * False when there is anything unusual about it, so that it has to be read; `found.end` is DOUBT when not even that can be told.
 */
export function walkTransaction(bytes: Buffer, from: number, has: HasKey, found: WalkedTransaction): boolean {
  found.end = TRANSACTION.find(bytes, from);
  if (found.end === DOUBT || TRANSACTION.hasOthers() || found.end - from > leaf.length) return false;
  const [txid, raw] = [TRANSACTION.begin('txID'), TRANSACTION.begin('raw_data_hex')];
  if (bytes[txid] !== QUOTE || TRANSACTION.end('txID') - txid !== HASH_DIGITS + 2) return false;
  const rawBytes = bytesOfString(bytes, raw, TRANSACTION.end('raw_data_hex'));
  if (rawBytes === DOUBT) return false;
  const rawAt = writeLength(0, 0x0a, rawBytes);
  const rawEnd = rawAt + rawBytes;
  if (!writeBytes(bytes, raw + 1, leaf, rawAt, rawBytes)) return false;
  found.txid = bytes.toString('latin1', txid + 1, txid + 1 + HASH_DIGITS);
  if (hash('sha256', leaf.subarray(rawAt, rawEnd)) !== found.txid) return false;
  const signed = writeSignatures(bytes, TRANSACTION.begin('signature'), rawEnd);
  if (signed === DOUBT) return false;
  const result = resultIn(bytes, TRANSACTION.begin('ret'));
  if (result < 1) return false;
  leaf.set([0x2a, 2, 0x18, result], signed);
  found.leafHash = hash('sha256', leaf.subarray(0, signed + 4));
  found.contractRet = RESULTS[result] as string;
  if (!walkContract(leaf, rawAt, rawEnd, contract) || !isRetold(bytes)) return false;
  const { type, owner, recipient, rawAmount } = contract;
  found.type = type;
  found.named = has(leaf, owner) || (rawAmount > 0 && has(leaf, recipient));
  return true;
}

/** How many bytes a string of hex digits between two places stands for, or DOUBT. */
function bytesOfString(bytes: Uint8Array, at: number, end: number): number {
  const digits = end - at - 2;
  return at > 0 && bytes[at] === QUOTE && (digits & 1) === 0 ? digits >> 1 : DOUBT;
}

/** Writes the key and length of a field of bytes; answers the place after them. */
function writeLength(at: number, key: number, length: number): number {
  leaf[at] = key;
  let place = at + 1;
  let rest = length;
  for (; rest > 127; rest >>= 7) leaf[place++] = (rest & 127) | 128;
  leaf[place] = rest;
  return place + 1;
}

/** Writes the signatures that are told in a list; answers the place after them, or DOUBT. */
function writeSignatures(bytes: Uint8Array, from: number, to: number): number {
  if (from === 0) return to;
  if (bytes[from] !== OPEN_LIST) return DOUBT;
  if (bytes[from + 1] === CLOSE_LIST) return to;
  let place = to;
  for (let at = from + 1; ; at += 1) {
    const end = endOfString(bytes, at);
    const length = end === DOUBT ? DOUBT : bytesOfString(bytes, at, end);
    if (length === DOUBT) return DOUBT;
    place = writeLength(place, 0x12, length);
    if (!writeBytes(bytes, at + 1, leaf, place, length)) return DOUBT;
    place += length;
    at = end;
    if (bytes[at] === CLOSE_LIST) return place;
  }
}

/** The number of the one outcome that is told without anything else, or DOUBT. */
function resultIn(bytes: Buffer, at: number): number {
  if (at === 0) return DOUBT;
  if (isAt(bytes, at, SUCCESS)) return 1;
  if (!isAt(bytes, at, RET_BEGINS)) return DOUBT;
  const begin = at + RET_BEGINS.length;
  const end = bytes.indexOf(QUOTE, begin);
  return end - begin <= LONGEST_RESULT && isAt(bytes, end, RET_ENDS) ? RESULTS.indexOf(bytes.toString('latin1', begin, end)) : DOUBT;
}

/** Whether what is told of the contract is what its bytes say, as far as anybody looks. */
function isRetold(bytes: Uint8Array): boolean {
  const { type, owner, recipient, rawAmount } = contract;
  const isTransfer = type === TRANSFER;
  if (!isTransfer && type !== TRIGGER) return true;
  const name = CONTRACT.begin('type');
  if (name === 0 || !isAt(bytes, name, isTransfer ? TRANSFER_NAME : TRIGGER_NAME) || !isAddress(bytes, 'owner_address', owner)) return false;
  if (integerIn(bytes, isTransfer ? 'amount' : 'call_value') !== rawAmount) return false;
  return rawAmount === 0 || isAddress(bytes, isTransfer ? 'to_address' : 'contract_address', recipient);
}

/** Whether a field of the contract's value is this address of the leaf, with its prefix. */
function isAddress(bytes: Uint8Array, name: 'owner_address' | 'to_address' | 'contract_address', place: number): boolean {
  const at = VALUE.begin(name);
  return at > 0 && bytesOfString(bytes, at, VALUE.end(name)) === 21 && areBytes(bytes, at + 1, leaf, place - 1, 21);
}

/** The integer in a field of the contract's value, zero where it is left out, or DOUBT. */
function integerIn(bytes: Uint8Array, name: 'amount' | 'call_value'): number {
  const at = VALUE.begin(name);
  return at === 0 ? 0 : wholeNumber(bytes, at, VALUE.end(name));
}

/** The number that all of the bytes between two places are the digits of, or DOUBT. */
export function wholeNumber(bytes: Uint8Array, from: number, to: number): number {
  if (to - from > LONGEST_NUMBER) return DOUBT;
  let value = 0;
  for (let at = from; at < to; at++) {
    const code = bytes[at] as number;
    if (code < ZERO || code > NINE) return DOUBT;
    value = value * 10 + code - ZERO;
  }
  return value;
}
