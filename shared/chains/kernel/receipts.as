// One walk over the receipts of a block as its node told them, which writes each as its trie has it straight from the digits (decision 0046).

import { CLOSE_LIST, CLOSE_OBJECT, COMMA, DOUBT, endOfKey, endOfString, endOfValue, isAt, isKey, isSame, OPEN_LIST, OPEN_OBJECT } from './json';
import { BLOCK_HASH, FOUND, FOUND_BYTES, HEIGHT, REPLY, TXID_TEXT, TXIDS, VALUES, WORD } from './memory';
import { endOfQuantity, headerLength, isHex, isWhole, quantityLength, stringLength, writeHeader, writeHex, writeQuantity, writeString } from './rlp';
import { endOf, LEAF_ROOM, placeValue, writeTrieRoot } from './trie';

/** Whether the twenty bytes at a place are those of a watched address. */
@external('env', 'has')
declare function has(at: usize): bool;

/** It logs the fee of failed transactions too, which nothing else does (content.ts). */
const POLYGON_COIN = '"0x0000000000000000000000000000000000001010"';

const DEPOSIT: i32 = 0x7e;
const HASH_TEXT: usize = 68;
const ADDRESS_TEXT: usize = 44;
const BLOOM_BYTES: usize = 256;
const BLOOM: usize = 3 + BLOOM_BYTES;
/** Digits of a number that is written: none of gas, and no nonce, is longer. */
const LONGEST_NUMBER: usize = 16;
/** Quotes and 0x. */
const AROUND_DIGITS: usize = 4;
/** With no more digits than this both a fee and gas times its price are below 2^124, and their sum is what a transaction can have cost (MOST_PAID of replies.ts). */
const COST_DIGITS: usize = 31;
/** Before the logs of a receipt: room for its leaf, its type, two headers, status, gas and bloom. */
const BEFORE_LOGS: usize = LEAF_ROOM + 1 + 4 + 1 + 9 + BLOOM + 4;

/** Fields without which a receipt is none: all but type, l1Fee, to, contractAddress and the two of deposits. */
const ALWAYS: i32 = 2 | 4 | 32 | 64 | 128 | 256 | 512 | (1 << 11) | (1 << 13) | (1 << 14) | (1 << 15);
const ALWAYS_IN_LOG: i32 = 1 | 2 | 4 | 8 | 16 | 32;

/** How long the height is as it stands in JSON. */
let heightLength: usize = 0;
/** The id of the transaction whose receipt is being walked. */
let txid: usize = 0;
let logs: i32 = 0;
/** Whether a transfer in the receipt names a watched address. */
let named = false;
/** Whether anybody but Polygon's own coin logged something in the receipt. */
let foreign = false;
/** Where the next log is written. */
let to: usize = 0;

/**
 * Walks over the `count` receipts in the reply of this length, and writes their root to WORD and what was found of each to FOUND. Answers how many
 * logs there are, or -1 unless every check of readReceipt and crossCheck would pass but for the root.
 */
export function walkReceipts(length: usize, count: usize, heightText: usize): i32 {
  heightLength = heightText;
  logs = 0;
  if (load<u8>(REPLY) != OPEN_LIST) return -1;
  let at = REPLY + 1;
  for (let i: usize = 0; i < count; i++) {
    const end = walkReceipt(at, i);
    if (end == DOUBT || load<u8>(end) != (i == count - 1 ? CLOSE_LIST : COMMA)) return -1;
    at = end + 1;
  }
  if (at != REPLY + length) return -1;
  writeTrieRoot(count, WORD);
  return logs;
}

/** Whether receipts of this type are written alike: legacy, EIP-2930, 1559, 4844 and 7702, and Arbitrum's own; or a deposit's, of which more is written. */
function isKnown(type: i32): bool {
  return type <= 4 || (type >= 0x64 && type <= 0x6a && type != 0x67) || type == DEPOSIT || type == 0x7f;
}

