import type { HasKey, WatchSet } from '../chain.ts';
import { CLOSE_LIST, CLOSE_OBJECT, COMMA, DOUBT, endOfKey, endOfString, endOfValue, isAt, isKey, OPEN_LIST, OPEN_OBJECT } from '../json-bytes.ts';
import type { Unread } from '../unread.ts';
import { POLYGON_COIN } from './content.ts';
import { type Header, type Outcome, readReceipt, type Receipt } from './replies.ts';
import { endOfQuantity, headerLength, isHex, quantityLength, stringLength, writeHeader, writeHex, writeQuantity, writeString } from './rlp-writer.ts';
import { LEAF_ROOM, openValues, writeTrieRoot } from './trie-writer.ts';
import { watchedKeys } from './watched-keys.ts';

/** Receipts of a block that the root in its header proves, nearly all of which nobody made an object of. */
export interface WalkedReceipts {
  logs: number;
  /** What a trace must agree with, of each. */
  outcomes(): Outcome[];
  /** Those in which a watched address is named where coins or tokens move, and those of these transactions, read whole; in order. */
  named(also: (txid: string) => boolean): Receipt[];
}

/** A larger reply is read carefully, with a breath between its receipts: this much takes some ten milliseconds, in one go (decision 0030). */
const LARGEST_BYTES = 4 * 1024 * 1024;

const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1');
const key = bytesOf;

const IN_RECEIPT = {
  blockHash: key('blockHash'),
  blockNumber: key('blockNumber'),
  contractAddress: key('contractAddress'),
  cumulativeGasUsed: key('cumulativeGasUsed'),
  depositNonce: key('depositNonce'),
  depositReceiptVersion: key('depositReceiptVersion'),
  effectiveGasPrice: key('effectiveGasPrice'),
  from: key('from'),
  gasUsed: key('gasUsed'),
  l1Fee: key('l1Fee'),
  logs: key('logs'),
  logsBloom: key('logsBloom'),
  status: key('status'),
  to: key('to'),
  transactionHash: key('transactionHash'),
  transactionIndex: key('transactionIndex'),
  type: key('type'),
};
const IN_LOG = {
  address: key('address'),
  blockHash: key('blockHash'),
  data: key('data'),
  logIndex: key('logIndex'),
  removed: key('removed'),
  topics: key('topics'),
  transactionHash: key('transactionHash'),
};

/** keccak256('Transfer(address,address,uint256)') */
const TRANSFER = Buffer.from('ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef', 'hex');
const [NULL, FALSE, SUCCEEDED, FAILED] = ['null', 'false', '"0x1"', '"0x0"'].map(bytesOf) as [Buffer, Buffer, Buffer, Buffer];

/** It logs the fee of failed transactions too, which nothing else does. */
const POLYGON_COIN_TEXT = bytesOf(`"${POLYGON_COIN}"`);

/** Receipts of these types are written alike: legacy, EIP-2930, 1559, 4844 and 7702, and Arbitrum's own. */
const PLAIN_TYPES = new Set([0, 1, 2, 3, 4, 0x64, 0x65, 0x66, 0x68, 0x69, 0x6a, 0x7f]);
const DEPOSIT = 0x7e;

const HASH_TEXT = 68;
const ADDRESS_TEXT = 44;
const BLOOM_BYTES = 256;
const BLOOM = 3 + BLOOM_BYTES;
/** Digits of a number that is written: none of gas, and no nonce, is longer. */
const LONGEST_NUMBER = 16;
/** Before the logs of a receipt: room for its leaf, its type, two headers, status, gas and bloom. */
const BEFORE_LOGS = LEAF_ROOM + 1 + 4 + 1 + 9 + BLOOM + 4;

/** Where this walk writes receipts, and where each of them is. */
let [buffer, starts, ends]: [Uint8Array, Int32Array, Int32Array] = [new Uint8Array(), new Int32Array(), new Int32Array()];
/** An address, while it is looked up. */
const address = new Uint8Array(20);
const KEY_AT = 0;

/** What a walk is told, and what it has found by now; one at a time. */
interface Walk {
  bytes: Buffer;
  has: HasKey;
  /** The hash of the block as it stands in JSON. */
  blockHash: Buffer;
  /** The id of the transaction whose receipt is being walked, likewise. */
  txid: Buffer;
  logs: number;
  /** Whether a transfer in the receipt names a watched address. */
  named: boolean;
  /** Whether anybody but Polygon's own coin logged something in the receipt. */
  foreign: boolean;
  /** Where the next log is written. */
  to: number;
}

