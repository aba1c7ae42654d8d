import { type BlockMessage, type SentTransaction, type Sighting, TRANSFER_KINDS, type Transfer, type WatchAck } from './chain-events.ts';
import { Invariant } from './errors.ts';

/** Longest encoded message, in characters: a range with tens of thousands of sightings fits, a flood does not. */
export const MAX_MESSAGE_LENGTH = 32 * 1024 * 1024;

const WORD = /^[\x21-\x7e]{1,128}$/;
const UNITS = /^(0|[1-9][0-9]{0,77})$/;
const LARGEST_UNITS = 2n ** 256n - 1n;
const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

type Check = (value: unknown) => boolean;

/** Hashes, addresses, names: printable ASCII without spaces, short. */
const word: Check = (v) => typeof v === 'string' && WORD.test(v);
const wordOrNull: Check = (v) => v === null || word(v);
const whole: Check = (v) => Number.isSafeInteger(v) && (v as number) >= 0 && !Object.is(v, -0);
const wholeOrNull: Check = (v) => v === null || whole(v);
/** A height that may lie before the first block: nothing is final yet. */
const mark: Check = (v) => v === -1 || whole(v);
const flag: Check = (v) => typeof v === 'boolean';
/** Up to a uint256; the length is checked before anything is parsed. */
const units: Check = (v) => typeof v === 'string' && UNITS.test(v) && BigInt(v) <= LARGEST_UNITS;
const oneOf =
  (...names: string[]): Check =>
  (v) =>
    typeof v === 'string' && names.includes(v);
const list: Check = (v) => Array.isArray(v);

/** Fields in the order they are written; the same table checks, orders and bounds them. */
const TRANSFER: Record<keyof Transfer, Check> = {
  kind: oneOf(...TRANSFER_KINDS),
  txid: word,
  ordinal: whole,
  height: whole,
  blockHash: word,
  position: whole,
  time: whole,
  sender: word,
  recipient: word,
  contract: wordOrNull,
  rawAmount: units,
};
const SENT: Record<keyof SentTransaction, Check> = {
  kind: oneOf('sent'),
  txid: word,
  height: whole,
  blockHash: word,
  position: whole,
  time: whole,
  sender: word,
  nonce: wholeOrNull,
  succeeded: flag,
  rawFee: units,
};
const ACK: Record<keyof WatchAck, Check> = { address: word, watchedFrom: whole };
const MESSAGE: Record<Exclude<keyof BlockMessage, 'traceparent' | 'internalUnseen'>, Check> = {
  network: word,
  epoch: whole,
  seq: (v) => whole(v) && v !== 0,
  from: whole,
  to: mark,
  parentHash: word,
  hash: word,
  safeNumber: mark,
  finalNumber: mark,
  headNumber: whole,
  time: whole,
  sightings: list,
  acks: list,
};

function pick(fields: object, value: object): Record<string, unknown> {
  return Object.fromEntries(Object.keys(fields).map((name) => [name, (value as Record<string, unknown>)[name]]));
}

function write(message: BlockMessage): string {
  return JSON.stringify({
    ...pick(MESSAGE, message),
    sightings: message.sightings.map((s) => pick(s.kind === 'sent' ? SENT : TRANSFER, s)),
    acks: message.acks.map((a) => pick(ACK, a)),
    ...(message.internalUnseen === undefined ? {} : { internalUnseen: message.internalUnseen }),
    ...(message.traceparent === undefined ? {} : { traceparent: message.traceparent }),
  });
}

/** What is wrong with one object's fields, or undefined. */
function shapeProblem(fields: Record<string, Check>, value: unknown, where: string): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return `${where} is not an object`;
  const wrong = Object.entries(fields).find(([name, check]) => !check((value as Record<string, unknown>)[name]));
  return wrong === undefined ? undefined : `${where}.${wrong[0]} is missing or malformed`;
}

/** What is wrong with how the parts fit together, or undefined. */
function meaningProblem(m: BlockMessage): string | undefined {
  if (m.to === m.from - 1) {
    if (m.hash !== m.parentHash) return 'a message without blocks must name the tip twice';
    if (m.sightings.length > 0 || m.internalUnseen !== undefined) return 'a message without blocks cannot say what was in them';
  } else if (m.to < m.from) return 'to is before from';
  else if (m.hash === m.parentHash) return 'a block cannot be its own parent';
  if (m.finalNumber > m.headNumber || m.safeNumber > m.headNumber || m.to > m.headNumber) return 'headNumber is below another height';
  const seen = new Set<string>();
  for (const s of m.sightings) {
    if (s.height < m.from || s.height > m.to) return 'a sighting lies outside the blocks covered';
    if (s.height === m.to && s.blockHash !== m.hash) return 'a sighting names another block than the message';
    if (s.kind !== 'sent' && (s.kind === 'token') !== (s.contract !== null)) return 'a token has a contract and the native coin has none';
    const key = `${s.txid} ${s.kind} ${s.kind === 'sent' ? 0 : s.ordinal}`;
    if (seen.has(key)) return 'a sighting is listed twice';
    seen.add(key);
  }
  return undefined;
}

function problem(value: unknown): string | undefined {
  const shape = shapeProblem(MESSAGE, value, 'message');
  if (shape !== undefined) return shape;
  const message = value as BlockMessage;
  if (message.traceparent !== undefined && !(typeof message.traceparent === 'string' && TRACEPARENT.test(message.traceparent)))
    return 'message.traceparent is malformed';
  if (message.internalUnseen !== undefined && message.internalUnseen !== true) return 'message.internalUnseen is malformed';
  for (const s of message.sightings as unknown[]) {
    const sent = typeof s === 'object' && s !== null && (s as Sighting).kind === 'sent';
    const wrong = shapeProblem(sent ? SENT : TRANSFER, s, 'sighting');
    if (wrong !== undefined) return wrong;
  }
  for (const a of message.acks as unknown[]) {
    const wrong = shapeProblem(ACK, a, 'ack');
    if (wrong !== undefined) return wrong;
  }
  return meaningProblem(message);
}

/**
 * Writes a message as its one canonical string; the MAC covers exactly these characters.
 * @throws Invariant when the reader would refuse the message, so that the writer's mistake surfaces where it was made
 */
export function encodeBlockMessage(message: BlockMessage): string {
  const wrong = problem(message);
  if (wrong !== undefined) throw new Invariant(`block message: ${wrong}`);
  return write(message);
}

export type DecodedBlockMessage = { ok: true; message: BlockMessage } | { ok: false; problem: string };

/**
 * Reads a message back, believing nothing: every field is checked, then the message is written again and must give the
 * very same characters, which rules out unknown fields, repeated keys, another order and other spellings of a number.
 * A refused message is a value, not an exception: the consumer parks it and asks for a rewind.
 */
export function decodeBlockMessage(text: string): DecodedBlockMessage {
  if (text.length > MAX_MESSAGE_LENGTH) return { ok: false, problem: 'the message is too long' };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, problem: 'the message is not JSON' };
  }
  const wrong = problem(value);
  if (wrong !== undefined) return { ok: false, problem: wrong };
  const message = value as BlockMessage;
  return write(message) === text ? { ok: true, message } : { ok: false, problem: 'the message is not in canonical form' };
}
