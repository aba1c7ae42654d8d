import type { Steps } from '#shared/core/turns.ts';
import { type HasKey, type WatchSet, ChainUnavailable } from '../chain.ts';
import { CLOSE_LIST, CLOSE_OBJECT, COMMA, DOUBT, endOfKey, endOfValue, isAt, isKey, OPEN_LIST, OPEN_OBJECT } from '../json-bytes.ts';
import {
  DEEPEST_CALL,
  frame as found,
  FRAME_DEPTH,
  FRAME_ENDS,
  FRAME_FAILED,
  FRAME_FROM,
  FRAME_NAMED,
  FRAME_REWARDS,
  FRAME_TO,
  FRAME_TXID,
  lookAtFrames,
  PART_OF_TRACES,
  steps,
} from '../kernel.ts';
import type { Unread } from '../unread.ts';
import { endOfQuantity, writeHex } from './hex-text.ts';
import { readCallTraces, readParityTraces, type TracedTransaction } from './traces.ts';
import { watchedKeys } from './watched-keys.ts';

const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1');
const quoted = (text: string): Buffer => bytesOf(`"${text}"`);
const NULL = bytesOf('null');
const ZERO_TEXT = quoted('0x0');
const HASH_TEXT = 68;
const ADDRESS_TEXT = 44;

/** An address while it is looked up, and a hash while it is looked at. */
const word = new Uint8Array(32);

/** The frame that was walked last: where the parts of it begin, 0 for those that it does not have. */
const frame = { from: 0, to: 0, failed: false, ends: false };

/** What is found of one transaction while its frames are walked. */
interface Walked {
  /** Where its trace begins in the reply. */
  start: number;
  txid: Buffer;
  from: string;
  to: string | null;
  failed: boolean;
  /** Whether coins may have moved from or to a watched address. */
  named: boolean;
  /** Whether a contract ended in it: whose coins it left is found out by reading alone. */
  ends: boolean;
}

/** A transaction whose trace was walked over; what it moved is read when somebody asks. */
class WalkedTrace implements TracedTransaction {
  readonly txid: string;
  readonly from: string;
  readonly to: string | null;
  readonly failed: boolean;
  readonly named: boolean;
  readonly #read: () => TracedTransaction;
  #whole: TracedTransaction | undefined;

  constructor({ txid, from, to, failed, named }: Walked, read: () => TracedTransaction) {
    this.txid = txid.toString('latin1', 1, HASH_TEXT - 1);
    this.from = from;
    this.to = to;
    this.failed = failed;
    this.named = named;
    this.#read = read;
  }

  get value(): bigint {
    return this.whole().value;
  }

  get moves(): TracedTransaction['moves'] {
    return this.whole().moves;
  }

  whole(): TracedTransaction {
    this.#whole ??= this.#read();
    return this.#whole;
  }
}

/**
 * Walks once over an answer to `trace_block` and makes no object of any frame. Undefined unless every check of readParityTraces would pass: then nothing
 * is known (decision 0049).
 */
export function* walkParityTraces(answer: Unread, blockHash: string, watched: WatchSet): Steps<TracedTransaction[] | undefined> {
  const { bytes } = answer;
  const look = lookAtFrames(bytes, blockHash, watchedKeys(watched));
  const traces: WalkedTrace[] = [];
  const path = new Int32Array(DEEPEST_CALL);
  let depth = 0;
  let current: Walked | undefined;
  let last = 0;
  let turn = PART_OF_TRACES;
  /** Ends the transaction whose frames were walked by now. */
  const finish = (): boolean => {
    if (current === undefined) return true;
    const { start } = current;
    const end = last;
    return keep(traces, current, () => readParityTraces(JSON.parse(`[${answer.bytes.toString('latin1', start, end)}]`), blockHash)[0] as TracedTransaction);
  };
  if (bytes[0] !== OPEN_LIST) return undefined;
  if (bytes[1] === CLOSE_LIST) return bytes.length === 2 ? [] : undefined;
  for (let at = 1; ; ) {
    if (at > turn) {
      yield;
      look.forget();
      turn = at + PART_OF_TRACES;
    }
    const end = look.next(at);
    if (end === 0) return undefined;
    if (found[FRAME_REWARDS] === 0) {
      const txid = (found[FRAME_TXID] as number) + look.base();
      const length = found[FRAME_DEPTH] as number;
      if (length === 0) {
        if (!finish()) return undefined;
        frame.from = (found[FRAME_FROM] as number) + look.base();
        frame.to = found[FRAME_TO] === 0 ? 0 : (found[FRAME_TO] as number) + look.base();
        frame.failed = found[FRAME_FAILED] === 1;
        current = startedAt(bytes, at, txid);
      } else {
        if (current === undefined || !isAt(bytes, txid, current.txid)) return undefined;
        if (length - 1 > depth || !startsAlike(path, steps, length - 1)) return undefined;
        if (found[FRAME_NAMED] === 1) current.named = true;
        if (found[FRAME_ENDS] === 1) current.ends = true;
      }
      for (let step = 0; step < length; step++) path[step] = steps[step] as number;
      depth = length;
      last = end;
    }
    if (bytes[end] === CLOSE_LIST) return end + 1 === bytes.length && finish() ? traces : undefined;
    if (bytes[end] !== COMMA) return undefined;
    at = end + 1;
  }
}

