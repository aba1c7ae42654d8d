// One look at each frame of an answer to `trace_block`, which makes every check that readParityTraces makes of it alone (decision 0049).

import { CLOSE_LIST, CLOSE_OBJECT, COMMA, DOUBT, endOfKey, endOfValue, isAt, isKey, isSame, OPEN_LIST, OPEN_OBJECT } from './json';
import { BLOCK_HASH, FRAME, REPLY, STEPS, WORD } from './memory';
import { endOfQuantity, writeHex } from './rlp';

/** Whether the twenty bytes at a place are those of a watched address. */
@external('env', 'has')
declare function has(at: usize): bool;

const HASH_TEXT: usize = 68;
/** No contract calls deeper (EIP-150). */
const DEEPEST_CALL: i32 = 1024;
/** Digits of a place among the calls of a frame; more are none. */
const LONGEST_STEP: usize = 9;
/** No place. */
const NOT_LOOKED_AT: usize = usize.MAX_VALUE;

/** Where the fields of the frame begin, 0 for those that it does not have. */
let type: usize = 0;
let error: usize = 0;
let action: usize = 0;
let result: usize = 0;
let blockHash: usize = 0;
let txid: usize = 0;
let address: usize = 0;
/** Those of its action, and the address of its result. */
let from: usize = 0;
let to: usize = 0;
let value: usize = 0;
let account: usize = 0;
let refund: usize = 0;
let balance: usize = 0;
let created: usize = 0;

/**
 * Looks at the frame that begins at `at` of the reply, writes what is found of it to FRAME and STEPS, and answers the place after it; 0 for one that is
 * doubted, or is not all there.
 */
export function walkFrame(at: usize): usize {
  type = error = action = result = blockHash = txid = address = 0;
  from = to = value = account = refund = balance = created = 0;
  const end = findEntry(REPLY + at);
  if (end == DOUBT) return 0;
  // Rewards for making the block belong to no transaction.
  const reward = is(type, '"reward"');
  store<u32>(FRAME, reward);
  return reward || isFrame() ? end - REPLY : 0;
}

/** Finds the fields of the entry that begins at `at`; answers the place after it, or DOUBT, also when one of them is told twice. */
function findEntry(at: usize): usize {
  if (load<u8>(at) != OPEN_OBJECT) return DOUBT;
  if (load<u8>(at, 1) == CLOSE_OBJECT) return at + 2;
  let key = at + 1;
  while (true) {
    const told = endOfKey(key);
    if (told == DOUBT) return DOUBT;
    let end = NOT_LOOKED_AT;
    let before: usize = 0;
    switch (<i32>(told - key - 3)) {
      case 4:
        if (isKey(key, 'type')) {
          before = type;
          type = told;
        }
        break;
      case 5:
        if (isKey(key, 'error')) {
          before = error;
          error = told;
        }
        break;
      case 6:
        if (isKey(key, 'action')) {
          before = action;
          action = told;
          if (load<u8>(told) == OPEN_OBJECT) end = findAction(told);
        } else if (isKey(key, 'result')) {
          before = result;
          result = told;
          if (load<u8>(told) == OPEN_OBJECT) end = findResult(told);
        }
        break;
      case 9:
        if (isKey(key, 'blockHash')) {
          before = blockHash;
          blockHash = told;
        }
        break;
      case 12:
        if (isKey(key, 'traceAddress')) {
          before = address;
          address = told;
        }
        break;
      case 15:
        if (isKey(key, 'transactionHash')) {
          before = txid;
          txid = told;
        }
        break;
    }
    if (before != 0) return DOUBT;
    if (end == NOT_LOOKED_AT) end = endOfValue(told);
    if (end == DOUBT) return DOUBT;
    if (load<u8>(end) != COMMA) return load<u8>(end) == CLOSE_OBJECT ? end + 1 : DOUBT;
    key = end + 1;
  }
}

