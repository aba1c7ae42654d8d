import type { HasKey } from '../chain.ts';
import { areDigits, writeBytes } from '../hex-bytes.ts';
import { CLOSE_LIST, COMMA, DOUBT, endOfString, endOfValue, isAt, OPEN_LIST, OPEN_OBJECT, QUOTE } from '../json-bytes.ts';
import { type Finder, findFields } from '../json-fields.ts';
import { CREATE, TRIGGER } from './contract.ts';
import { MOVES } from './infos.ts';
import { TRANSFER_TOPIC } from './movements.ts';
import { wholeNumber } from './walk-transaction.ts';

const quoted = (text: string): Buffer => Buffer.from(`"${text}"`);
const [TRUE, FALSE, FAILED, NO_TOKEN] = [Buffer.from('true'), Buffer.from('false'), quoted('FAILED'), quoted('')] as [Buffer, Buffer, Buffer, Buffer];
const TRANSFER_TEXT = quoted(TRANSFER_TOPIC);
const MOVES_TEXTS = [...MOVES].map(quoted);
const PADDING = Buffer.from(`"${'0'.repeat(24)}`);
const HASH_TEXT = 66;
const ADDRESS_TEXT = 42;
const PREFIXED_TEXT = 44;
const ZERO = 0x30;

/** Who is watched while an outcome is walked over; nobody else has a turn meanwhile. */
let has: HasKey = () => false;
/** What was found of the outcome by now: whether it has to be read, because it is unusual or because it names a watched address. */
let [doubted, named] = [false, false];
let internals = 0;
const ends = new Uint8Array(40);

/** Looks through a list of objects, and has `look` say of each that `finder` looked through whether it is as usual. */
function each(finder: Finder, look: (bytes: Uint8Array) => boolean): Finder {
  return {
    opens: OPEN_LIST,
    forget: () => undefined,
    find(bytes, from) {
      if (bytes[from + 1] === CLOSE_LIST) return from + 2;
      for (let at = from + 1; ; at += 1) {
        const isObject = bytes[at] === OPEN_OBJECT;
        at = isObject ? finder.find(bytes, at) : endOfValue(bytes, at);
        if (at === DOUBT) return DOUBT;
        if (!isObject || !look(bytes)) doubted = true;
        if (bytes[at] === CLOSE_LIST) return at + 1;
        if (bytes[at] !== COMMA) return DOUBT;
      }
    },
  };
}

const LOG = findFields(['address', 'topics', 'data']);
const VALUE = findFields(['callValue', 'tokenId']);
/** Whether an internal transaction passes any TRX on. */
let moves = false;
const VALUES = each(VALUE, (bytes) => {
  const [amount, token] = [VALUE.begin('callValue'), VALUE.begin('tokenId')];
  const units = amount === 0 ? 0 : wholeNumber(bytes, amount, VALUE.end('callValue'));
  if (units > 0 && (token === 0 || isAt(bytes, token, NO_TOKEN))) moves = true;
  return units !== DOUBT;
});
const INTERNAL = findFields(['rejected', 'note', 'callValueInfo', 'caller_address', 'transferTo_address'], { callValueInfo: VALUES });
const RECEIPT = findFields(['result']);
const INFO = findFields(['id', 'fee', 'blockNumber', 'blockTimeStamp', 'receipt', 'result', 'log', 'internal_transactions'], {
  receipt: RECEIPT,
  log: each(LOG, lookAtLog),
  internal_transactions: each({ ...INTERNAL, find: findInternal }, lookAtInternal),
});

function findInternal(bytes: Uint8Array, from: number): number {
  moves = false;
  return INTERNAL.find(bytes, from);
}

/** What an outcome must agree with. */
export interface Expected {
  has: HasKey;
  /** Height and time of the block, as they stand in JSON. */
  height: Buffer;
  time: Buffer;
}

/** What a walk finds of an outcome. */
export interface WalkedInfo {
  /** Place after it in the reply. */
  end: number;
  /** Whether it has to be read: it names a watched address where coins or tokens moved, or anything about it is unusual. */
  toRead: boolean;
  /** How many internal transactions it lists, of effect or not. */
  internals: number;
}

/**
 * Walks over the outcome that begins at `from` and makes every check that reading it makes. False when it is not this transaction's, or when not even its end can be
 * told: then nothing is known.
 */
export function walkInfo(
  bytes: Buffer,
  from: number,
  transaction: { txid: string; type: number; contractRet: string },
  expected: Expected,
  found: WalkedInfo,
): boolean {
  ({ has } = expected);
  doubted = false;
  named = false;
  internals = 0;
  found.end = INFO.find(bytes, from);
  if (found.end === DOUBT) return false;
  const id = INFO.begin('id');
  if (INFO.end('id') - id !== HASH_TEXT || bytes[id] !== QUOTE || bytes.toString('latin1', id + 1, id + HASH_TEXT - 1) !== transaction.txid) return false;
  found.toRead = doubted || named || !isSound(bytes, transaction, expected);
  found.internals = internals;
  return true;
}

