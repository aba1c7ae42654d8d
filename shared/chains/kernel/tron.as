// Walks over transactions of TRON as their node told them, which write each as its merkle leaf has it and hold its hash against its id, and over what came of them
// (decision 0048).

import { CLOSE_LIST, CLOSE_OBJECT, COMMA, DOUBT, endOfKey, endOfString, endOfValue, isAt, isKey, isSame, OPEN_LIST, OPEN_OBJECT, QUOTE } from './json';
import { BLOCK_HASH, FOUND, FOUND_BYTES, HEIGHT, REPLY, TXIDS, VALUES, WORD } from './memory';
import { endOfDigits, writeDigits } from './rlp';
import { DIGEST, sha256 } from './sha256';
import { isContract, isTransfer, isTrigger, ownerAt, rawAmount, recipientAt, typeOfContract } from './tron-contract';
import { placeValue } from './trie';

/** Whether the twenty bytes at a place are those of a watched address. */
@external('env', 'has')
declare function has(at: usize): bool;

/** Digits of an integer that a double holds exactly. */
const LONGEST_NUMBER: usize = 15;
const HASH_TEXT: usize = 66;
const ADDRESS: usize = 21;
const ADDRESS_TEXT: usize = 42;
const PREFIXED_TEXT: usize = 44;
const PADDING: usize = 24;
/** Where the digests of transactions and leaves are put, and the ids that were told. */
const DIGESTS: usize = TXIDS;
const IDS: usize = TXIDS + 0x8000;
/** Where the hash of a leaf is among what is found of its transaction. */
const LEAF: usize = 32;
/** What an outcome has to agree with: the text of its transaction's id, the number of what the block says came of it, and whether a contract ran. */
const EXPECTED: usize = 80;
const RESULT: usize = 68;
const RAN: usize = 72;

/** Where fields of the transaction that is walked begin, and where they end; 0 is nowhere. */
let id: usize = 0;
let idEnd: usize = 0;
let raw: usize = 0;
let rawEnd: usize = 0;
let signature: usize = 0;
let ret: usize = 0;
let data: usize = 0;
let other: usize = 0;
let visible: usize = 0;
/** Those of its first contract. */
let name: usize = 0;
let parameter: usize = 0;
let value: usize = 0;
let amount: usize = 0;
let amountEnd: usize = 0;
let callValue: usize = 0;
let callValueEnd: usize = 0;
let owner: usize = 0;
let ownerEnd: usize = 0;
let recipient: usize = 0;
let recipientEnd: usize = 0;
let called: usize = 0;
let calledEnd: usize = 0;

/** Where the next leaf is written. */
let to: usize = 0;

/**
 * Walks over at most `most` transactions of a list, whose first one begins the reply, and writes what is found of each to FOUND. Answers how many they are: it ends
 * before the first one of which anything is unusual, or which is not all there.
 */
export function walkTransactions(most: usize): usize {
  let at = REPLY;
  let count: usize = 0;
  to = VALUES;
  while (count < most) {
    const end = walkTransaction(at, count);
    if (end == DOUBT) break;
    const next = load<u8>(end);
    if (next != COMMA && next != CLOSE_LIST) break;
    count += 1;
    if (next == CLOSE_LIST) break;
    at = end + 1;
  }
  sha256(2 * count, 0, DIGESTS);
  for (let i: usize = 0; i < count; i++) {
    const digests = DIGESTS + 2 * DIGEST * i;
    if (!isSame(digests, IDS + DIGEST * i, DIGEST)) return i;
    memory.copy(FOUND + i * FOUND_BYTES + LEAF, digests + DIGEST, DIGEST);
  }
  return count;
}

