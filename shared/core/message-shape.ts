import { Invariant } from './errors.ts';
import type { Steps } from './turns.ts';

/** Answers whether a field of a message is what it must be. */
export type Check = (value: unknown) => boolean;

const WORD = /^[\x21-\x7e]{1,128}$/;
const UNITS = /^(0|[1-9][0-9]{0,77})$/;
const LARGEST_UNITS = 2n ** 256n - 1n;
/** The largest place in a block or a transaction: what a column of such numbers holds. */
export const LARGEST_PLACE = 2 ** 31 - 1;
/** The last second of the year 9999: the database reads no later time as it is written. */
export const LAST_SECOND = 253_402_300_799;

/** Hashes, addresses, names: printable ASCII without spaces, short. */
export const word: Check = (v) => typeof v === 'string' && WORD.test(v);
export const wordOrNull: Check = (v) => v === null || word(v);
export const whole: Check = (v) => Number.isSafeInteger(v) && (v as number) >= 0 && !Object.is(v, -0);
export const wholeOrNull: Check = (v) => v === null || whole(v);
/** A place in a block or a transaction. */
export const place: Check = (v) => whole(v) && (v as number) <= LARGEST_PLACE;
/** Unix seconds. */
export const moment: Check = (v) => whole(v) && (v as number) <= LAST_SECOND;
/** Counts from 1. */
export const ordinalNumber: Check = (v) => whole(v) && v !== 0;
/** A height that may lie before the first block: nothing is final yet. */
export const mark: Check = (v) => v === -1 || whole(v);
export const flag: Check = (v) => typeof v === 'boolean';
/** Up to a uint256; the length is checked before anything is parsed. */
export const units: Check = (v) => typeof v === 'string' && UNITS.test(v) && BigInt(v) <= LARGEST_UNITS;
export const list: Check = (v) => Array.isArray(v);

/** One of these words. */
export function oneOf(...names: string[]): Check {
  return (v) => typeof v === 'string' && names.includes(v);
}

/** Left out of the text where it is not said. */
export function maybe(check: Check): Check {
  return (v) => v === undefined || check(v);
}

/** At least one item, none of them twice by its `name`. */
export function several(check: Check, name: (item: never) => string): Check {
  return (v) => Array.isArray(v) && v.length > 0 && v.every(check) && new Set(v.map((item) => name(item as never))).size === v.length;
}

/** An object with these fields, whatever else it has. */
export function object(fields: Record<string, Check>): Check {
  return (v) =>
    typeof v === 'object' && v !== null && !Array.isArray(v) && Object.entries(fields).every(([name, check]) => check((v as Record<string, unknown>)[name]));
}

/** The named fields of a value, in the order of the table. */
export function pick(fields: object, value: object): Record<string, unknown> {
  return Object.fromEntries(Object.keys(fields).map((name) => [name, (value as Record<string, unknown>)[name]]));
}

/** What is wrong with one object's fields, or undefined. */
export function shapeProblem(fields: Record<string, Check>, value: unknown, where: string): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return `${where} is not an object`;
  const wrong = Object.entries(fields).find(([name, check]) => !check((value as Record<string, unknown>)[name]));
  return wrong === undefined ? undefined : `${where}.${wrong[0]} is missing or malformed`;
}

/** Longest encoded message, in characters: a range with tens of thousands of sightings fits, a flood does not. */
export const MAX_MESSAGE_LENGTH = 32 * 1024 * 1024;

/** What a text says, or why it is refused: a value, not an exception, because the consumer parks it and goes on. */
export type Decoded<Message> = { ok: true; message: Message } | { ok: false; problem: string };

/** Writes and reads one kind of message, in steps: others decide how long it is. */
export interface Codec<Message> {
  /**
   * Writes a message as its one canonical string; the MAC covers exactly these characters.
   * @throws Invariant when the reader would refuse the message, so that the writer's mistake surfaces where it was made
   */
  encode(message: Message): Steps<string>;
  /**
   * Reads a message, believing nothing: every field is checked, then it is written again and must give the very same
   * characters, which rules out unknown fields, repeated keys, another order and other spellings of a number.
   */
  decode(text: string): Steps<Decoded<Message>>;
}

/** How a message and its written form relate; a message is the same as what is written of it unless something is packed. */
export interface Form<Message, Written> {
  /** What is wrong with a written form, as parsed. */
  problem(value: unknown): Steps<string | undefined>;
  write(written: Written): Steps<string>;
  pack(message: Message): Steps<Written>;
  unpack(written: Written): Steps<Message>;
}

/** The codec of messages called `name`. */
export function canonicalCodec<Message, Written>(name: string, { problem, write, pack, unpack }: Form<Message, Written>): Codec<Message> {
  return {
    *encode(message) {
      const written = yield* pack(message);
      const wrong = yield* problem(written);
      if (wrong !== undefined) throw new Invariant(`${name}: ${wrong}`);
      const text = yield* write(written);
      if (text.length > MAX_MESSAGE_LENGTH) throw new Invariant(`${name}: it is ${text.length} characters long`);
      return text;
    },
    *decode(text) {
      if (text.length > MAX_MESSAGE_LENGTH) return { ok: false, problem: 'the message is too long' };
      let value: unknown;
      try {
        value = JSON.parse(text);
      } catch {
        return { ok: false, problem: 'the message is not JSON' };
      }
      yield;
      const wrong = yield* problem(value);
      if (wrong !== undefined) return { ok: false, problem: wrong };
      const written = value as Written;
      if ((yield* write(written)) !== text) return { ok: false, problem: 'the message is not in canonical form' };
      return { ok: true, message: yield* unpack(written) };
    },
  };
}