/** Places in the reply of what stands in each receipt, six numbers for each. */
const PLACES = 6;
const [START, END, FROM, TO, CREATED, GAS] = [0, 1, 2, 3, 4, 5] as const;

/**
 * Walks once over the receipts of a block as its node told them, and writes each as its trie has it straight from the digits. Undefined unless every
 * check of readReceipt and crossCheck would pass and the root in the header covers all of them (decision 0046): then nothing is known.
 */
export function walkReceipts(answer: Unread, header: Header, watched: WatchSet): WalkedReceipts | undefined {
  const { bytes } = answer;
  const count = header.transactions.length;
  if (header.rootless === true || bytes.length > LARGEST_BYTES || bytes[0] !== OPEN_LIST) return undefined;
  // What is written of a receipt is shorter than what is told of it.
  const values = openValues(bytes.length, count);
  if (values === undefined) return undefined;
  ({ bytes: buffer, starts, ends } = values);
  const walk: Walk = { bytes, has: watchedKeys(watched), blockHash: bytesOf(`"${header.hash}"`), txid: NULL, logs: 0, named: false, foreign: false, to: 0 };
  const places = new Int32Array(count * PLACES);
  const succeeded = new Uint8Array(count);
  const logCounts = new Int32Array(count);
  const hits: number[] = [];
  const height = bytesOf(`"0x${header.height.toString(16)}"`);
  let at = 1;
  for (let i = 0; i < count; i++) {
    walk.txid = bytesOf(`"${header.transactions[i]}"`);
    const before = walk.logs;
    walk.named = false;
    walk.foreign = false;
    const end = walkReceipt(walk, at, i, height, places);
    if (end === DOUBT) return undefined;
    succeeded[i] = outcome;
    logCounts[i] = walk.logs - before;
    if (walk.named) hits.push(i);
    if (bytes[end] !== (i === count - 1 ? CLOSE_LIST : COMMA)) return undefined;
    at = end + 1;
  }
  if (at !== bytes.length) return undefined;
  const root = Buffer.from(writeTrieRoot(values)).toString('hex');
  if (`0x${root}` !== header.receiptsRoot) return undefined;

  const place = (i: number, what: number): number => places[i * PLACES + what] as number;
  const addressAt = (at: number): string | null => (at === 0 ? null : bytes.toString('latin1', at + 1, at + ADDRESS_TEXT - 1));
  return {
    logs: walk.logs,
    outcomes: () =>
      header.transactions.map((txid, i) => ({
        txid,
        succeeded: succeeded[i] === 1,
        from: addressAt(place(i, FROM)) as string,
        to: addressAt(place(i, TO)),
        created: addressAt(place(i, CREATED)),
        gasUsed: BigInt(bytes.toString('latin1', place(i, GAS) + 1, endOfString(bytes, place(i, GAS)) - 1)),
        logs: { length: logCounts[i] as number },
      })),
    named(also) {
      const chosen = new Set(hits);
      for (const [i, txid] of header.transactions.entries()) if (also(txid)) chosen.add(i);
      return [...chosen].sort((a, b) => a - b).map((i) => readReceipt(answer.read(place(i, START), place(i, END))));
    },
  };
}

/** Whether the receipt that was walked last says that its transaction succeeded. */
let outcome: 0 | 1 = 0;