/** Walks over one of them; answers the place after it, or DOUBT. */
function walkTransaction(from: usize, position: usize): usize {
  id = raw = signature = ret = data = other = visible = 0;
  name = parameter = value = amount = callValue = owner = recipient = called = 0;
  const end = findTransaction(from);
  if (end == DOUBT || id == 0 || idEnd - id != HASH_TEXT || load<u8>(id) != QUOTE || !writeDigits(id + 1, IDS + DIGEST * position, DIGEST)) return DOUBT;
  if (raw == 0) return DOUBT;
  const length = bytesIn(raw, rawEnd);
  if (length == usize.MAX_VALUE) return DOUBT;
  const leaf = to;
  const begin = writeLength(leaf, 0x0a, length);
  if (!writeDigits(raw + 1, begin, length)) return DOUBT;
  const signed = writeSignatures(begin + length);
  if (signed == DOUBT) return DOUBT;
  const result = resultIn(ret);
  if (result < 1) return DOUBT;
  store<u32>(signed, 0x0018022a | (<u32>result << 24));
  if (!isContract(begin, begin + length) || !isRetold()) return DOUBT;
  to = signed + 4;
  placeValue(2 * position, begin, begin + length);
  placeValue(2 * position + 1, leaf, to);
  const own = FOUND + position * FOUND_BYTES;
  store<u32>(own, from - REPLY);
  store<u32>(own, end - REPLY, 4);
  store<u32>(own, typeOfContract(), 8);
  store<u32>(own, result, 12);
  store<u32>(own, has(ownerAt()) || (rawAmount() > 0 && has(recipientAt())), 16);
  store<u32>(own, id + 1 - REPLY, 20);
  return end;
}

/** Finds the fields of the transaction that begins at a place; answers the place after it, or DOUBT, also when it has a field twice, or another one. */
function findTransaction(from: usize): usize {
  if (load<u8>(from) != OPEN_OBJECT) return DOUBT;
  let at = from + 1;
  while (true) {
    const told = endOfKey(at);
    if (told == DOUBT) return DOUBT;
    let before: usize = 1;
    let end: usize = DOUBT;
    switch (<i32>(told - at - 3)) {
      case 3:
        if (isKey(at, 'ret')) {
          before = ret;
          ret = told;
        }
        break;
      case 4:
        if (isKey(at, 'txID')) {
          before = id;
          id = told;
        }
        break;
      case 7:
        if (isKey(at, 'visible')) {
          before = visible;
          visible = told;
        }
        break;
      case 8:
        if (isKey(at, 'raw_data')) {
          before = data;
          data = told;
        }
        break;
      case 9:
        if (isKey(at, 'signature')) {
          before = signature;
          signature = told;
        }
        break;
      case 12:
        if (isKey(at, 'raw_data_hex')) {
          before = raw;
          raw = told;
        }
        break;
      case 16:
        if (isKey(at, 'contract_address')) {
          before = other;
          other = told;
        }
        break;
    }
    if (before != 0) return DOUBT;
    end = told == data && load<u8>(told) == OPEN_OBJECT ? findData(told) : endOfValue(told);
    if (end == DOUBT) return DOUBT;
    if (told == id) idEnd = end;
    else if (told == raw) rawEnd = end;
    if (load<u8>(end) != COMMA) return load<u8>(end) == CLOSE_OBJECT ? end + 1 : DOUBT;
    at = end + 1;
  }
}

/** The same of what is told of its bytes: the first contract is all that anybody looks at, since the bytes say that there is one. */
function findData(from: usize): usize {
  if (load<u8>(from, 1) == CLOSE_OBJECT) return from + 2;
  let seen = false;
  let at = from + 1;
  while (true) {
    const told = endOfKey(at);
    if (told == DOUBT) return DOUBT;
    let end: usize = DOUBT;
    if (told - at - 3 == 8 && isKey(at, 'contract')) {
      if (seen) return DOUBT;
      seen = true;
      end = load<u8>(told) == OPEN_LIST && load<u8>(told, 1) == OPEN_OBJECT ? findContracts(told) : endOfValue(told);
    } else end = endOfValue(told);
    if (end == DOUBT) return DOUBT;
    if (load<u8>(end) != COMMA) return load<u8>(end) == CLOSE_OBJECT ? end + 1 : DOUBT;
    at = end + 1;
  }
}

function findContracts(from: usize): usize {
  let at = findContract(from + 1);
  while (at != DOUBT && load<u8>(at) == COMMA) at = endOfValue(at + 1);
  return at != DOUBT && load<u8>(at) == CLOSE_LIST ? at + 1 : DOUBT;
}