function startsAlike(a: Int32Array, b: Int32Array, length: number): boolean {
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return false;
  return true;
}

const IN_TRACE = { txHash: bytesOf('txHash'), result: bytesOf('result') };
const IN_FRAME = { to: bytesOf('to'), from: bytesOf('from'), type: bytesOf('type'), value: bytesOf('value'), error: bytesOf('error'), calls: bytesOf('calls') };
const MOVING = ['CALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT'].map(quoted);
const STILL = ['DELEGATECALL', 'STATICCALL', 'CALLCODE'].map(quoted);
const SELFDESTRUCT = MOVING[3] as Buffer;

/** The same of an answer to `debug_traceBlockByHash` with callTracer, and readCallTraces. */
export function* walkCallTraces(answer: Unread, watched: WatchSet): Steps<TracedTransaction[] | undefined> {
  const { bytes } = answer;
  const has = watchedKeys(watched);
  const traces: WalkedTrace[] = [];
  if (bytes[0] !== OPEN_LIST) return undefined;
  if (bytes[1] === CLOSE_LIST) return bytes.length === 2 ? [] : undefined;
  for (let at = 1; ; ) {
    const end = walkCallTrace(bytes, at, has, (found, place) =>
      keep(traces, found, () => readCallTraces([answer.read(found.start, place)])[0] as TracedTransaction),
    );
    if (end === DOUBT) return undefined;
    if (bytes[end] === CLOSE_LIST) return end + 1 === bytes.length ? traces : undefined;
    if (bytes[end] !== COMMA) return undefined;
    at = end + 1;
    yield;
  }
}

/** Walks over the trace of one transaction and hands on what is found of it and where it ends; answers the place after it, or DOUBT. */
function walkCallTrace(bytes: Buffer, from: number, has: HasKey, take: (found: Walked, end: number) => boolean): number {
  if (bytes[from] !== OPEN_OBJECT) return DOUBT;
  let [txid, result] = [0, 0];
  const inside = { named: false, ends: false };
  for (let at = from + 1; ; ) {
    const value = endOfKey(bytes, at);
    if (value === DOUBT) return DOUBT;
    let end: number;
    if (isKey(bytes, at, value, IN_TRACE.result)) {
      end = result === 0 ? walkCallFrame(bytes, value, has, inside, 0) : DOUBT;
      result = value;
    } else {
      end = endOfValue(bytes, value);
      if (isKey(bytes, at, value, IN_TRACE.txHash)) {
        if (txid !== 0) return DOUBT;
        txid = value;
      }
    }
    if (end === DOUBT) return DOUBT;
    if (bytes[end] === COMMA) {
      at = end + 1;
      continue;
    }
    // The outermost frame is the one that was walked last.
    const found = bytes[end] === CLOSE_OBJECT && result > 0 ? beginningAt(bytes, from, txid) : undefined;
    return found !== undefined && take({ ...found, ...inside }, end + 1) ? end + 1 : DOUBT;
  }
}