/** Walks over the receipt that begins at `from` and writes it behind the one before; answers the place after it, or DOUBT. */
function walkReceipt(walk: Walk, from: number, position: number, height: Buffer, places: Int32Array): number {
  const { bytes, txid, blockHash } = walk;
  if (bytes[from] !== OPEN_OBJECT) return DOUBT;
  const base = position === 0 ? 0 : (ends[position - 1] as number);
  const logsAt = base + BEFORE_LOGS;
  walk.to = logsAt;
  let status = DOUBT;
  let type = 0;
  let sender = 0;
  let recipient = 0;
  let created = 0;
  let bloom = 0;
  let gas = 0;
  let gasUsed = 0;
  let nonce = 0;
  let version = 0;
  let seen = 0;
  let at = from + 1;
  for (;;) {
    const value = endOfKey(bytes, at);
    if (value === DOUBT) return DOUBT;
    let end = DOUBT;
    let bit = 0;
    // By the length of the key, so that at most two are compared.
    switch (value - at - 3) {
      case 2:
        if (isKey(bytes, at, value, IN_RECEIPT.to)) {
          bit = 1;
          end = endOfAddress(bytes, value);
          if (bytes[value] !== NULL[0]) recipient = value;
        }
        break;
      case 4:
        if (isKey(bytes, at, value, IN_RECEIPT.from)) {
          bit = 2;
          end = bytes[value] === NULL[0] ? DOUBT : endOfAddress(bytes, value);
          sender = value;
        } else if (isKey(bytes, at, value, IN_RECEIPT.logs)) {
          bit = 4;
          end = walkLogs(walk, value);
        } else if (isKey(bytes, at, value, IN_RECEIPT.type)) {
          bit = 8;
          end = endOfNumberOrNull(bytes, value);
          if (end - value > 6) return DOUBT;
          if (bytes[value] !== NULL[0]) type = Number.parseInt(bytes.toString('latin1', value + 3, end - 1), 16);
        }
        break;
      case 5:
        if (isKey(bytes, at, value, IN_RECEIPT.l1Fee)) {
          bit = 16;
          end = endOfNumberOrNull(bytes, value);
        }
        break;
      case 6:
        if (isKey(bytes, at, value, IN_RECEIPT.status)) {
          bit = 32;
          status = isAt(bytes, value, SUCCEEDED) ? 1 : isAt(bytes, value, FAILED) ? 0 : DOUBT;
          if (status === DOUBT) return DOUBT;
          end = value + SUCCEEDED.length;
        }
        break;
      case 7:
        if (isKey(bytes, at, value, IN_RECEIPT.gasUsed)) {
          bit = 64;
          end = endOfQuantity(bytes, value);
          gasUsed = value;
        }
        break;
      case 9:
        if (isKey(bytes, at, value, IN_RECEIPT.logsBloom)) {
          bit = 128;
          bloom = value;
          end = value + 4 + 2 * BLOOM_BYTES;
        } else if (isKey(bytes, at, value, IN_RECEIPT.blockHash)) {
          bit = 256;
          end = isAt(bytes, value, blockHash) ? value + HASH_TEXT : DOUBT;
        }
        break;
      case 11:
        if (isKey(bytes, at, value, IN_RECEIPT.blockNumber)) {
          bit = 512;
          end = isAt(bytes, value, height) ? value + height.length : DOUBT;
        }
        break;
      case 12:
        if (isKey(bytes, at, value, IN_RECEIPT.depositNonce)) {
          bit = 1 << 10;
          end = endOfNumberOrNull(bytes, value);
          if (bytes[value] !== NULL[0]) nonce = value;
        }
        break;
      case 15:
        if (isKey(bytes, at, value, IN_RECEIPT.transactionHash)) {
          bit = 1 << 11;
          end = isAt(bytes, value, txid) ? value + HASH_TEXT : DOUBT;
        } else if (isKey(bytes, at, value, IN_RECEIPT.contractAddress)) {
          bit = 1 << 12;
          end = endOfAddress(bytes, value);
          if (bytes[value] !== NULL[0]) created = value;
        }
        break;
      case 16:
        if (isKey(bytes, at, value, IN_RECEIPT.transactionIndex)) {
          bit = 1 << 13;
          end = endOfIndex(bytes, value, position);
        }
        break;
      case 17:
        if (isKey(bytes, at, value, IN_RECEIPT.cumulativeGasUsed)) {
          bit = 1 << 14;
          end = endOfQuantity(bytes, value);
          gas = value;
        } else if (isKey(bytes, at, value, IN_RECEIPT.effectiveGasPrice)) {
          bit = 1 << 15;
          end = endOfQuantity(bytes, value);
        }
        break;
      case 21:
        if (isKey(bytes, at, value, IN_RECEIPT.depositReceiptVersion)) {
          bit = 1 << 16;
          end = endOfNumberOrNull(bytes, value);
          if (bytes[value] !== NULL[0]) version = value;
        }
        break;
    }
    if (bit === 0) end = endOfValue(bytes, value);
    // JSON.parse takes the last of two keys of one name; whoever tells both is not walked over.
    else if ((seen & bit) !== 0) return DOUBT;
    if (end === DOUBT) return DOUBT;
    seen |= bit;
    if (bytes[end] === COMMA) {
      at = end + 1;
      continue;
    }
    if (bytes[end] !== CLOSE_OBJECT) return DOUBT;
    at = end + 1;
    break;
  }
  if ((seen & ALWAYS) !== ALWAYS || !(PLAIN_TYPES.has(type) || type === DEPOSIT)) return DOUBT;
  if (status === 0 && walk.foreign) return DOUBT;

  let last = walk.to;
  // Until Canyon a deposit's nonce was told without a version, and no root covered it.
  if (type === DEPOSIT && nonce > 0 && version > 0)
    for (const number of [nonce, version]) {
      const end = endOfString(bytes, number);
      if (end - number - 4 > LONGEST_NUMBER) return DOUBT;
      last = writeQuantity(bytes, number, end, buffer, last);
    }
  const logsLength = walk.to - logsAt;
  const logsHeader = logsAt - headerLength(logsLength);
  writeHeader(buffer, logsHeader, logsLength, 0xc0);
  const bloomAt = logsHeader - BLOOM;
  if (writeHex(bytes, bloom, buffer, bloomAt + 3, BLOOM_BYTES) === DOUBT) return DOUBT;
  writeHeader(buffer, bloomAt, BLOOM_BYTES, 0x80);
  const gasEnd = endOfString(bytes, gas);
  if (gasEnd - gas - 4 > LONGEST_NUMBER) return DOUBT;
  const gasAt = bloomAt - quantityLength(bytes, gas, gasEnd);
  writeQuantity(bytes, gas, gasEnd, buffer, gasAt);
  const body = gasAt - 1;
  buffer[body] = status === 1 ? 1 : 0x80;
  let start = body - headerLength(last - body);
  writeHeader(buffer, start, last - body, 0xc0);
  if (type !== 0) buffer[--start] = type;
  starts[position] = start;
  ends[position] = last;

  outcome = status === 1 ? 1 : 0;
  // Whoever a contract's creation names as well is its creator; a careful look at those that are read decides.
  if (isOurs(walk, sender) || (status === 1 && (isOurs(walk, recipient) || isOurs(walk, created)))) walk.named = true;
  const own = position * PLACES;
  places[own + START] = from;
  places[own + END] = at;
  places[own + FROM] = sender;
  places[own + TO] = recipient;
  places[own + CREATED] = created;
  places[own + GAS] = gasUsed;
  return at;
}