function findContract(from: usize): usize {
  if (load<u8>(from, 1) == CLOSE_OBJECT) return from + 2;
  let at = from + 1;
  while (true) {
    const told = endOfKey(at);
    if (told == DOUBT) return DOUBT;
    let before: usize = 0;
    let isParameter = false;
    switch (<i32>(told - at - 3)) {
      case 4:
        if (isKey(at, 'type')) {
          before = name;
          name = told;
        }
        break;
      case 9:
        if (isKey(at, 'parameter')) {
          before = parameter;
          parameter = told;
          isParameter = load<u8>(told) == OPEN_OBJECT;
        }
        break;
    }
    if (before != 0) return DOUBT;
    const end = isParameter ? findParameter(told) : endOfValue(told);
    if (end == DOUBT) return DOUBT;
    if (load<u8>(end) != COMMA) return load<u8>(end) == CLOSE_OBJECT ? end + 1 : DOUBT;
    at = end + 1;
  }
}

function findParameter(from: usize): usize {
  if (load<u8>(from, 1) == CLOSE_OBJECT) return from + 2;
  let at = from + 1;
  while (true) {
    const told = endOfKey(at);
    if (told == DOUBT) return DOUBT;
    let isValue = false;
    if (told - at - 3 == 5 && isKey(at, 'value')) {
      if (value != 0) return DOUBT;
      value = told;
      isValue = load<u8>(told) == OPEN_OBJECT;
    }
    const end = isValue ? findValue(told) : endOfValue(told);
    if (end == DOUBT) return DOUBT;
    if (load<u8>(end) != COMMA) return load<u8>(end) == CLOSE_OBJECT ? end + 1 : DOUBT;
    at = end + 1;
  }
}

function findValue(from: usize): usize {
  if (load<u8>(from, 1) == CLOSE_OBJECT) return from + 2;
  let at = from + 1;
  while (true) {
    const told = endOfKey(at);
    const end = told == DOUBT ? DOUBT : endOfValue(told);
    if (end == DOUBT) return DOUBT;
    let before: usize = 0;
    switch (<i32>(told - at - 3)) {
      case 6:
        if (isKey(at, 'amount')) {
          before = amount;
          amount = told;
          amountEnd = end;
        }
        break;
      case 10:
        if (isKey(at, 'call_value')) {
          before = callValue;
          callValue = told;
          callValueEnd = end;
        } else if (isKey(at, 'to_address')) {
          before = recipient;
          recipient = told;
          recipientEnd = end;
        }
        break;
      case 13:
        if (isKey(at, 'owner_address')) {
          before = owner;
          owner = told;
          ownerEnd = end;
        }
        break;
      case 16:
        if (isKey(at, 'contract_address')) {
          before = called;
          called = told;
          calledEnd = end;
        }
        break;
    }
    if (before != 0) return DOUBT;
    if (load<u8>(end) != COMMA) return load<u8>(end) == CLOSE_OBJECT ? end + 1 : DOUBT;
    at = end + 1;
  }
}

/** How many bytes a string of hex digits between two places stands for; the largest number there is when it is none of whole bytes. */
function bytesIn(at: usize, end: usize): usize {
  const digits = end - at - 2;
  return load<u8>(at) == QUOTE && (digits & 1) == 0 ? digits >> 1 : usize.MAX_VALUE;
}

/** Writes the key and length of a field of bytes; answers the place after them. */
function writeLength(at: usize, key: u8, length: usize): usize {
  store<u8>(at, key);
  let place = at + 1;
  let rest = length;
  for (; rest > 127; rest >>= 7) store<u8>(place++, (rest & 127) | 128);
  store<u8>(place, rest);
  return place + 1;
}

/** Writes the signatures that are told in a list; answers the place after them, or DOUBT. */
function writeSignatures(from: usize): usize {
  if (signature == 0) return from;
  if (load<u8>(signature) != OPEN_LIST) return DOUBT;
  if (load<u8>(signature, 1) == CLOSE_LIST) return from;
  let place = from;
  let at = signature + 1;
  while (true) {
    const end = endOfString(at);
    if (end == DOUBT) return DOUBT;
    const length = bytesIn(at, end);
    if (length == usize.MAX_VALUE) return DOUBT;
    place = writeLength(place, 0x12, length);
    if (!writeDigits(at + 1, place, length)) return DOUBT;
    place += length;
    if (load<u8>(end) == CLOSE_LIST) return place;
    if (load<u8>(end) != COMMA) return DOUBT;
    at = end + 1;
  }
}

/** The number of the one outcome that is told without anything else; 0 for any other. */
function resultIn(at: usize): i32 {
  if (at == 0 || !isAt(at, '[{"contractRet":"')) return 0;
  const end = endOfString(at + 16);
  return end != DOUBT && isAt(end, '}]') ? resultAt(at + 16, end) : 0;
}