function isSound(bytes: Buffer, { type, contractRet }: { type: number; contractRet: string }, { height, time }: Expected): boolean {
  if (!isText(bytes, 'blockNumber', height) || !isText(bytes, 'blockTimeStamp', time)) return false;
  for (const list of ['log', 'internal_transactions'] as const) if (INFO.begin(list) > 0 && bytes[INFO.begin(list)] !== OPEN_LIST) return false;
  const [fee, receipt, result, told] = [INFO.begin('fee'), INFO.begin('receipt'), INFO.begin('result'), RECEIPT.begin('result')];
  if (fee > 0 && wholeNumber(bytes, fee, INFO.end('fee')) === DOUBT) return false;
  if (receipt > 0 && bytes[receipt] !== OPEN_OBJECT) return false;
  if (told === 0 ? type === TRIGGER || type === CREATE : bytes.toString('latin1', told, RECEIPT.end('result')) !== `"${contractRet}"`) return false;
  return contractRet === 'SUCCESS' ? result === 0 : result > 0 && isAt(bytes, result, FAILED);
}

function isText(bytes: Uint8Array, name: 'blockNumber' | 'blockTimeStamp', expected: Uint8Array): boolean {
  const at = INFO.begin(name);
  return at > 0 && INFO.end(name) - at === expected.length && isAt(bytes, at, expected);
}

/** Looks at the log that LOG found, as readLog and tokenTransferOf do; false when it is unusual. */
function lookAtLog(bytes: Uint8Array): boolean {
  const [emitter, topics, data] = [LOG.begin('address'), LOG.begin('topics'), LOG.begin('data')];
  if (emitter === 0 || !isHexText(bytes, emitter, LOG.end('address')) || LOG.end('address') - emitter !== ADDRESS_TEXT) return false;
  if (data > 0 && !isHexText(bytes, data, LOG.end('data'))) return false;
  if (topics === 0) return true;
  if (bytes[topics] !== OPEN_LIST) return false;
  if (bytes[topics + 1] === CLOSE_LIST) return true;
  let [count, first, second, third] = [0, 0, 0, 0];
  for (let at = topics + 1; ; at += 1) {
    const end = endOfString(bytes, at);
    if (end - at !== HASH_TEXT || !isHexText(bytes, at, end)) return false;
    count += 1;
    if (count === 1) first = at;
    else if (count === 2) second = at;
    else third = at;
    at = end;
    if (bytes[at] === CLOSE_LIST) break;
  }
  // Of how much is found out by reading alone.
  if (count !== 3 || LOG.end('data') - data !== HASH_TEXT || !isAt(bytes, first, TRANSFER_TEXT)) return true;
  if (!isAt(bytes, second, PADDING) || !isAt(bytes, third, PADDING)) return true;
  return lookUp(bytes, second + PADDING.length, third + PADDING.length);
}

/** The same of the internal transaction that INTERNAL found, and readInternal. */
function lookAtInternal(bytes: Uint8Array): boolean {
  internals += 1;
  const [rejected, note, values] = [INTERNAL.begin('rejected'), INTERNAL.begin('note'), INTERNAL.begin('callValueInfo')];
  if (rejected > 0) {
    if (isAt(bytes, rejected, TRUE)) return true;
    if (!isAt(bytes, rejected, FALSE)) return false;
  }
  if (note === 0) return true;
  if (!isHexText(bytes, note, INTERNAL.end('note'))) return false;
  if (!MOVES_TEXTS.some((text) => text.length === INTERNAL.end('note') - note && isAt(bytes, note, text))) return true;
  if (values > 0 && bytes[values] !== OPEN_LIST) return false;
  if (!moves) return true;
  const [from, to] = [INTERNAL.begin('caller_address'), INTERNAL.begin('transferTo_address')];
  if (!isPrefixed(bytes, from, INTERNAL.end('caller_address')) || !isPrefixed(bytes, to, INTERNAL.end('transferTo_address'))) return false;
  return lookUp(bytes, from + 3, to + 3);
}

/** Whether an address of 40 digits, all of which are looked at later, stands after its prefix between two places. */
function isPrefixed(bytes: Uint8Array, at: number, end: number): boolean {
  return at > 0 && end - at === PREFIXED_TEXT && bytes[at] === QUOTE && bytes[at + 1] === ZERO + 4 && bytes[at + 2] === ZERO + 1;
}

/** Whether there is a string of whole bytes in hex between two places, small letters only. */
function isHexText(bytes: Uint8Array, at: number, end: number): boolean {
  return bytes[at] === QUOTE && areDigits(bytes, at + 1, end - 1);
}

/** Looks up the two addresses whose digits begin at these places; false when they are none. */
function lookUp(bytes: Uint8Array, from: number, to: number): boolean {
  if (!writeBytes(bytes, from, ends, 0, 20) || !writeBytes(bytes, to, ends, 20, 20)) return false;
  if (has(ends, 0) || has(ends, 20)) named = true;
  return true;
}