/** Fields without which a receipt is none: all but type, l1Fee, to, contractAddress and the two of deposits. */
const ALWAYS = 2 | 4 | 32 | 64 | 128 | 256 | 512 | (1 << 11) | (1 << 13) | (1 << 14) | (1 << 15);
const ALWAYS_IN_LOG = 1 | 2 | 4 | 8 | 16 | 32;

/** Walks over the logs of a receipt and writes them, without the header of their list; answers the place after them, or DOUBT. */
function walkLogs(walk: Walk, from: number): number {
  const { bytes } = walk;
  if (bytes[from] !== OPEN_LIST) return DOUBT;
  let at = from + 1;
  if (bytes[at] === CLOSE_LIST) return at + 1;
  for (;;) {
    at = walkLog(walk, at);
    if (at === DOUBT) return DOUBT;
    if (bytes[at] === CLOSE_LIST) return at + 1;
    if (bytes[at] !== COMMA) return DOUBT;
    at += 1;
  }
}

function walkLog(walk: Walk, from: number): number {
  const { bytes } = walk;
  if (bytes[from] !== OPEN_OBJECT) return DOUBT;
  let emitter = 0;
  let topics = 0;
  let topicsEnd = 0;
  let data = 0;
  let dataEnd = 0;
  let seen = 0;
  let at = from + 1;
  for (;;) {
    const value = endOfKey(bytes, at);
    if (value === DOUBT) return DOUBT;
    let end = DOUBT;
    let bit = 0;
    switch (value - at - 3) {
      case 4:
        if (isKey(bytes, at, value, IN_LOG.data)) {
          bit = 1;
          end = endOfHex(bytes, value);
          [data, dataEnd] = [value, end];
        }
        break;
      case 6:
        if (isKey(bytes, at, value, IN_LOG.topics)) {
          bit = 2;
          end = endOfTopics(bytes, value);
          [topics, topicsEnd] = [value, end];
        }
        break;
      case 7:
        if (isKey(bytes, at, value, IN_LOG.address)) {
          bit = 4;
          end = value + ADDRESS_TEXT;
          emitter = value;
        } else if (isKey(bytes, at, value, IN_LOG.removed)) {
          bit = 64;
          end = isAt(bytes, value, FALSE) ? value + FALSE.length : DOUBT;
        }
        break;
      case 8:
        if (isKey(bytes, at, value, IN_LOG.logIndex)) {
          bit = 8;
          end = endOfIndex(bytes, value, walk.logs);
        }
        break;
      case 9:
        if (isKey(bytes, at, value, IN_LOG.blockHash)) {
          bit = 16;
          end = isAt(bytes, value, walk.blockHash) ? value + HASH_TEXT : DOUBT;
        }
        break;
      case 15:
        if (isKey(bytes, at, value, IN_LOG.transactionHash)) {
          bit = 32;
          end = isAt(bytes, value, walk.txid) ? value + HASH_TEXT : DOUBT;
        }
        break;
    }
    if (bit === 0) end = endOfValue(bytes, value);
    else if ((seen & bit) !== 0) return DOUBT;
    if (end === DOUBT) return DOUBT;
    seen |= bit;
    if (bytes[end] === COMMA) {
      at = end + 1;
      continue;
    }
    if (bytes[end] !== CLOSE_OBJECT) return DOUBT;
    at = end + 1;
    break;
  }
  if ((seen & ALWAYS_IN_LOG) !== ALWAYS_IN_LOG) return DOUBT;
  const written = writeLog(walk, emitter, topics, topicsEnd, data, dataEnd);
  return written ? at : DOUBT;
}