/** Walks over the receipt that begins at `from` and writes it behind the one before; answers the place after it, or DOUBT. */
function walkReceipt(from: usize, position: usize): usize {
  if (load<u8>(from) != OPEN_OBJECT) return DOUBT;
  const logsAt = (position == 0 ? VALUES : endOf(position - 1)) + BEFORE_LOGS;
  to = logsAt;
  txid = TXIDS + position * (TXID_TEXT + 1);
  const logsBefore = logs;
  named = false;
  foreign = false;
  let status = -1;
  let type = 0;
  let sender: usize = 0;
  let recipient: usize = 0;
  let created: usize = 0;
  let bloom: usize = 0;
  let gas: usize = 0;
  let gasUsed: usize = 0;
  let nonce: usize = 0;
  let version: usize = 0;
  // Lengths of what the transaction cost, as it is told.
  let priceLength: usize = 0;
  let gasLength: usize = 0;
  let feeLength: usize = 0;
  let seen = 0;
  let at = from + 1;
  while (true) {
    const value = endOfKey(at);
    if (value == DOUBT) return DOUBT;
    let end = DOUBT;
    let bit = 0;
    // By the length of the key, so that at most three are compared.
    switch (<i32>(value - at - 3)) {
      case 2:
        if (isKey(at, 'to')) {
          bit = 1;
          end = endOfAddress(value);
          if (!isNull(value)) recipient = value;
        }
        break;
      case 4:
        if (isKey(at, 'from')) {
          bit = 2;
          end = isNull(value) ? DOUBT : endOfAddress(value);
          sender = value;
        } else if (isKey(at, 'logs')) {
          bit = 4;
          end = walkLogs(value);
        } else if (isKey(at, 'type')) {
          bit = 8;
          end = endOfNumberOrNull(value);
          if (end != DOUBT && end - value > 6) return DOUBT;
          if (!isNull(value)) type = numberAt(value, end);
        }
        break;
      case 5:
        if (isKey(at, 'l1Fee')) {
          bit = 16;
          end = endOfNumberOrNull(value);
          feeLength = end - value;
        }
        break;
      case 6:
        if (isKey(at, 'status')) {
          bit = 32;
          status = isAt(value, '"0x1"') ? 1 : isAt(value, '"0x0"') ? 0 : -1;
          if (status < 0) return DOUBT;
          end = value + 5;
        }
        break;
      case 7:
        if (isKey(at, 'gasUsed')) {
          bit = 64;
          end = endOfQuantity(value);
          gasUsed = value;
          gasLength = end - value;
        }
        break;
      case 9:
        if (isKey(at, 'logsBloom')) {
          bit = 128;
          bloom = value;
          end = value + 4 + 2 * BLOOM_BYTES;
        } else if (isKey(at, 'blockHash')) {
          bit = 256;
          end = isSame(value, BLOCK_HASH, HASH_TEXT) ? value + HASH_TEXT : DOUBT;
        }
        break;
      case 11:
        if (isKey(at, 'blockNumber')) {
          bit = 512;
          end = isSame(value, HEIGHT, heightLength) ? value + heightLength : DOUBT;
        }
        break;
      case 12:
        if (isKey(at, 'depositNonce')) {
          bit = 1 << 10;
          end = endOfNumberOrNull(value);
          if (!isNull(value)) nonce = value;
        }
        break;
      case 15:
        if (isKey(at, 'transactionHash')) {
          bit = 1 << 11;
          end = isSame(value, txid, HASH_TEXT) ? value + HASH_TEXT : DOUBT;
        } else if (isKey(at, 'contractAddress')) {
          bit = 1 << 12;
          end = endOfAddress(value);
          if (!isNull(value)) created = value;
        }
        break;
      case 16:
        if (isKey(at, 'transactionIndex')) {
          bit = 1 << 13;
          end = endOfIndex(value, <i32>position);
        }
        break;
      case 17:
        if (isKey(at, 'cumulativeGasUsed')) {
          bit = 1 << 14;
          end = endOfQuantity(value);
          gas = value;
        } else if (isKey(at, 'effectiveGasPrice')) {
          bit = 1 << 15;
          end = endOfQuantity(value);
          priceLength = end - value;
        }
        break;
      case 21:
        if (isKey(at, 'depositReceiptVersion')) {
          bit = 1 << 16;
          end = endOfNumberOrNull(value);
          if (!isNull(value)) version = value;
        }
        break;
    }
    if (bit == 0) end = endOfValue(value);
    // JSON.parse takes the last of two keys of one name; whoever tells both is not walked over.
    else if ((seen & bit) != 0) return DOUBT;
    if (end == DOUBT) return DOUBT;
    seen |= bit;
    const next = load<u8>(end);
    at = end + 1;
    if (next == COMMA) continue;
    if (next != CLOSE_OBJECT) return DOUBT;
    break;
  }
  if ((seen & ALWAYS) != ALWAYS || !isKnown(type) || (status == 0 && foreign)) return DOUBT;
  if (gasLength + priceLength > 2 * AROUND_DIGITS + COST_DIGITS || feeLength > AROUND_DIGITS + COST_DIGITS) return DOUBT;

  let last = to;
  // Until Canyon a deposit's nonce was told without a version, and no root covered it.
  if (type == DEPOSIT && nonce > 0 && version > 0) {
    last = writeNumber(nonce, last);
    if (last != DOUBT) last = writeNumber(version, last);
    if (last == DOUBT) return DOUBT;
  }
  const logsLength = to - logsAt;
  const logsHeader = logsAt - headerLength(logsLength);
  writeHeader(logsHeader, logsLength, 0xc0);
  const bloomAt = logsHeader - BLOOM;
  if (writeHex(bloom, bloomAt + 3, BLOOM_BYTES) == DOUBT) return DOUBT;
  writeHeader(bloomAt, BLOOM_BYTES, 0x80);
  const gasEnd = endOfString(gas);
  if (gasEnd - gas - 4 > LONGEST_NUMBER) return DOUBT;
  const gasAt = bloomAt - quantityLength(gas, gasEnd);
  writeQuantity(gas, gasEnd, gasAt);
  const body = gasAt - 1;
  store<u8>(body, status == 1 ? 1 : 0x80);
  let start = body - headerLength(last - body);
  writeHeader(start, last - body, 0xc0);
  if (type != 0) store<u8>(--start, type);
  placeValue(position, start, last);

  // Whoever a contract's creation names as well is its creator; a careful look at those that are read decides.
  if (!named) named = isOurs(sender) || (status == 1 && (isOurs(recipient) || isOurs(created)));
  const own = FOUND + position * FOUND_BYTES;
  store<u32>(own, from - REPLY);
  store<u32>(own, at - REPLY, 4);
  store<u32>(own, sender - REPLY, 8);
  store<u32>(own, placeOf(recipient), 12);
  store<u32>(own, placeOf(created), 16);
  store<u32>(own, gasUsed - REPLY, 20);
  store<u32>(own, status, 24);
  store<u32>(own, logs - logsBefore, 28);
  store<u32>(own, named, 32);
  return at;
}

