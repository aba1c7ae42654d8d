// One walk over the transactions of a block as its node told them, which writes each as its trie has it and holds its hash against its id (decision 0046).

import { CLOSE_LIST, CLOSE_OBJECT, COMMA, DOUBT, endOfKey, endOfValue, isAt, isKey, isSame, OPEN_LIST, OPEN_OBJECT } from './json';
import { keccakBoth } from './keccak';
import { BLOCK_HASH, FOUND, FOUND_BYTES, REPLY, TXID_TEXT, TXIDS, VALUES, VALUES_END, WORD } from './memory';
import { endOfQuantity, headerLength, writeHeader, writeHex, writeQuantity, writeString } from './rlp';
import { endOf, LEAF_ROOM, placeValue, startOf, writeTrieRoot } from './trie';

/**
 * Encodes the transaction between two places of the reply as careful readers do, and writes it to `to`; answers how long it is, or 0 when its form is
 * not known or it is longer than `room`.
 */
@external('env', 'encode')
declare function encode(from: usize, end: usize, type: i32, to: usize, room: usize): usize;

const HASH_TEXT: usize = 68;
const HASH_BYTES: usize = 32;
/** Where the id of a transaction is among what is found of it. */
const ID: usize = 32;
const BEFORE_FIELDS: usize = LEAF_ROOM + 1 + 4;
/** Digits of a word; what is longer is none that a transaction has. */
const LONGEST_NUMBER: usize = 64;
/** Digits of a nonce that every reader holds exactly. */
const LONGEST_NONCE: usize = 13;

/** Where the value of each field begins and ends in the transaction that is walked; 0 is nowhere. */
const TYPE: usize = 0;
const HASH: usize = 1;
const OF_BLOCK: usize = 2;
const FROM: usize = 3;
const TO: usize = 4;
const VALUE: usize = 5;
const NONCE: usize = 6;
const CHAIN: usize = 7;
const GAS_PRICE: usize = 8;
const TIP: usize = 9;
const MOST_FEE: usize = 10;
const GAS: usize = 11;
const INPUT: usize = 12;
const ACCESS: usize = 13;
const V: usize = 14;
const R: usize = 15;
const S: usize = 16;
const PARITY: usize = 17;
const FIELDS: usize = 18;
const begins = memory.data(18 * 4, 16);
const stops = memory.data(18 * 4, 16);

@inline
function begin(field: usize): usize {
  return load<u32>(begins + 4 * field);
}

@inline
function stop(field: usize): usize {
  return load<u32>(stops + 4 * field);
}

/**
 * Walks over the block in the reply of this length, which holds `count` transactions, and writes their root to WORD and where each is to FOUND. False
 * unless every check of crossCheckBodies would pass but for the root.
 */
export function walkBodies(length: usize, count: usize, stateSyncs: bool): bool {
  let at = transactionsIn(REPLY);
  if (at == DOUBT) return false;
  for (let i: usize = 0; i < count; i++) {
    const end = walkTransaction(at, TXIDS + i * (TXID_TEXT + 1));
    if (end == DOUBT || load<u8>(end) != (i == count - 1 ? CLOSE_LIST : COMMA)) return false;
    if (stateSyncs && isMadeBySync()) return false;
    const type = isTold(TYPE) ? typeAt(begin(TYPE), stop(TYPE)) : 0;
    if (!writeTransaction(i, type) && !encodeInto(i, at, end, type)) return false;
    const own = FOUND + i * FOUND_BYTES;
    store<u32>(own, at - REPLY);
    store<u32>(own, end - REPLY, 4);
    // Its digits were compared with those in the header, and are looked at here.
    if (writeHex(begin(HASH), own + ID, HASH_BYTES) == DOUBT) return false;
    at = end + 1;
  }
  if (!endsAfter(at, REPLY + length)) return false;
  for (let i: usize = 0; i < count; i += 2) if (!areThese(i, min(i + 1, count - 1))) return false;
  writeTrieRoot(count, WORD);
  return true;
}

