import { type BlockMessage, type SentTransaction, type Sighting, TRANSFER_KINDS, type Transfer, type WatchAck } from './chain-events.ts';
import {
  type Check,
  canonicalCodec,
  type Decoded,
  flag,
  list,
  mark,
  maybe,
  moment,
  object,
  oneOf,
  ordinalNumber,
  pick,
  place,
  several,
  shapeProblem,
  units,
  whole,
  wholeOrNull,
  word,
  wordOrNull,
} from './message-shape.ts';
import { type Pack, packTransfers, unpackTransfers } from './packed-transfers.ts';
import { atOnce, type Steps } from './turns.ts';

const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

const OUTPUT: Record<'txid' | 'vout', Check> = { txid: word, vout: whole };
/** Fields in the order they are written; the same table checks, orders and bounds them. */
const TRANSFER: Record<keyof Transfer, Check> = {
  kind: oneOf(...TRANSFER_KINDS),
  txid: word,
  ordinal: place,
  height: whole,
  blockHash: word,
  position: place,
  time: moment,
  sender: word,
  coSenders: maybe(several(word, (sender: string) => sender)),
  recipient: word,
  coinbase: maybe((v) => v === true),
  contract: wordOrNull,
  rawAmount: units,
  unproven: maybe((v) => v === true),
};
const SENT: Record<keyof SentTransaction, Check> = {
  kind: oneOf('sent'),
  txid: word,
  height: whole,
  blockHash: word,
  position: place,
  time: moment,
  sender: word,
  nonce: wholeOrNull,
  spends: maybe(several(object(OUTPUT), (spent: { txid: string; vout: number }) => `${spent.txid}:${spent.vout}`)),
  succeeded: flag,
  rawFee: units,
};
const ACK: Record<keyof WatchAck, Check> = { address: word, watchedFrom: whole };
const MESSAGE: Record<Exclude<keyof BlockMessage, 'traceparent' | 'internalUnseen' | 'byLogs'>, Check> = {
  network: word,
  epoch: whole,
  seq: ordinalNumber,
  from: whole,
  to: mark,
  parentHash: word,
  hash: word,
  safeNumber: mark,
  finalNumber: mark,
  headNumber: whole,
  time: moment,
  sightings: list,
  acks: list,
};

const PACK: Record<Exclude<keyof Pack, 'transactions'>, Check> = {
  kind: oneOf(...TRANSFER_KINDS),
  height: whole,
  blockHash: word,
  time: moment,
  recipient: word,
  contract: wordOrNull,
};
const PACKED: Record<keyof Pack['transactions'][number], Check> = {
  txid: word,
  position: place,
  sender: word,
  ordinals: several(place, String),
  rawAmounts: list,
};

/** A message as it is written: what many transfers have in common is written once. */
type Written = BlockMessage & { packs?: Pack[] };

function writeSent(sent: SentTransaction): object {
  return { ...pick(SENT, sent), ...(sent.spends && { spends: sent.spends.map((output) => pick(OUTPUT, output)) }) };
}

function* write(message: Written): Steps<string> {
  const sightings: object[] = [];
  for (const s of message.sightings) {
    sightings.push(s.kind === 'sent' ? writeSent(s) : pick(TRANSFER, s));
    yield;
  }
  const packs = message.packs?.map((one) => ({ ...pick(PACK, one), transactions: one.transactions.map((each) => pick(PACKED, each)) }));
  return JSON.stringify({
    ...pick(MESSAGE, message),
    sightings,
    acks: message.acks.map((a) => pick(ACK, a)),
    ...(packs === undefined ? {} : { packs }),
    ...(message.internalUnseen === undefined ? {} : { internalUnseen: message.internalUnseen }),
    ...(message.byLogs === undefined ? {} : { byLogs: message.byLogs }),
    ...(message.traceparent === undefined ? {} : { traceparent: message.traceparent }),
  });
}