/** The number of a result of a contract that is told between two places; 0 for one that nobody knows, and for the first one. */
function resultAt(at: usize, end: usize): i32 {
  switch (<i32>(end - at - 2)) {
    case 6:
      return isAt(at, '"REVERT"') ? 2 : 0;
    case 7:
      return isAt(at, '"SUCCESS"') ? 1 : isAt(at, '"UNKNOWN"') ? 13 : 0;
    case 11:
      return isAt(at, '"OUT_OF_TIME"') ? 11 : 0;
    case 12:
      return isAt(at, '"INVALID_CODE"') ? 15 : 0;
    case 13:
      return isAt(at, '"OUT_OF_MEMORY"') ? 4 : isAt(at, '"OUT_OF_ENERGY"') ? 10 : 0;
    case 14:
      return isAt(at, '"STACK_OVERFLOW"') ? 9 : 0;
    case 15:
      return isAt(at, '"STACK_TOO_SMALL"') ? 6 : isAt(at, '"STACK_TOO_LARGE"') ? 7 : isAt(at, '"TRANSFER_FAILED"') ? 14 : 0;
    case 17:
      return isAt(at, '"ILLEGAL_OPERATION"') ? 8 : 0;
    case 19:
      return isAt(at, '"JVM_STACK_OVER_FLOW"') ? 12 : 0;
    case 20:
      return isAt(at, '"BAD_JUMP_DESTINATION"') ? 3 : isAt(at, '"PRECOMPILED_CONTRACT"') ? 5 : 0;
  }
  return 0;
}

/** Whether what is told of the contract is what its bytes say, as far as anybody looks. */
function isRetold(): bool {
  if (!isTransfer() && !isTrigger()) return true;
  if (name == 0 || !isAt(name, isTransfer() ? '"TransferContract"' : '"TriggerSmartContract"')) return false;
  if (!isAddress(owner, ownerEnd, ownerAt())) return false;
  const units = isTransfer() ? integerIn(amount, amountEnd) : integerIn(callValue, callValueEnd);
  if (units != rawAmount()) return false;
  return units == 0 || (isTransfer() ? isAddress(recipient, recipientEnd, recipientAt()) : isAddress(called, calledEnd, recipientAt()));
}

/** Whether a string is this address, with its prefix. */
function isAddress(at: usize, end: usize, place: usize): bool {
  return at != 0 && bytesIn(at, end) == ADDRESS && writeDigits(at + 1, WORD, ADDRESS) && isSame(WORD, place - 1, ADDRESS);
}

/** The integer in a field, zero where it is left out, or -1. */
function integerIn(at: usize, end: usize): i64 {
  return at == 0 ? 0 : wholeNumber(at, end);
}

/** The number that all of the bytes between two places are the digits of, or -1. */
function wholeNumber(from: usize, end: usize): i64 {
  if (end - from > LONGEST_NUMBER) return -1;
  let number: i64 = 0;
  for (let at = from; at < end; at++) {
    const digit = load<u8>(at) - 0x30;
    if (digit > 9) return -1;
    number = number * 10 + digit;
  }
  return number;
}

/** Where fields of the outcome that is walked begin, and where some end. */
let txid: usize = 0;
let txidEnd: usize = 0;
let fee: usize = 0;
let feeEnd: usize = 0;
let height: usize = 0;
let heightEnd: usize = 0;
let time: usize = 0;
let timeEnd: usize = 0;
let receipt: usize = 0;
let failed: usize = 0;
let logs: usize = 0;
let passed: usize = 0;
let result: usize = 0;
let resultEnd: usize = 0;
/** What was found of it by now: whether it has to be read, because it is unusual or because it names a watched address. */
let doubted = false;
let named = false;
let internals: u32 = 0;
/** Whether the internal transaction that is looked at passes any TRX on. */
let moves = false;

/**
 * Walks over `count` outcomes, whose first one begins the reply, and writes what is found of each to FOUND. Height and time of their block, as JSON has them, are as
 * long as this. Answers how many they are: it ends before one that is not its transaction's, or is not all there.
 */
