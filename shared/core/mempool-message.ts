import { TRANSFER_KINDS, type Transfer } from './chain-events.ts';
import {
  type Check,
  canonicalCodec,
  type Decoded,
  list,
  maybe,
  oneOf,
  ordinalNumber,
  pick,
  place,
  several,
  shapeProblem,
  units,
  whole,
  word,
  wordOrNull,
} from './message-shape.ts';
import { atOnce, type Steps } from './turns.ts';

/** A transfer whose block is not known yet. */
export type WaitingTransfer = Omit<Transfer, 'height' | 'blockHash' | 'position' | 'time'>;

/** A transaction that concerns a watched address and waits to be mined. */
export interface SeenTransaction {
  txid: string;
  /** Service time the indexer first knew the node to have it, Unix milliseconds. */
  firstSeenAt: number;
  /** Outputs it would spend, `txid:vout`. */
  spends: string[];
  transfers: WaitingTransfer[];
}

/**
 * Everything that waits at a network's node and concerns watched addresses: each message tells all of it anew, so that a lost
 * one loses nothing (architecture 3.3).
 */
export interface MempoolMessage {
  network: string;
  /** Fencing number of the writer's lease; a message of an older epoch is dropped. */
  epoch: number;
  /** Counts from 1 within an epoch; an older message says nothing any more. */
  seq: number;
  /** Service time the node was asked, Unix milliseconds. */
  takenAt: number;
  transactions: SeenTransaction[];
}

/** The stream on which a network's indexer tells what waits. */
export function mempoolStream(network: string): string {
  return `sluice:mempool:${network}`;
}

const MESSAGE: Record<keyof MempoolMessage, Check> = { network: word, epoch: whole, seq: ordinalNumber, takenAt: whole, transactions: list };
const TRANSACTION: Record<keyof SeenTransaction, Check> = {
  txid: word,
  firstSeenAt: whole,
  spends: several(word, (output: string) => output),
  transfers: list,
};
const TRANSFER: Record<keyof WaitingTransfer, Check> = {
  kind: oneOf(...TRANSFER_KINDS),
  txid: word,
  ordinal: place,
  sender: word,
  coSenders: maybe(several(word, (sender: string) => sender)),
  recipient: word,
  coinbase: maybe((v) => v === true),
  contract: wordOrNull,
  rawAmount: units,
  unproven: maybe((v) => v === true),
};

function* write(message: MempoolMessage): Steps<string> {
  const transactions: object[] = [];
  for (const one of message.transactions) {
    transactions.push({ ...pick(TRANSACTION, one), transfers: one.transfers.map((each) => pick(TRANSFER, each)) });
    yield;
  }
  return JSON.stringify({ ...pick(MESSAGE, message), transactions });
}

function* problem(value: unknown): Steps<string | undefined> {
  const wrong = shapeProblem(MESSAGE, value, 'message');
  if (wrong !== undefined) return wrong;
  const { transactions, takenAt } = value as MempoolMessage;
  const told = new Set<string>();
  for (const one of transactions) {
    const problem = shapeProblem(TRANSACTION, one, 'transaction') ?? transferProblem(one);
    if (problem !== undefined) return problem;
    if (one.firstSeenAt > takenAt) return 'a transaction was seen after the node was asked';
    if (told.has(one.txid)) return 'a transaction is listed twice';
    told.add(one.txid);
    yield;
  }
  return undefined;
}

function transferProblem({ txid, transfers }: SeenTransaction): string | undefined {
  const seen = new Set<string>();
  for (const one of transfers) {
    const wrong = shapeProblem(TRANSFER, one, 'transfer');
    if (wrong !== undefined) return wrong;
    if (one.txid !== txid) return 'a transfer belongs to another transaction';
    if (one.coSenders?.includes(one.sender)) return 'a sender is named twice';
    if ((one.kind === 'token') !== (one.contract !== null)) return 'a token has a contract and the native coin has none';
    const key = `${one.kind} ${one.ordinal}`;
    if (seen.has(key)) return 'a transfer is listed twice';
    seen.add(key);
  }
  return undefined;
}

function* asItIs(message: MempoolMessage): Steps<MempoolMessage> {
  yield;
  return message;
}

const codec = canonicalCodec<MempoolMessage, MempoolMessage>('mempool message', { problem, write, pack: asItIs, unpack: asItIs });

/** Writes a message as its one canonical string, in steps. */
export const encodingMempoolMessage = codec.encode;

/** Reads a message back, in steps; a refused one is set aside, and the next one tells everything again. */
export const decodingMempoolMessage = codec.decode;

/** Writes a message in one go. */
export function encodeMempoolMessage(message: MempoolMessage): string {
  return atOnce(codec.encode(message));
}

/** Reads a message in one go. */
export function decodeMempoolMessage(text: string): Decoded<MempoolMessage> {
  return atOnce(codec.decode(text));
}