/** What is wrong with how the parts fit together, or undefined. */
function* meaningProblem(m: BlockMessage): Steps<string | undefined> {
  if (m.to === m.from - 1) {
    if (m.hash !== m.parentHash) return 'a message without blocks must name the tip twice';
    if (m.sightings.length > 0 || m.internalUnseen !== undefined || m.byLogs !== undefined) return 'a message without blocks cannot say what was in them';
  } else if (m.to < m.from) return 'to is before from';
  else if (m.hash === m.parentHash) return 'a block cannot be its own parent';
  if (m.finalNumber > m.headNumber || m.safeNumber > m.headNumber || m.to > m.headNumber) return 'headNumber is below another height';
  const seen = new Set<string>();
  for (const s of m.sightings) {
    if (s.height < m.from || s.height > m.to) return 'a sighting lies outside the blocks covered';
    if (s.height === m.to && s.blockHash !== m.hash) return 'a sighting names another block than the message';
    if (s.kind !== 'sent' && s.coSenders?.includes(s.sender)) return 'a sender is named twice';
    if (s.kind !== 'sent' && (s.kind === 'token') !== (s.contract !== null)) return 'a token has a contract and the native coin has none';
    const key = `${s.txid} ${s.kind} ${s.kind === 'sent' ? 0 : s.ordinal}`;
    if (seen.has(key)) return 'a sighting is listed twice';
    seen.add(key);
    yield;
  }
  return undefined;
}

function* problem(value: unknown): Steps<string | undefined> {
  const shape = shapeProblem(MESSAGE, value, 'message');
  if (shape !== undefined) return shape;
  const message = value as Written;
  if (message.traceparent !== undefined && !(typeof message.traceparent === 'string' && TRACEPARENT.test(message.traceparent)))
    return 'message.traceparent is malformed';
  if (message.internalUnseen !== undefined && message.internalUnseen !== true) return 'message.internalUnseen is malformed';
  if (message.byLogs !== undefined && message.byLogs !== true) return 'message.byLogs is malformed';
  for (const s of message.sightings as unknown[]) {
    const sent = typeof s === 'object' && s !== null && (s as Sighting).kind === 'sent';
    const wrong = shapeProblem(sent ? SENT : TRANSFER, s, 'sighting');
    if (wrong !== undefined) return wrong;
    yield;
  }
  for (const a of message.acks as unknown[]) {
    const wrong = shapeProblem(ACK, a, 'ack');
    if (wrong !== undefined) return wrong;
  }
  const packed = message.packs === undefined ? undefined : yield* packsProblem(message.packs);
  return packed ?? (yield* meaningProblem(yield* unpack(message)));
}

function* packsProblem(packs: unknown): Steps<string | undefined> {
  if (!Array.isArray(packs) || packs.length === 0) return 'message.packs is malformed';
  for (const pack of packs as Pack[]) {
    const wrong = shapeProblem({ ...PACK, transactions: list }, pack, 'pack');
    if (wrong !== undefined) return wrong;
    for (const one of pack.transactions) {
      const problem = shapeProblem(PACKED, one, 'packed transaction');
      if (problem !== undefined) return problem;
      if (one.rawAmounts.length !== one.ordinals.length || !one.rawAmounts.every(units)) return 'packed transaction.rawAmounts is missing or malformed';
      yield;
    }
  }
  return undefined;
}

function* pack(message: BlockMessage): Steps<Written> {
  const { alone, packs } = yield* packTransfers(message.sightings);
  return packs.length === 0 ? message : { ...message, sightings: alone, packs };
}

function* unpack({ packs, ...message }: Written): Steps<BlockMessage> {
  return packs === undefined ? message : { ...message, sightings: [...message.sightings, ...(yield* unpackTransfers(packs))] };
}

const codec = canonicalCodec<BlockMessage, Written>('block message', { problem, write, pack, unpack });

/** Writes a message as its one canonical string, in steps. */
export const encodingBlockMessage = codec.encode;

/** Reads a message back, in steps; a refused one is parked, and the consumer asks for a rewind. */
export const decodingBlockMessage = codec.decode;

/** Writes a message in one go. */
export function encodeBlockMessage(message: BlockMessage): string {
  return atOnce(codec.encode(message));
}

/** Reads a message in one go. */
export function decodeBlockMessage(text: string): Decoded<BlockMessage> {
  return atOnce(codec.decode(text));
}