export function walkOutcomes(count: usize, heightLength: usize, timeLength: usize): usize {
  let at = REPLY;
  for (let i: usize = 0; i < count; i++) {
    const expected = TXIDS + i * EXPECTED;
    const end = walkOutcome(at, expected);
    if (end == DOUBT || (i < count - 1 && load<u8>(end) != COMMA)) return i;
    const own = FOUND + i * FOUND_BYTES;
    store<u32>(own, at - REPLY);
    store<u32>(own, end - REPLY, 4);
    store<u32>(own, doubted || named || !isSound(expected, heightLength, timeLength), 8);
    store<u32>(own, internals, 12);
    at = end + 1;
  }
  return count;
}

function walkOutcome(from: usize, expected: usize): usize {
  txid = fee = height = time = receipt = failed = logs = passed = result = 0;
  doubted = named = false;
  internals = 0;
  const end = findOutcome(from);
  return end != DOUBT && txid != 0 && txidEnd - txid == HASH_TEXT && isSame(txid, expected, HASH_TEXT) ? end : DOUBT;
}

function findOutcome(from: usize): usize {
  if (load<u8>(from) != OPEN_OBJECT) return DOUBT;
  if (load<u8>(from, 1) == CLOSE_OBJECT) return from + 2;
  let at = from + 1;
  while (true) {
    const told = endOfKey(at);
    if (told == DOUBT) return DOUBT;
    let before: usize = 0;
    let field: i32 = 0;
    switch (<i32>(told - at - 3)) {
      case 2:
        if (isKey(at, 'id')) {
          before = txid;
          txid = told;
        }
        break;
      case 3:
        if (isKey(at, 'fee')) {
          before = fee;
          fee = told;
        } else if (isKey(at, 'log')) {
          before = logs;
          logs = told;
          field = load<u8>(told) == OPEN_LIST ? 1 : 0;
        }
        break;
      case 6:
        if (isKey(at, 'result')) {
          before = failed;
          failed = told;
        }
        break;
      case 7:
        if (isKey(at, 'receipt')) {
          before = receipt;
          receipt = told;
          field = load<u8>(told) == OPEN_OBJECT ? 2 : 0;
        }
        break;
      case 11:
        if (isKey(at, 'blockNumber')) {
          before = height;
          height = told;
        }
        break;
      case 14:
        if (isKey(at, 'blockTimeStamp')) {
          before = time;
          time = told;
        }
        break;
      case 21:
        if (isKey(at, 'internal_transactions')) {
          before = passed;
          passed = told;
          field = load<u8>(told) == OPEN_LIST ? 3 : 0;
        }
        break;
    }
    if (before != 0) return DOUBT;
    const end = field == 0 ? endOfValue(told) : field == 2 ? findReceipt(told) : findEach(told, field);
    if (end == DOUBT) return DOUBT;
    if (told == txid) txidEnd = end;
    else if (told == fee) feeEnd = end;
    else if (told == height) heightEnd = end;
    else if (told == time) timeEnd = end;
    if (load<u8>(end) != COMMA) return load<u8>(end) == CLOSE_OBJECT ? end + 1 : DOUBT;
    at = end + 1;
  }
}

function findReceipt(from: usize): usize {
  if (load<u8>(from, 1) == CLOSE_OBJECT) return from + 2;
  let at = from + 1;
  while (true) {
    const told = endOfKey(at);
    const end = told == DOUBT ? DOUBT : endOfValue(told);
    if (end == DOUBT) return DOUBT;
    if (told - at - 3 == 6 && isKey(at, 'result')) {
      if (result != 0) return DOUBT;
      result = told;
      resultEnd = end;
    }
    if (load<u8>(end) != COMMA) return load<u8>(end) == CLOSE_OBJECT ? end + 1 : DOUBT;
    at = end + 1;
  }
}

/** Looks at each object of a list: at logs (1), internal transactions (3) or values of one (4). Answers the place after it, or DOUBT. */
function findEach(from: usize, kind: i32): usize {
  if (load<u8>(from, 1) == CLOSE_LIST) return from + 2;
  let at = from + 1;
  while (true) {
    if (load<u8>(at) == OPEN_OBJECT) at = kind == 1 ? findLog(at) : kind == 3 ? findInternal(at) : findPassed(at);
    else {
      doubted = true;
      at = endOfValue(at);
    }
    if (at == DOUBT) return DOUBT;
    if (load<u8>(at) == CLOSE_LIST) return at + 1;
    if (load<u8>(at) != COMMA) return DOUBT;
    at += 1;
  }
}

