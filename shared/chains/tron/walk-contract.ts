import { isAt } from '../json-bytes.ts';
import { isOwnerSecond, TRANSFER, TRIGGER, urlOf } from './contract.ts';

/** What a transaction does by its bytes; `owner` and `recipient` are where the twenty bytes of them are. */
export interface WalkedContract {
  type: number;
  owner: number;
  /** Of TransferContract and TriggerSmartContract; 0 of all others. */
  recipient: number;
  rawAmount: number;
}

/** Bytes of a varint that a double holds exactly, and of the longest there is. */
const EXACT = 7;
const LONGEST = 10;
const LONG = -1;
const CUT = -2;
const ADDRESS_BYTES = 21;
const ADDRESS_PREFIX = 0x41;
const URLS = new Map([TRANSFER, TRIGGER].map((type) => [type, Buffer.from(urlOf(type))]));

/** Where the walk is, and the field before it: a number, LONG where a double does not hold it, or the bytes from `start` to `at`. */
const field = { at: 0, number: 0, isBytes: false, value: 0, start: 0 };

/**
 * Reads `raw_data` bytes as readContract does, without making anything of them; false for whatever is not spelt as wallets spell it: a field twice among those that
 * are read, one of another kind, an address that is none, a number of more than 49 bits.
 */
export function walkContract(bytes: Uint8Array, from: number, to: number, found: WalkedContract): boolean {
  let [start, end] = [0, 0];
  field.at = from;
  while (field.at < to) {
    if (!next(bytes, to)) return false;
    if (field.number !== 11) continue;
    if (!field.isBytes || end !== 0) return false;
    [start, end] = [field.start, field.at];
  }
  return end !== 0 && walkOne(bytes, start, end, found);
}

function walkOne(bytes: Uint8Array, from: number, to: number, found: WalkedContract): boolean {
  let [start, end, types] = [0, 0, 0];
  // AccountCreateContract is number 0, which is left out.
  found.type = 0;
  field.at = from;
  while (field.at < to) {
    if (!next(bytes, to)) return false;
    if (field.number === 1) {
      if (field.isBytes || field.value === LONG || types++ > 0) return false;
      found.type = field.value;
    } else if (field.number === 2) {
      if (!field.isBytes || end !== 0) return false;
      [start, end] = [field.start, field.at];
    }
  }
  return end !== 0 && walkAny(bytes, start, end, found);
}

function walkAny(bytes: Uint8Array, from: number, to: number, found: WalkedContract): boolean {
  let [start, end, url, urlEnd] = [0, 0, 0, 0];
  field.at = from;
  while (field.at < to) {
    if (!next(bytes, to)) return false;
    if (field.number > 2) continue;
    if (!field.isBytes) return false;
    if (field.number === 1) {
      if (urlEnd !== 0) return false;
      [url, urlEnd] = [field.start, field.at];
    } else {
      if (end !== 0) return false;
      [start, end] = [field.start, field.at];
    }
  }
  if (end === 0 || urlEnd === 0) return false;
  const expected = URLS.get(found.type);
  if (expected === undefined) return walkOwner(bytes, start, end, found);
  return urlEnd - url === expected.length && isAt(bytes, url, expected) && walkValue(bytes, start, end, found);
}

/** What TransferContract and TriggerSmartContract have in common: owner, recipient and amount are their first three fields. */
function walkValue(bytes: Uint8Array, from: number, to: number, found: WalkedContract): boolean {
  found.owner = 0;
  found.recipient = 0;
  found.rawAmount = 0;
  let amounts = 0;
  field.at = from;
  while (field.at < to) {
    if (!next(bytes, to)) return false;
    if (field.number > 3) continue;
    if (field.number === 3) {
      if (field.isBytes || field.value === LONG || amounts++ > 0) return false;
      found.rawAmount = field.value;
      continue;
    }
    const address = addressIn(bytes);
    if (address === 0) return false;
    if (field.number === 1) {
      if (found.owner !== 0) return false;
      found.owner = address;
    } else {
      if (found.recipient !== 0) return false;
      found.recipient = address;
    }
  }
  return found.owner !== 0 && found.recipient !== 0;
}

function walkOwner(bytes: Uint8Array, from: number, to: number, found: WalkedContract): boolean {
  const place = isOwnerSecond(found.type) ? 2 : 1;
  found.owner = 0;
  found.recipient = 0;
  found.rawAmount = 0;
  field.at = from;
  while (field.at < to) {
    if (!next(bytes, to)) return false;
    if (field.number !== place) continue;
    const address = addressIn(bytes);
    if (address === 0 || found.owner !== 0) return false;
    found.owner = address;
  }
  return found.owner !== 0;
}

/** Where the twenty bytes of the address begin that the field is; 0 when it is none. */
function addressIn(bytes: Uint8Array): number {
  return field.isBytes && field.at - field.start === ADDRESS_BYTES && bytes[field.start] === ADDRESS_PREFIX ? field.start + 1 : 0;
}

/** Goes to the end of the next field; false when it is cut short, or neither a number nor bytes. */
function next(bytes: Uint8Array, to: number): boolean {
  const key = varint(bytes, to);
  const kind = key & 7;
  field.number = key >> 3;
  field.isBytes = kind === 2;
  if (key >= 1 << 16 || field.number <= 0 || (kind !== 0 && kind !== 2)) return false;
  const value = varint(bytes, to);
  if (kind === 0) {
    field.value = value;
    return value !== CUT;
  }
  if (value < 0) return false;
  field.start = field.at;
  field.at += value;
  return field.at <= to;
}

/** The number at the place of the walk, which goes behind it; LONG when a double does not hold it, CUT when it is none. */
function varint(bytes: Uint8Array, to: number): number {
  let value = 0;
  let unit = 1;
  for (let length = 1; length <= LONGEST && field.at < to; length++) {
    const byte = bytes[field.at++] as number;
    if (byte < 128) return length <= EXACT ? value + byte * unit : LONG;
    value += (byte - 128) * unit;
    unit *= 128;
  }
  return CUT;
}
