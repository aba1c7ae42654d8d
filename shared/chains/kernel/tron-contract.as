// What the bytes of a transaction of TRON say that it does, read as readContract does. Whatever is not spelt as wallets spell it is doubted: a field twice among
// those that are read, one of another kind, an address that is none, a number of more than 49 bits.

import { isAt } from './json';
import { FOUND, REPLY } from './memory';

const TRANSFER: u32 = 1;
const TRIGGER: u32 = 31;
/** Bytes of a varint that a double holds exactly, and of the longest there is. */
const EXACT: usize = 7;
const LONGEST: usize = 10;
const LONG: i64 = -1;
const CUT: i64 = -2;
const ADDRESS: usize = 21;
const ADDRESS_PREFIX: u8 = 0x41;
/** Larger than any number of a field or a type that is read. */
const MOST: i64 = 0x1_0000;

let type: u32 = 0;
let owner: usize = 0;
/** Of TransferContract and TriggerSmartContract. */
let recipient: usize = 0;
let units: i64 = 0;

/** Where the walk is, and the field before it: a number, LONG where a double does not hold it, or the bytes from `start` to `at`. */
let at: usize = 0;
let number: i64 = 0;
let isBytes = false;
let value: i64 = 0;
let start: usize = 0;

export function typeOfContract(): u32 {
  return type;
}

export function isTransfer(): bool {
  return type == TRANSFER;
}

export function isTrigger(): bool {
  return type == TRIGGER;
}

/** Where the twenty bytes of its owner are. */
export function ownerAt(): usize {
  return owner;
}

/** The same of its recipient; 0 where it has none. */
export function recipientAt(): usize {
  return recipient;
}

export function rawAmount(): i64 {
  return units;
}

/** Reads as many bytes at the reply, and writes what they say to FOUND: the type, the places of owner and recipient, and the amount. False when they are unusual. */
export function walkContract(length: usize): bool {
  if (!isContract(REPLY, REPLY + length)) return false;
  store<u32>(FOUND, type);
  store<u32>(FOUND, owner, 4);
  store<u32>(FOUND, recipient, 8);
  store<f64>(FOUND, <f64>units, 16);
  return true;
}

/** Reads the bytes between two places; false when anything about them is unusual. */
export function isContract(from: usize, to: usize): bool {
  let begin: usize = 0;
  let end: usize = 0;
  at = from;
  while (at < to) {
    if (!next(to)) return false;
    if (number != 11) continue;
    if (!isBytes || end != 0) return false;
    begin = start;
    end = at;
  }
  return end != 0 && isOne(begin, end);
}

function isOne(from: usize, to: usize): bool {
  let begin: usize = 0;
  let end: usize = 0;
  let types = 0;
  // AccountCreateContract is number 0, which is left out.
  type = 0;
  at = from;
  while (at < to) {
    if (!next(to)) return false;
    if (number == 1) {
      if (isBytes || value < 0 || value >= MOST || types++ > 0) return false;
      type = <u32>value;
    } else if (number == 2) {
      if (!isBytes || end != 0) return false;
      begin = start;
      end = at;
    }
  }
  return end != 0 && isAny(begin, end);
}

function isAny(from: usize, to: usize): bool {
  let begin: usize = 0;
  let end: usize = 0;
  let url: usize = 0;
  let urlEnd: usize = 0;
  at = from;
  while (at < to) {
    if (!next(to)) return false;
    if (number > 2) continue;
    if (!isBytes) return false;
    if (number == 1) {
      if (urlEnd != 0) return false;
      url = start;
      urlEnd = at;
    } else {
      if (end != 0) return false;
      begin = start;
      end = at;
    }
  }
  if (end == 0 || urlEnd == 0) return false;
  owner = 0;
  recipient = 0;
  units = 0;
  if (isTransfer()) return urlEnd - url == 45 && isAt(url, 'type.googleapis.com/protocol.TransferContract') && isValue(begin, end);
  if (isTrigger()) return urlEnd - url == 49 && isAt(url, 'type.googleapis.com/protocol.TriggerSmartContract') && isValue(begin, end);
  return hasOwner(begin, end);
}

/** What TransferContract and TriggerSmartContract have in common: owner, recipient and amount are their first three fields. */
function isValue(from: usize, to: usize): bool {
  let amounts = 0;
  at = from;
  while (at < to) {
    if (!next(to)) return false;
    if (number > 3) continue;
    if (number == 3) {
      if (isBytes || value < 0 || amounts++ > 0) return false;
      units = value;
      continue;
    }
    const address = addressHere();
    if (address == 0) return false;
    if (number == 1) {
      if (owner != 0) return false;
      owner = address;
    } else {
      if (recipient != 0) return false;
      recipient = address;
    }
  }
  return owner != 0 && recipient != 0;
}

function hasOwner(from: usize, to: usize): bool {
  // These three name their owner second: TransferAssetContract, AccountUpdateContract and SetAccountIdContract.
  const place = type == 2 || type == 10 || type == 19 ? 2 : 1;
  at = from;
  while (at < to) {
    if (!next(to)) return false;
    if (number != place) continue;
    const address = addressHere();
    if (address == 0 || owner != 0) return false;
    owner = address;
  }
  return owner != 0;
}

/** Where the twenty bytes of the address begin that the field is; 0 when it is none. */
function addressHere(): usize {
  return isBytes && at - start == ADDRESS && load<u8>(start) == ADDRESS_PREFIX ? start + 1 : 0;
}

/** Goes to the end of the next field; false when it is cut short, or neither a number nor bytes. */
function next(to: usize): bool {
  const key = varint(to);
  if (key < 0 || key >= MOST) return false;
  const kind = key & 7;
  number = key >> 3;
  isBytes = kind == 2;
  if (number == 0 || (kind != 0 && kind != 2)) return false;
  value = varint(to);
  if (kind == 0) return value != CUT;
  // What is longer than the rest may be longer than places are.
  if (value < 0 || value > <i64>(to - at)) return false;
  start = at;
  at += <usize>value;
  return true;
}

/** The number at the place of the walk, which goes behind it; LONG when a double does not hold it, CUT when it is none. */
function varint(to: usize): i64 {
  let sum: i64 = 0;
  for (let length: usize = 0; length < LONGEST && at < to; length++) {
    const byte = load<u8>(at++);
    if (length < EXACT) sum |= <i64>(byte & 127) << <i64>(7 * length);
    if (byte < 128) return length < EXACT ? sum : LONG;
  }
  return CUT;
}