/** Where it is in the reply; 0 for what is nowhere. */
function placeOf(at: usize): usize {
  return at == 0 ? 0 : at - REPLY;
}

/** Writes the number at `at` as an RLP string; answers the place after it, or DOUBT when it is too long. */
function writeNumber(at: usize, place: usize): usize {
  const end = endOfString(at);
  return end - at - 4 > LONGEST_NUMBER ? DOUBT : writeQuantity(at, end, place);
}

/** Walks over the logs of a receipt and writes them, without the header of their list; answers the place after them, or DOUBT. */
function walkLogs(from: usize): usize {
  if (load<u8>(from) != OPEN_LIST) return DOUBT;
  let at = from + 1;
  if (load<u8>(at) == CLOSE_LIST) return at + 1;
  while (true) {
    at = walkLog(at);
    if (at == DOUBT) return DOUBT;
    const next = load<u8>(at);
    if (next == CLOSE_LIST) return at + 1;
    if (next != COMMA) return DOUBT;
    at += 1;
  }
}

function walkLog(from: usize): usize {
  if (load<u8>(from) != OPEN_OBJECT) return DOUBT;
  let emitter: usize = 0;
  let topics: usize = 0;
  let topicsEnd: usize = 0;
  let data: usize = 0;
  let dataEnd: usize = 0;
  let seen = 0;
  let at = from + 1;
  while (true) {
    const value = endOfKey(at);
    if (value == DOUBT) return DOUBT;
    let end = DOUBT;
    let bit = 0;
    switch (<i32>(value - at - 3)) {
      case 4:
        if (isKey(at, 'data')) {
          bit = 1;
          // Its digits are looked at when they are written.
          end = isHex(value) ? endOfString(value) : DOUBT;
          data = value;
          dataEnd = end;
        }
        break;
      case 6:
        if (isKey(at, 'topics')) {
          bit = 2;
          end = endOfTopics(value);
          topics = value;
          topicsEnd = end;
        }
        break;
      case 7:
        if (isKey(at, 'address')) {
          bit = 4;
          end = value + ADDRESS_TEXT;
          emitter = value;
        } else if (isKey(at, 'removed')) {
          bit = 64;
          end = isAt(value, 'false') ? value + 5 : DOUBT;
        }
        break;
      case 8:
        if (isKey(at, 'logIndex')) {
          bit = 8;
          end = endOfIndex(value, logs);
        }
        break;
      case 9:
        if (isKey(at, 'blockHash')) {
          bit = 16;
          end = isSame(value, BLOCK_HASH, HASH_TEXT) ? value + HASH_TEXT : DOUBT;
        }
        break;
      case 15:
        if (isKey(at, 'transactionHash')) {
          bit = 32;
          end = isSame(value, txid, HASH_TEXT) ? value + HASH_TEXT : DOUBT;
        }
        break;
    }
    if (bit == 0) end = endOfValue(value);
    else if ((seen & bit) != 0) return DOUBT;
    if (end == DOUBT) return DOUBT;
    seen |= bit;
    const next = load<u8>(end);
    at = end + 1;
    if (next == COMMA) continue;
    if (next != CLOSE_OBJECT) return DOUBT;
    break;
  }
  return (seen & ALWAYS_IN_LOG) == ALWAYS_IN_LOG && writeLog(emitter, topics, topicsEnd, data, dataEnd) ? at : DOUBT;
}