/** Walks over a frame, then looks at it; answers the place after it, or DOUBT. Nothing that was scanned is nested deeply (json-bytes.ts). */
function walkCallFrame(bytes: Buffer, start: number, has: HasKey, inside: { named: boolean; ends: boolean }, depth: number): number {
  if (bytes[start] !== OPEN_OBJECT) return DOUBT;
  let [from, to, type, value, error, calls] = [0, 0, 0, 0, 0, 0];
  let seen = 0;
  for (let at = start + 1; ; ) {
    const told = endOfKey(bytes, at);
    if (told === DOUBT) return DOUBT;
    let bit = 0;
    let end = 0;
    switch (told - at - 3) {
      case 2:
        if (isKey(bytes, at, told, IN_FRAME.to)) [bit, to] = [1, told];
        break;
      case 4:
        if (isKey(bytes, at, told, IN_FRAME.from)) [bit, from] = [2, told];
        else if (isKey(bytes, at, told, IN_FRAME.type)) [bit, type] = [4, told];
        break;
      case 5:
        if (isKey(bytes, at, told, IN_FRAME.value)) [bit, value] = [8, told];
        else if (isKey(bytes, at, told, IN_FRAME.error)) [bit, error] = [16, told];
        else if (isKey(bytes, at, told, IN_FRAME.calls)) {
          [bit, calls] = [32, told];
          end = isAt(bytes, calls, NULL) ? calls + NULL.length : walkCalls(bytes, calls, has, inside, depth + 1);
        }
        break;
    }
    if (end === 0) end = endOfValue(bytes, told);
    if (end === DOUBT || (seen & bit) !== 0) return DOUBT;
    seen |= bit;
    if (bytes[end] === COMMA) {
      at = end + 1;
      continue;
    }
    if (bytes[end] !== CLOSE_OBJECT) return DOUBT;
    const moving = MOVING.some((one) => isAt(bytes, type, one));
    if (!moving && !STILL.some((one) => isAt(bytes, type, one))) return DOUBT;
    frame.from = from;
    frame.to = isTold(bytes, to) ? to : 0;
    frame.failed = isTold(bytes, error);
    if (moving && frame.to === 0 && !frame.failed) return DOUBT;
    if (value === 0 ? moving : endOfQuantity(bytes, value) === DOUBT) return DOUBT;
    const named = touches(bytes, has, moving && !isAt(bytes, value, ZERO_TEXT));
    if (named === undefined) return DOUBT;
    // What the outermost frame moves is the transaction's own value.
    if (depth > 0) {
      inside.named ||= named;
      inside.ends ||= isAt(bytes, type, SELFDESTRUCT);
    }
    return end + 1;
  }
}

/** Walks over the calls of a frame; answers the place after them, or DOUBT. */
function walkCalls(bytes: Buffer, from: number, has: HasKey, inside: { named: boolean; ends: boolean }, depth: number): number {
  if (bytes[from] !== OPEN_LIST) return DOUBT;
  let at = from + 1;
  if (bytes[at] === CLOSE_LIST) return at + 1;
  for (;;) {
    const end = walkCallFrame(bytes, at, has, inside, depth);
    if (end === DOUBT) return DOUBT;
    if (bytes[end] === CLOSE_LIST) return end + 1;
    if (bytes[end] !== COMMA) return DOUBT;
    at = end + 1;
  }
}

/** Whether either end of the frame is watched, where coins go between them; undefined when one of them is no address. */
function touches(bytes: Uint8Array, has: HasKey, moves: boolean): boolean | undefined {
  if (writeHex(bytes, frame.from, word, 0, 20) === DOUBT) return undefined;
  const named = moves && has(word, 0);
  if (frame.to === 0) return named;
  if (writeHex(bytes, frame.to, word, 0, 20) === DOUBT) return undefined;
  return named || (moves && has(word, 0));
}

/** What is known of a transaction by its outermost frame, which was walked just now; undefined without an id. */
function beginningAt(bytes: Buffer, start: number, txid: number): Walked | undefined {
  return writeHex(bytes, txid, word, 0, 32) === DOUBT ? undefined : startedAt(bytes, start, txid);
}

function startedAt(bytes: Buffer, start: number, txid: number): Walked {
  const addressAt = (at: number): string => bytes.toString('latin1', at + 1, at + ADDRESS_TEXT - 1);
  return {
    start,
    txid: bytes.subarray(txid, txid + HASH_TEXT),
    from: addressAt(frame.from),
    to: frame.to === 0 ? null : addressAt(frame.to),
    failed: frame.failed,
    named: false,
    ends: false,
  };
}

/** Adds a transaction to those that were walked over; false when what a contract left at its end is not clear. */
function keep(traces: WalkedTrace[], walked: Walked, read: () => TracedTransaction): boolean {
  const trace = new WalkedTrace(walked.ends ? { ...walked, named: true } : walked, read);
  traces.push(trace);
  if (!walked.ends) return true;
  try {
    trace.whole();
    return true;
  } catch (error) {
    // Whoever reads all of it says why.
    if (error instanceof ChainUnavailable) return false;
    throw error;
  }
}

function isTold(bytes: Uint8Array, at: number): boolean {
  return at > 0 && !isAt(bytes, at, NULL);
}