/** Looks at a log as readLog and tokenTransferOf do. */
function findLog(from: usize): usize {
  let emitter: usize = 0;
  let emitterEnd: usize = 0;
  let topics: usize = 0;
  let bytes: usize = 0;
  let bytesEnd: usize = 0;
  let end = from + 1;
  if (load<u8>(end) != CLOSE_OBJECT) {
    let at = end;
    while (true) {
      const told = endOfKey(at);
      end = told == DOUBT ? DOUBT : endOfValue(told);
      if (end == DOUBT) return DOUBT;
      let before: usize = 0;
      switch (<i32>(told - at - 3)) {
        case 4:
          if (isKey(at, 'data')) {
            before = bytes;
            bytes = told;
            bytesEnd = end;
          }
          break;
        case 6:
          if (isKey(at, 'topics')) {
            before = topics;
            topics = told;
          }
          break;
        case 7:
          if (isKey(at, 'address')) {
            before = emitter;
            emitter = told;
            emitterEnd = end;
          }
          break;
      }
      if (before != 0) return DOUBT;
      if (load<u8>(end) != COMMA) break;
      at = end + 1;
    }
    if (load<u8>(end) != CLOSE_OBJECT) return DOUBT;
  }
  if (emitter == 0 || emitterEnd - emitter != ADDRESS_TEXT || !isHexText(emitter, emitterEnd) || (bytes != 0 && !isHexText(bytes, bytesEnd))) doubted = true;
  else if (topics != 0 && !lookAtTopics(topics, bytes != 0 && bytesEnd - bytes == HASH_TEXT)) doubted = true;
  return end + 1;
}

/** False when the topics of a log are unusual; `hasWord` says whether it has an amount. */
function lookAtTopics(topics: usize, hasWord: bool): bool {
  if (load<u8>(topics) != OPEN_LIST) return false;
  if (load<u8>(topics, 1) == CLOSE_LIST) return true;
  let count = 0;
  let at = topics + 1;
  while (true) {
    const end = at + HASH_TEXT;
    if (!isHexText(at, end) || load<u8>(end - 1) != QUOTE) return false;
    count += 1;
    if (load<u8>(end) == CLOSE_LIST) break;
    if (load<u8>(end) != COMMA) return false;
    at = end + 1;
  }
  const first = topics + 1;
  if (count != 3 || !hasWord || !isAt(first, '"ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"')) return true;
  const second = first + HASH_TEXT + 1;
  const third = second + HASH_TEXT + 1;
  if (!isAt(second, '"000000000000000000000000') || !isAt(third, '"000000000000000000000000')) return true;
  return lookUp(second + 1 + PADDING, third + 1 + PADDING);
}

/** Looks at an internal transaction as readInternal does. */
function findInternal(from: usize): usize {
  let rejected: usize = 0;
  let note: usize = 0;
  let noteEnd: usize = 0;
  let values: usize = 0;
  let sender: usize = 0;
  let senderEnd: usize = 0;
  let receiver: usize = 0;
  let receiverEnd: usize = 0;
  let end = from + 1;
  moves = false;
  internals += 1;
  if (load<u8>(end) != CLOSE_OBJECT) {
    let at = end;
    while (true) {
      const told = endOfKey(at);
      if (told == DOUBT) return DOUBT;
      let before: usize = 0;
      let isList = false;
      switch (<i32>(told - at - 3)) {
        case 4:
          if (isKey(at, 'note')) {
            before = note;
            note = told;
          }
          break;
        case 8:
          if (isKey(at, 'rejected')) {
            before = rejected;
            rejected = told;
          }
          break;
        case 13:
          if (isKey(at, 'callValueInfo')) {
            before = values;
            values = told;
            isList = load<u8>(told) == OPEN_LIST;
          }
          break;
        case 14:
          if (isKey(at, 'caller_address')) {
            before = sender;
            sender = told;
          }
          break;
        case 18:
          if (isKey(at, 'transferTo_address')) {
            before = receiver;
            receiver = told;
          }
          break;
      }
      if (before != 0) return DOUBT;
      end = isList ? findEach(told, 4) : endOfValue(told);
      if (end == DOUBT) return DOUBT;
      if (told == note) noteEnd = end;
      else if (told == sender) senderEnd = end;
      else if (told == receiver) receiverEnd = end;
      if (load<u8>(end) != COMMA) break;
      at = end + 1;
    }
    if (load<u8>(end) != CLOSE_OBJECT) return DOUBT;
  }
  if (!lookAtInternal(rejected, note, noteEnd, values, sender, senderEnd, receiver, receiverEnd)) doubted = true;
  return end + 1;
}

