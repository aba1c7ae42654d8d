import { Buffer } from 'node:buffer';
import { COMMA, DOUBT, endOfKey, endOfValue, isKey, OPEN_OBJECT } from '../json-bytes.ts';
import { readDigits } from '../kernel.ts';
import { Unread } from '../unread.ts';
import { parseExact } from './json.ts';

/** The digits of a long answer, of which no text was made. */
export class UnreadHex {
  readonly digits: Buffer;
  constructor(digits: Buffer) {
    this.digits = digits;
  }

  toString(): string {
    return this.digits.toString('latin1');
  }

  /** What they stand for; null when they are not digits, or not a whole number of bytes. */
  read(): Buffer | null {
    const read = readDigits(this.digits);
    if (read !== undefined) return read;
    // Nodes write small letters, which the kernel reads; capital ones stand for the same.
    const bytes = Buffer.from(this.toString(), 'hex');
    return bytes.length * 2 === this.digits.length ? bytes : null;
  }
}

/** An answer as whoever reads with care wants it, whether it was left unread or not. */
export function readAnswer(answer: unknown): unknown {
  if (answer instanceof Unread) return readPart(answer.bytes, 0, answer.bytes.length);
  return answer instanceof UnreadHex ? answer.toString() : answer;
}

function readPart(bytes: Buffer, from: number, to: number): unknown {
  return parseExact(bytes.toString('latin1', from, to));
}

const VIN = Buffer.from('vin');
const QUOTED_VIN = Buffer.from('"vin"');

/** The list of inputs that an answer about a transaction tells, where it is an object that has one; nothing else of an unread one is parsed. */
export function inputsOf(answer: unknown): unknown {
  if (!(answer instanceof Unread)) return (answer as { vin?: unknown } | null | undefined)?.vin;
  const { bytes } = answer;
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
  return typeof answer === 'string' ? new UnreadHex(Buffer.from(answer)).read() : null;
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

/** Cuts long texts out of a JSON-RPC reply: what is left is parsed in no time, and is no JSON when what was cut was none. Pure. */
export function cutAnswers(bytes: Buffer): Cut {
  const parts: Buffer[] = [];
  const answers: UnreadHex[] = [];
  let done = 0;
  for (let at = bytes.indexOf(RESULT); at >= 0; at = bytes.indexOf(RESULT, at)) {
    at += RESULT.length;
    const end = bytes.indexOf(QUOTE, at);
    if (end - at < SHORTEST_CUT) continue;
    parts.push(bytes.subarray(done, at), Buffer.from(`${MARK}${answers.length}`));
    answers.push(new UnreadHex(bytes.subarray(at, end)));
    done = end;
    at = end;
  }
  return { rest: done === 0 ? bytes : Buffer.concat([...parts, bytes.subarray(done)]), answers };
}

/** Puts what was cut out of a reply back into it, once the rest is parsed. */
export function putBack(reply: unknown, { answers }: Cut): unknown {
  for (const entry of Array.isArray(reply) ? reply : [reply]) {
    const told = (entry ?? {}) as { result?: unknown };
    if (typeof told.result === 'string' && told.result.startsWith(MARK)) told.result = answers[Number(told.result.slice(MARK.length))];
  }
  return reply;
}