/** Writes a log whose parts are at these places, and looks whether it moves a token of, or to, a watched address. */
function writeLog(emitter: usize, topics: usize, topicsEnd: usize, data: usize, dataEnd: usize): bool {
  const count: usize = topicsEnd - topics == 2 ? 0 : (topicsEnd - topics - 1) / (HASH_TEXT + 1);
  if (!isWhole(data, dataEnd)) return false;
  const topicsLength = count * 33;
  const length: usize = 21 + headerLength(topicsLength) + topicsLength + stringLength(data, dataEnd);
  if (!foreign) foreign = !isAt(emitter, POLYGON_COIN);
  let place = writeHeader(to, length, 0xc0);
  store<u8>(place, 0x94);
  if (writeHex(emitter, place + 1, 20) == DOUBT) return false;
  place = writeHeader(place + 21, topicsLength, 0xc0);
  const first = place + 1;
  for (let i: usize = 0, at = topics + 1; i < count; i++, at += HASH_TEXT + 1, place += 33) {
    store<u8>(place, 0xa0);
    if (writeHex(at, place + 1, 32) == DOUBT) return false;
  }
  place = writeString(data, dataEnd, place);
  if (place == DOUBT) return false;
  to = place;
  logs += 1;
  if (!named && count == 3 && isTransfer(topics + 1)) named = has(first + 45) || has(first + 78);
  return true;
}

function isTransfer(topic: usize): bool {
  return isAt(topic, '"0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"');
}

/** The place after a list of hashes, without a look at their digits, which are looked at when they are written; or DOUBT. */
function endOfTopics(from: usize): usize {
  if (load<u8>(from) != OPEN_LIST) return DOUBT;
  let at = from + 1;
  if (load<u8>(at) == CLOSE_LIST) return at + 1;
  while (true) {
    const end = at + HASH_TEXT;
    const next = load<u8>(end);
    if (next == CLOSE_LIST) return end + 1;
    if (next != COMMA) return DOUBT;
    at = end + 1;
  }
}

function isNull(at: usize): bool {
  return isAt(at, 'null');
}

/** The place after a number without leading zeros, or after null; or DOUBT. */
function endOfNumberOrNull(at: usize): usize {
  return isNull(at) ? at + 4 : endOfQuantity(at);
}

/** The place after an address or null, whose digits are looked at here; or DOUBT. */
function endOfAddress(at: usize): usize {
  return isNull(at) ? at + 4 : writeHex(at, WORD, 20);
}

/** A number of few digits, as endOfQuantity found it. */
function numberAt(at: usize, end: usize): i32 {
  let number = 0;
  for (let digit = at + 3; digit + 1 < end; digit++) {
    const letter = load<u8>(digit);
    number = (number << 4) | (letter > 0x39 ? letter - 0x57 : letter - 0x30);
  }
  return number;
}

/** The place after this very number, or DOUBT. */
function endOfIndex(at: usize, index: i32): usize {
  const end = endOfQuantity(at);
  return end != DOUBT && end - at <= 11 && numberAt(at, end) == index ? end : DOUBT;
}

function isOurs(at: usize): bool {
  if (at == 0) return false;
  writeHex(at, WORD, 20);
  return has(WORD);
}