/** The same of an action. */
function findAction(at: usize): usize {
  if (load<u8>(at, 1) == CLOSE_OBJECT) return at + 2;
  let key = at + 1;
  while (true) {
    const told = endOfKey(key);
    const end = told == DOUBT ? DOUBT : endOfValue(told);
    if (end == DOUBT) return DOUBT;
    let before: usize = 0;
    switch (<i32>(told - key - 3)) {
      case 2:
        if (isKey(key, 'to')) {
          before = to;
          to = told;
        }
        break;
      case 4:
        if (isKey(key, 'from')) {
          before = from;
          from = told;
        }
        break;
      case 5:
        if (isKey(key, 'value')) {
          before = value;
          value = told;
        }
        break;
      case 7:
        if (isKey(key, 'address')) {
          before = account;
          account = told;
        } else if (isKey(key, 'balance')) {
          before = balance;
          balance = told;
        }
        break;
      case 13:
        if (isKey(key, 'refundAddress')) {
          before = refund;
          refund = told;
        }
        break;
    }
    if (before != 0) return DOUBT;
    if (load<u8>(end) != COMMA) return load<u8>(end) == CLOSE_OBJECT ? end + 1 : DOUBT;
    key = end + 1;
  }
}

/** The same of a result. */
function findResult(at: usize): usize {
  if (load<u8>(at, 1) == CLOSE_OBJECT) return at + 2;
  let key = at + 1;
  while (true) {
    const told = endOfKey(key);
    const end = told == DOUBT ? DOUBT : endOfValue(told);
    if (end == DOUBT) return DOUBT;
    if (told - key - 3 == 7 && isKey(key, 'address')) {
      if (created != 0) return DOUBT;
      created = told;
    }
    if (load<u8>(end) != COMMA) return load<u8>(end) == CLOSE_OBJECT ? end + 1 : DOUBT;
    key = end + 1;
  }
}

/** Looks at every field of the frame that is read of it; false when one is doubted. */
function isFrame(): bool {
  if (blockHash == 0 || !isSame(blockHash, BLOCK_HASH, HASH_TEXT)) return false;
  if (txid == 0 || writeHex(txid, WORD, 32) == DOUBT) return false;
  const steps = stepsIn();
  if (steps < 0 || action == 0 || load<u8>(action) != OPEN_OBJECT) return false;
  const failed = error != 0 && !isAt(error, 'null');
  const ends = is(type, '"suicide"') || is(type, '"selfdestruct"');
  const creates = is(type, '"create"');
  if (!ends && !creates && !is(type, '"call"')) return false;
  let sender = from;
  let recipient = to;
  let amount = value;
  if (ends) {
    sender = account;
    recipient = refund;
    amount = balance;
  } else if (creates) {
    recipient = failed ? 0 : created;
    if (!failed && (result == 0 || load<u8>(result) != OPEN_OBJECT)) return false;
  }
  if (amount == 0 || endOfQuantity(amount) == DOUBT || (!(creates && failed) && recipient == 0)) return false;
  const moves = !isAt(amount, '"0x0"');
  if (sender == 0 || writeHex(sender, WORD, 20) == DOUBT) return false;
  let named = moves && has(WORD);
  if (recipient != 0) {
    if (writeHex(recipient, WORD, 20) == DOUBT) return false;
    if (!named && moves) named = has(WORD);
  }
  store<u32>(FRAME, txid - REPLY, 4);
  store<u32>(FRAME, sender - REPLY, 8);
  store<u32>(FRAME, recipient == 0 ? 0 : <u32>(recipient - REPLY), 12);
  store<u32>(FRAME, failed, 16);
  store<u32>(FRAME, ends, 20);
  store<u32>(FRAME, named, 24);
  store<u32>(FRAME, steps, 28);
  return true;
}

function is(at: usize, text: string): bool {
  return at != 0 && isAt(at, text);
}

/** Writes the steps of the frame's place to STEPS; answers how many, or -1. */
function stepsIn(): i32 {
  if (address == 0 || load<u8>(address) != OPEN_LIST) return -1;
  let at = address + 1;
  if (load<u8>(at) == CLOSE_LIST) return 0;
  for (let length = 0; length < DEEPEST_CALL; at += 1) {
    let step: u32 = 0;
    const first = at;
    for (let code: u32 = load<u8>(at); code - 0x30 <= 9; code = load<u8>(++at)) step = step * 10 + (code - 0x30);
    if (at == first || at - first > LONGEST_STEP) return -1;
    store<u32>(STEPS + 4 * length, step);
    length += 1;
    if (load<u8>(at) == CLOSE_LIST) return length;
    if (load<u8>(at) != COMMA) return -1;
  }
  return -1;
}