/** Whether two transactions, or one twice, give the hashes that are their ids. */
function areThese(one: usize, other: usize): bool {
  keccakBoth(startOf(one), endOf(one) - startOf(one), WORD, startOf(other), endOf(other) - startOf(other), WORD + HASH_BYTES);
  return isSame(WORD, FOUND + one * FOUND_BYTES + ID, HASH_BYTES) && isSame(WORD + HASH_BYTES, FOUND + other * FOUND_BYTES + ID, HASH_BYTES);
}

/** Where the first transaction of a block begins, or DOUBT: also when there is none. */
function transactionsIn(from: usize): usize {
  if (load<u8>(from) != OPEN_OBJECT) return DOUBT;
  let at = from + 1;
  while (true) {
    const value = endOfKey(at);
    if (value == DOUBT) return DOUBT;
    // What is in the list is walked over once, by whoever reads it.
    if (isTransactions(at, value)) return load<u8>(value) == OPEN_LIST && load<u8>(value, 1) == OPEN_OBJECT ? value + 1 : DOUBT;
    const end = endOfValue(value);
    if (end == DOUBT || load<u8>(end) != COMMA) return DOUBT;
    at = end + 1;
  }
}

function isTransactions(at: usize, value: usize): bool {
  return value - at - 3 == 12 && isKey(at, 'transactions');
}

/** Whether the block ends well after its transactions, whose list was closed just before `from`, and does not tell them again. */
function endsAfter(from: usize, last: usize): bool {
  let end = from;
  while (true) {
    if (load<u8>(end) != COMMA) return load<u8>(end) == CLOSE_OBJECT && end + 1 == last;
    const value = endOfKey(end + 1);
    if (value == DOUBT || isTransactions(end + 1, value)) return false;
    end = endOfValue(value);
    if (end == DOUBT) return false;
  }
}

/** The number of the field whose key is at `at` and so long; FIELDS for any other. */
function fieldAt(at: usize, length: usize): usize {
  switch (<i32>length) {
    case 1:
      return isKey(at, 'v') ? V : isKey(at, 'r') ? R : isKey(at, 's') ? S : FIELDS;
    case 2:
      return isKey(at, 'to') ? TO : FIELDS;
    case 3:
      return isKey(at, 'gas') ? GAS : FIELDS;
    case 4:
      return isKey(at, 'type') ? TYPE : isKey(at, 'hash') ? HASH : isKey(at, 'from') ? FROM : FIELDS;
    case 5:
      return isKey(at, 'value') ? VALUE : isKey(at, 'nonce') ? NONCE : isKey(at, 'input') ? INPUT : FIELDS;
    case 7:
      return isKey(at, 'chainId') ? CHAIN : isKey(at, 'yParity') ? PARITY : FIELDS;
    case 8:
      return isKey(at, 'gasPrice') ? GAS_PRICE : FIELDS;
    case 9:
      return isKey(at, 'blockHash') ? OF_BLOCK : FIELDS;
    case 10:
      return isKey(at, 'accessList') ? ACCESS : FIELDS;
    case 12:
      return isKey(at, 'maxFeePerGas') ? MOST_FEE : FIELDS;
    case 20:
      return isKey(at, 'maxPriorityFeePerGas') ? TIP : FIELDS;
    default:
      return FIELDS;
  }
}

/** Finds where everything is in the transaction that begins at `from`, and makes every check of readTransaction; answers the place after it, or DOUBT. */
function walkTransaction(from: usize, txid: usize): usize {
  if (load<u8>(from) != OPEN_OBJECT) return DOUBT;
  memory.fill(begins, 0, FIELDS * 4);
  let at = from + 1;
  while (true) {
    const value = endOfKey(at);
    const end = value == DOUBT ? DOUBT : endOfValue(value);
    if (end == DOUBT) return DOUBT;
    const field = fieldAt(at, value - at - 3);
    if (field != FIELDS) {
      if (begin(field) != 0) return DOUBT;
      store<u32>(begins + 4 * field, value);
      store<u32>(stops + 4 * field, end);
    }
    const next = load<u8>(end);
    at = end + 1;
    if (next == COMMA) continue;
    return next == CLOSE_OBJECT && isWhole(txid) ? at : DOUBT;
  }
}

