import { Invariant } from '#shared/core/errors.ts';
import { type Look, lookAtValues } from './kernel.ts';
import { giveBackAfter } from './reply-memory.ts';
import { CLOSE_LIST, CLOSE_OBJECT, COMMA, DOUBT, endOfKey, endOfValue, isKey, OPEN_LIST, OPEN_OBJECT } from './json-bytes.ts';

/** JSON of the plainest form (json-bytes.ts) that was walked over once and not parsed yet. */
export class Unread {
  #bytes: Buffer | undefined;
  readonly #released: () => void;

  /** `released` hears once that these bytes are read no more. */
  constructor(bytes: Buffer, released: () => void = () => undefined) {
    this.#bytes = bytes;
    this.#released = released;
  }

  /** @throws Invariant once it was released: another reply may be where its bytes were */
  get bytes(): Buffer {
    return this.#bytes ?? gone();
  }

  /** Nobody reads this any more, and whatever was found in it is a copy. */
  release(): void {
    if (this.#bytes === undefined) return;
    this.#bytes = undefined;
    this.#released();
  }

  /** Parses all of it, or the bytes between two places. */
  read(from = 0, to = this.bytes.length): unknown {
    return JSON.parse(this.bytes.toString('latin1', from, to));
  }
}

function gone(): never {
  throw new Invariant('a reply was read after its memory was given back');
}

/** The parsed answer, whether it was parsed before or not; nobody reads it again. */
export function readAnswer(answer: unknown): unknown {
  if (!(answer instanceof Unread)) return answer;
  const read = answer.read();
  answer.release();
  return read;
}

/**
 * The answers of a reply: those under these ids stay unread, and the reply's memory is given back once each of them was released; the others are read by `read` at once.
 */
export function leaveUnread<Read>(
  bytes: Buffer,
  told: readonly UnreadEntry[],
  ids: ReadonlySet<number>,
  read: (one: Unread) => Read,
): { id: number; result: Unread | Read }[] {
  const released = giveBackAfter(told.filter(({ id }) => ids.has(id)).length, bytes);
  return told.map(({ id, result }) => ({ id, result: ids.has(id) ? new Unread(result.bytes, released) : read(result) }));
}

/** One answer of a reply, whose result is not parsed yet. */
interface UnreadEntry {
  id: number;
  result: Unread;
}

const KEYS = { jsonrpc: Buffer.from('jsonrpc'), id: Buffer.from('id'), result: Buffer.from('result') };
/** No connection makes so many requests that an id has more digits. */
const MOST_DIGITS = 15;

/**
 * The answers of a JSON-RPC reply, one or a list, in one pass over its bytes. Pure.
 * Null when anything is unusual, such as an error among them or a duplicate key; then the whole reply must be parsed.
 */
export function scanReply(bytes: Buffer): UnreadEntry | UnreadEntry[] | null {
  let end = bytes.length;
  while (bytes[end - 1] === 0x0a) end -= 1;
  const entries: UnreadEntry[] = [];
  const listed = bytes[0] === OPEN_LIST;
  const look = lookAtValues(bytes);
  let at = listed ? 1 : 0;
  for (;;) {
    at = scanEntry(bytes, at, entries, look);
    if (at === DOUBT) return null;
    if (!listed) return at === end ? (entries[0] ?? null) : null;
    if (bytes[at] === COMMA) at += 1;
    else return bytes[at] === CLOSE_LIST && at + 1 === end ? entries : null;
  }
}

/** Adds the entry that begins at `from`; returns the place after it, or DOUBT. */
function scanEntry(bytes: Buffer, from: number, entries: UnreadEntry[], look: Look): number {
  if (bytes[from] !== OPEN_OBJECT) return DOUBT;
  let id: number | undefined;
  let result: Unread | undefined;
  let versions = 0;
  let at = from + 1;
  for (;;) {
    const value = endOfKey(bytes, at);
    const end = value === DOUBT ? DOUBT : endOfAnswer(bytes, value, look);
    if (end === DOUBT) return DOUBT;
    if (isKey(bytes, at, value, KEYS.result) && result === undefined) result = new Unread(bytes.subarray(value, end));
    else if (isKey(bytes, at, value, KEYS.id) && id === undefined) id = idOf(bytes, value, end);
    else if (isKey(bytes, at, value, KEYS.jsonrpc) && versions === 0) versions += 1;
    else return DOUBT;
    if (bytes[end] === COMMA) {
      at = end + 1;
      continue;
    }
    if (bytes[end] !== CLOSE_OBJECT || id === undefined || Number.isNaN(id) || result === undefined) return DOUBT;
    entries.push({ id, result });
    return end + 1;
  }
}

/** The place after a value, or DOUBT. What is long the kernel looks at, as far as it has room. */
function endOfAnswer(bytes: Buffer, at: number, look: Look): number {
  const isLong = bytes[at] === OPEN_OBJECT || bytes[at] === OPEN_LIST;
  return (isLong && look.next(at)) || endOfValue(bytes, at);
}

function idOf(bytes: Buffer, at: number, end: number): number {
  const text = bytes.toString('latin1', at, end);
  return text.length <= MOST_DIGITS && /^(0|[1-9]\d*)$/.test(text) ? Number(text) : Number.NaN;
}

/** Before and after the list in a reply that holds nothing else: a call by itself, or a list of one. */
const BEFORE_LIST = /^(\[?)\{((?:"jsonrpc":"2\.0",|"id":\d{1,15},)*)"result":(?=\[)/;
const AFTER_LIST = /\]((?:,"jsonrpc":"2\.0"|,"id":\d{1,15})*)\}(\]?)\n?$/;
/** Neither is longer. */
const LONGEST_FRAME = 80;

/**
 * The one answer of a reply, where it is a list and all around it is of the plainest form; null where anything of that is unusual. Nobody has looked
 * into the list: it may be no JSON at all. Pure.
 */
export function frameReply(bytes: Buffer): UnreadEntry | UnreadEntry[] | null {
  const before = BEFORE_LIST.exec(bytes.toString('latin1', 0, LONGEST_FRAME));
  const tailAt = Math.max(before?.[0].length ?? 0, bytes.length - LONGEST_FRAME);
  const after = AFTER_LIST.exec(bytes.toString('latin1', tailAt));
  if (before === null || after === null) return null;
  const [, open, keys] = before;
  const [, otherKeys, close] = after;
  const ids = [...`${keys},${otherKeys}`.matchAll(/"id":(\d+)/g)];
  if (ids.length !== 1 || (open === '') !== (close === '')) return null;
  const entry = { id: Number(ids[0]?.[1]), result: new Unread(bytes.subarray(before[0].length, tailAt + after.index + 1)) };
  return open === '' ? entry : [entry];
}