/** Writes a log whose parts are at these places, and looks whether it moves a token of, or to, a watched address. */
function writeLog(walk: Walk, emitter: number, topics: number, topicsEnd: number, data: number, dataEnd: number): boolean {
  const { bytes } = walk;
  const count = topicsEnd - topics === 2 ? 0 : (topicsEnd - topics - 1) / (HASH_TEXT + 1);
  const dataLength = stringLength(bytes, data, dataEnd);
  if (dataLength === DOUBT) return false;
  const topicsLength = count * 33;
  const length = 21 + headerLength(topicsLength) + topicsLength + dataLength;
  if (!walk.foreign && !isAt(bytes, emitter, POLYGON_COIN_TEXT)) walk.foreign = true;
  let to = writeHeader(buffer, walk.to, length, 0xc0);
  buffer[to] = 0x94;
  if (writeHex(bytes, emitter, buffer, to + 1, 20) === DOUBT) return false;
  to = writeHeader(buffer, to + 21, topicsLength, 0xc0);
  const first = to;
  for (let i = 0, at = topics + 1; i < count; i++, at += HASH_TEXT + 1, to += 33) {
    buffer[to] = 0xa0;
    if (writeHex(bytes, at, buffer, to + 1, 32) === DOUBT) return false;
  }
  to = writeString(bytes, data, dataEnd, buffer, to);
  if (to === DOUBT) return false;
  walk.to = to;
  walk.logs += 1;
  if (count === 3 && !walk.named && isAt(buffer, first + 1, TRANSFER) && (walk.has(buffer, first + 46) || walk.has(buffer, first + 79))) walk.named = true;
  return true;
}

/** The place after a list of hashes, without a look at their digits, which are looked at when they are written; or DOUBT. */
function endOfTopics(bytes: Uint8Array, from: number): number {
  if (bytes[from] !== OPEN_LIST) return DOUBT;
  let at = from + 1;
  if (bytes[at] === CLOSE_LIST) return at + 1;
  for (;;) {
    const end = at + HASH_TEXT;
    if (bytes[end] === CLOSE_LIST) return end + 1;
    if (bytes[end] !== COMMA) return DOUBT;
    at = end + 1;
  }
}

/** The place after whole bytes in hex, whose digits are looked at when they are written; or DOUBT. */
function endOfHex(bytes: Uint8Array, at: number): number {
  return isHex(bytes, at) ? endOfString(bytes, at) : DOUBT;
}

/** The place after a number without leading zeros, or after null; or DOUBT. */
function endOfNumberOrNull(bytes: Uint8Array, at: number): number {
  return isAt(bytes, at, NULL) ? at + NULL.length : endOfQuantity(bytes, at);
}

/** The place after an address or null, whose digits are looked at here; or DOUBT. */
function endOfAddress(bytes: Uint8Array, at: number): number {
  return isAt(bytes, at, NULL) ? at + NULL.length : writeHex(bytes, at, address, KEY_AT, 20);
}

/** The place after this very number, or DOUBT. */
function endOfIndex(bytes: Uint8Array, at: number, index: number): number {
  const end = endOfQuantity(bytes, at);
  if (end === DOUBT || end - at > 12) return DOUBT;
  let number = 0;
  for (let digit = at + 3; digit < end - 1; digit++) {
    const code = bytes[digit] as number;
    number = number * 16 + (code > 0x39 ? code - 0x57 : code - 0x30);
  }
  return number === index ? end : DOUBT;
}

function isOurs(walk: Walk, at: number): boolean {
  if (at === 0) return false;
  writeHex(walk.bytes, at, address, KEY_AT, 20);
  return walk.has(address, KEY_AT);
}