function isWhole(txid: usize): bool {
  return (
    isHash(HASH, txid) &&
    isHash(OF_BLOCK, BLOCK_HASH) &&
    isAddress(FROM) &&
    (!isTold(TO) || isAddress(TO)) &&
    isQuantity(VALUE) &&
    isQuantity(NONCE) &&
    stop(NONCE) - begin(NONCE) - 4 <= LONGEST_NONCE &&
    (!isTold(TYPE) || (isQuantity(TYPE) && stop(TYPE) - begin(TYPE) <= 6))
  );
}

function isHash(field: usize, expected: usize): bool {
  return begin(field) > 0 && isSame(begin(field), expected, HASH_TEXT);
}

function isAddress(field: usize): bool {
  return begin(field) > 0 && writeHex(begin(field), WORD, 20) == stop(field);
}

function isQuantity(field: usize): bool {
  return begin(field) > 0 && endOfQuantity(begin(field)) == stop(field);
}

function isTold(field: usize): bool {
  return begin(field) > 0 && !isAt(begin(field), 'null');
}

/** Whether the chain itself put the transaction there (content.ts). */
function isMadeBySync(): bool {
  const nobody = '"0x0000000000000000000000000000000000000000"';
  return isAt(begin(FROM), nobody) && isTold(TO) && isAt(begin(TO), nobody);
}

function typeAt(at: usize, end: usize): i32 {
  let type = 0;
  for (let digit = at + 3; digit + 1 < end; digit++) {
    const letter = load<u8>(digit);
    type = (type << 4) | (letter > 0x39 ? letter - 0x57 : letter - 0x30);
  }
  return type;
}

/**
 * Writes the transaction that was walked last: what is signed of it, and the signature, of the types legacy, EIP-2930 and EIP-1559. False where it is
 * of another one, or something is told in another way than most nodes do.
 */
function writeTransaction(position: usize, type: i32): bool {
  if (type > 2) return false;
  const body = valueAfter(position) + BEFORE_FIELDS;
  let to = body;
  if (type != 0) to = writeNumber(CHAIN, to);
  to = writeNumber(NONCE, to);
  if (type == 2) {
    to = writeNumber(TIP, to);
    to = writeNumber(MOST_FEE, to);
  } else to = writeNumber(GAS_PRICE, to);
  to = writeNumber(GAS, to);
  if (to == DOUBT) return false;
  if (isTold(TO)) {
    store<u8>(to, 0x94);
    if (writeHex(begin(TO), to + 1, 20) == DOUBT) return false;
    to += 21;
  } else store<u8>(to++, 0x80);
  to = writeNumber(VALUE, to);
  if (to == DOUBT || begin(INPUT) == 0) return false;
  to = writeString(begin(INPUT), stop(INPUT), to);
  if (to == DOUBT) return false;
  if (type != 0) {
    if (begin(ACCESS) == 0 || !isAt(begin(ACCESS), '[]')) return false;
    store<u8>(to++, 0xc0);
  }
  to = writeNumber(type == 0 || !isTold(PARITY) ? V : PARITY, to);
  to = writeNumber(R, to);
  to = writeNumber(S, to);
  if (to == DOUBT) return false;
  let start = body - headerLength(to - body);
  writeHeader(start, to - body, 0xc0);
  if (type != 0) store<u8>(--start, type);
  placeValue(position, start, to);
  return true;
}

/** Writes a number as an RLP string; answers the place after it, or DOUBT, also where `to` is. */
function writeNumber(field: usize, to: usize): usize {
  const at = begin(field);
  const end = stop(field);
  return to != DOUBT && at > 0 && endOfQuantity(at) == end && end - at - 4 <= LONGEST_NUMBER ? writeQuantity(at, end, to) : DOUBT;
}

/** Where nobody has written anything behind the value before. */
function valueAfter(position: usize): usize {
  return position == 0 ? VALUES : endOf(position - 1);
}

/** Has a transaction encoded from an object, and puts it where the next one belongs; false when its form is not known. */
function encodeInto(position: usize, from: usize, end: usize, type: i32): bool {
  const start = valueAfter(position) + LEAF_ROOM;
  if (start >= VALUES_END) return false;
  const length = encode(from - REPLY, end - REPLY, type, start, VALUES_END - start);
  if (length == 0) return false;
  placeValue(position, start, start + length);
  return true;
}