function lookAtInternal(
  rejected: usize,
  note: usize,
  noteEnd: usize,
  values: usize,
  sender: usize,
  senderEnd: usize,
  receiver: usize,
  receiverEnd: usize,
): bool {
  if (rejected != 0) {
    if (isAt(rejected, 'true')) return true;
    if (!isAt(rejected, 'false')) return false;
  }
  if (note == 0) return true;
  if (!isHexText(note, noteEnd)) return false;
  // call, create and suicide.
  if (!isAt(note, '"63616c6c"') && !isAt(note, '"637265617465"') && !isAt(note, '"73756963696465"')) return true;
  if (values != 0 && load<u8>(values) != OPEN_LIST) return false;
  if (!moves) return true;
  return isPrefixed(sender, senderEnd) && isPrefixed(receiver, receiverEnd) && lookUp(sender + 3, receiver + 3);
}

/** Looks at one of the values that an internal transaction passes on. */
function findPassed(from: usize): usize {
  let units: usize = 0;
  let unitsEnd: usize = 0;
  let token: usize = 0;
  let end = from + 1;
  if (load<u8>(end) != CLOSE_OBJECT) {
    let at = end;
    while (true) {
      const told = endOfKey(at);
      end = told == DOUBT ? DOUBT : endOfValue(told);
      if (end == DOUBT) return DOUBT;
      let before: usize = 0;
      switch (<i32>(told - at - 3)) {
        case 7:
          if (isKey(at, 'tokenId')) {
            before = token;
            token = told;
          }
          break;
        case 9:
          if (isKey(at, 'callValue')) {
            before = units;
            units = told;
            unitsEnd = end;
          }
          break;
      }
      if (before != 0) return DOUBT;
      if (load<u8>(end) != COMMA) break;
      at = end + 1;
    }
    if (load<u8>(end) != CLOSE_OBJECT) return DOUBT;
  }
  const number = integerIn(units, unitsEnd);
  if (number < 0) doubted = true;
  else if (number > 0 && (token == 0 || isAt(token, '""'))) moves = true;
  return end + 1;
}

/** Whether an address of 40 digits, all of which are looked at later, stands after its prefix between two places. */
function isPrefixed(at: usize, end: usize): bool {
  return at != 0 && end - at == PREFIXED_TEXT && isAt(at, '"41');
}

/** Whether there is a string of whole bytes in hex between two places, small letters only. */
function isHexText(at: usize, end: usize): bool {
  return load<u8>(at) == QUOTE && ((end - at) & 1) == 0 && endOfDigits(at + 1) == end - 1;
}

/** Looks up the two addresses whose digits begin at these places; false when they are none. */
function lookUp(one: usize, two: usize): bool {
  if (!writeDigits(one, WORD, ADDRESS - 1) || !writeDigits(two, WORD + 32, ADDRESS - 1)) return false;
  if (!named) named = has(WORD) || has(WORD + 32);
  return true;
}

function isSound(expected: usize, heightLength: usize, timeLength: usize): bool {
  if (height == 0 || heightEnd - height != heightLength || !isSame(height, HEIGHT, heightLength)) return false;
  if (time == 0 || timeEnd - time != timeLength || !isSame(time, BLOCK_HASH, timeLength)) return false;
  if ((logs != 0 && load<u8>(logs) != OPEN_LIST) || (passed != 0 && load<u8>(passed) != OPEN_LIST)) return false;
  if ((fee != 0 && wholeNumber(fee, feeEnd) < 0) || (receipt != 0 && load<u8>(receipt) != OPEN_OBJECT)) return false;
  const stated = load<i32>(expected, RESULT);
  if (stated < 1 || (result == 0 ? load<u32>(expected, RAN) != 0 : resultAt(result, resultEnd) != stated)) return false;
  return stated == 1 ? failed == 0 : failed != 0 && isAt(failed, '"FAILED"');
}
