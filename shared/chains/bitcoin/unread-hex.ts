import { Buffer } from 'node:buffer';
import { COMMA, DOUBT, endOfKey, endOfValue, isKey, OPEN_OBJECT } from '../json-bytes.ts';
import { readDigits } from '../kernel.ts';
import { giveBackAfter } from '../reply-memory.ts';
import { Unread } from '../unread.ts';
import { parseExact } from './json.ts';

/** The digits of a long answer, of which no text was made. */
export class UnreadHex {
  readonly #digits: Unread;

  constructor(digits: Unread) {
    this.#digits = digits;
  }

  /** The digits themselves; nobody reads them again. */
  text(): string {
    const text = this.#digits.bytes.toString('latin1');
    this.#digits.release();
    return text;
  }

  /** What they stand for; null when they are not digits, or not a whole number of bytes. Nobody reads them again. */
  read(): Buffer | null {
    const { bytes: digits } = this.#digits;
    // Nodes write small letters, which the kernel reads; capital ones stand for the same.
    const bytes = readDigits(digits) ?? Buffer.from(digits.toString('latin1'), 'hex');
    this.#digits.release();
    return bytes.length * 2 === digits.length ? bytes : null;
  }
}

/** An answer as whoever reads with care wants it, whether it was left unread or not; nobody reads it again. */
export function readAnswer(answer: unknown): unknown {
  if (answer instanceof UnreadHex) return answer.text();
  if (!(answer instanceof Unread)) return answer;
  const read = readPart(answer.bytes, 0, answer.bytes.length);
  answer.release();
  return read;
}

function readPart(bytes: Buffer, from: number, to: number): unknown {
  return parseExact(bytes.toString('latin1', from, to));
}

const VIN = Buffer.from('vin');
const QUOTED_VIN = Buffer.from('"vin"');

/**
 * The list of inputs that an answer about a transaction tells, where it is an object that has one; nothing else of an unread one is parsed, and nobody
 * reads it again.
 */
export function inputsOf(answer: unknown): unknown {
  if (!(answer instanceof Unread)) return (answer as { vin?: unknown } | null | undefined)?.vin;
  const inputs = inputsIn(answer.bytes);
  answer.release();
  return inputs;
}

function inputsIn(bytes: Buffer): unknown {
  let inputs: unknown;
  for (let at = bytes[0] === OPEN_OBJECT ? 1 : bytes.length; at < bytes.length; ) {
    const value = endOfKey(bytes, at);
    const end = value === DOUBT ? DOUBT : endOfValue(bytes, value);
    if (end === DOUBT) return undefined;
    if (isKey(bytes, at, value, VIN)) {
      inputs = readPart(bytes, value, end);
      // Of two of one name the last one counts, as it does to whoever parses all of it. In the plainest form no other text looks like one.
      if (bytes.indexOf(QUOTED_VIN, end) < 0) return inputs;
    }
    at = bytes[end] === COMMA ? end + 1 : bytes.length;
  }
  return inputs;
}

/** The bytes of an answer that is hexadecimal digits; null when it is anything else. */
export function bytesOf(answer: unknown): Buffer | null {
  if (answer instanceof UnreadHex) return answer.read();
  return typeof answer === 'string' ? new UnreadHex(new Unread(Buffer.from(answer))).read() : null;
}

const RESULT = Buffer.from('"result":"');
const QUOTE = 0x22;
/** Shorter texts are read as they stand: they are hashes. */
const SHORTEST_CUT = 160;
const MARK = 'unread:';

/** A reply without its long answers, each replaced by a text that says which one it was, and these. */
export interface Cut {
  rest: Buffer;
  answers: UnreadHex[];
}

/** Cuts at most so many long texts out of a JSON-RPC reply: what is left is parsed in no time, and is no JSON when what was cut was none. Pure. */
export function cutAnswers(bytes: Buffer, most: number): Cut {
  const parts: Buffer[] = [];
  const places: [number, number][] = [];
  let done = 0;
  for (let at = bytes.indexOf(RESULT); at >= 0 && places.length < most; at = bytes.indexOf(RESULT, at)) {
    at += RESULT.length;
    const end = bytes.indexOf(QUOTE, at);
    if (end - at < SHORTEST_CUT) continue;
    parts.push(bytes.subarray(done, at), Buffer.from(`${MARK}${places.length}`));
    places.push([at, end]);
    done = end;
    at = end;
  }
  const released = giveBackAfter(places.length, bytes);
  return {
    rest: done === 0 ? bytes : Buffer.concat([...parts, bytes.subarray(done)]),
    answers: places.map(([from, to]) => new UnreadHex(new Unread(bytes.subarray(from, to), released))),
  };
}

/** Puts what was cut out of a reply back into it, once the rest is parsed: each in one place, since whoever reads it gives its memory back. */
export function putBack(reply: unknown, { answers }: Cut): unknown {
  const left = new Map(answers.map((answer, i) => [`${MARK}${i}`, answer]));
  for (const entry of Array.isArray(reply) ? reply : [reply]) {
    const told = (entry ?? {}) as { result?: unknown };
    if (typeof told.result !== 'string' || !told.result.startsWith(MARK)) continue;
    const mark = told.result;
    told.result = left.get(mark);
    // A node may have written the same mark itself.
    left.delete(mark);
  }
  return reply;
}
