import { CREATE, TRIGGER } from './contract.ts';
import { type Block, type Header, isNothing, readHash, readHex, readInteger, readList, readObject, readUnits, type Transaction, unsure } from './replies.ts';

export interface Log {
  /** 40 hex digits. */
  emitter: string;
  topics: string[];
  data: string;
}

/** TRX that a contract passed on, in effect. */
export interface InternalTransfer {
  sender: string;
  recipient: string;
  rawAmount: bigint;
}

/** What came of one transaction, agreed on by the block and by the node's record of it. */
export interface Outcome {
  succeeded: boolean;
  rawFee: bigint;
  /** What a failed one left behind here never took effect. */
  logs: Log[];
  internals: InternalTransfer[];
  /** Whether the node recorded any internal transaction here, of effect or not. */
  recordsInternals: boolean;
}

const WORD = 64;
const ADDRESS = /^[0-9a-f]{40}$/;
const ADDRESS_41 = /^41[0-9a-f]{40}$/;
/**
 * `call`, `create` and `suicide` pass TRX on. java-tron notes stake operations in the same list (`delegateResourceOfEnergy`,
 * `freezeForEnergy`, …) with an amount and a recipient who receives nothing.
 */
const MOVES: ReadonlySet<string> = new Set(['call', 'create', 'suicide'].map((note) => Buffer.from(note).toString('hex')));

/** Outcomes of a block's transactions in their order; every one has exactly one record and every record one transaction. */
export function readOutcomes(block: Block, value: unknown): Outcome[] {
  const infos = isNothing(value) ? [] : readList(value, 'the list of outcomes').map((info) => readObject(info, 'an outcome'));
  if (infos.length !== block.transactions.length) unsure(`block ${block.height} has ${block.transactions.length} transactions but ${infos.length} outcomes`);
  const byId = new Map(infos.map((info) => [readHash(info.id, 'the transaction id of an outcome'), info]));
  return block.transactions.map((transaction) => {
    const info = byId.get(transaction.txid) ?? unsure(`block ${block.height} has no outcome of ${transaction.txid}`);
    return readOutcome(block, transaction, info);
  });
}

/** The outcome of one transaction, whose id it has. */
export function readOutcome({ height, timeMs }: Header, { txid, type, contractRet }: Transaction, value: unknown): Outcome {
  const info = readObject(value, 'an outcome');
  if (readInteger(info.blockNumber, 'the block number of an outcome') !== height) unsure(`the outcome of ${txid} is from another block`);
  if (readInteger(info.blockTimeStamp, 'the block time of an outcome') !== timeMs) unsure(`the outcome of ${txid} is from another time`);
  const { result } = readObject(info.receipt ?? {}, 'the receipt');
  const ran = type === TRIGGER || type === CREATE;
  // Only contracts state a result here; a plain transfer that fails is in no block at all.
  if (result !== contractRet && !(result === undefined && !ran)) unsure(`block and receipt differ about the outcome of ${txid}`);
  if (info.result !== undefined && info.result !== 'FAILED') unsure(`the outcome of ${txid} is neither success nor failure`);
  const succeeded = contractRet === 'SUCCESS';
  if (succeeded !== (info.result === undefined)) unsure(`the outcome of ${txid} contradicts itself`);
  const internals = readList(info.internal_transactions, 'the internal transactions');
  const logs = readList(info.log, 'the logs').map((log) => readLog(txid, log));
  return {
    succeeded,
    rawFee: readUnits(info.fee, 'a fee'),
    logs,
    internals: internals.flatMap((entry) => readInternal(txid, entry)),
    recordsInternals: internals.length > 0,
  };
}

function readLog(txid: string, value: unknown): Log {
  const log = readObject(value, 'a log');
  const emitter = typeof log.address === 'string' && ADDRESS.test(log.address) ? log.address : unsure(`a log of ${txid} has no address of 20 bytes`);
  const topics = readList(log.topics, 'the topics of a log').map((topic) => {
    const word = readHex(topic, 'a topic');
    return word.length === WORD ? word : unsure(`a topic of ${txid} is not 32 bytes`);
  });
  return { emitter, topics, data: readHex(log.data, "a log's data") };
}

function readInternal(txid: string, value: unknown): InternalTransfer[] {
  const internal = readObject(value, 'an internal transaction');
  if (internal.rejected !== undefined && typeof internal.rejected !== 'boolean') unsure(`an internal transaction of ${txid} is neither rejected nor not`);
  if (internal.rejected === true || !MOVES.has(readHex(internal.note, 'a note'))) return [];
  return readList(internal.callValueInfo, 'the values of an internal transaction').flatMap((entry) => {
    const { tokenId, callValue } = readObject(entry, 'a value');
    const rawAmount = readUnits(callValue, 'a call value');
    if (rawAmount === 0n || (tokenId !== undefined && tokenId !== '')) return [];
    const [sender, recipient] = [internal.caller_address, internal.transferTo_address].map((address) =>
      typeof address === 'string' && ADDRESS_41.test(address) ? address.slice(2) : unsure(`an internal transaction of ${txid} has a malformed end`),
    ) as [string, string];
    return sender === recipient ? [] : [{ sender, recipient, rawAmount }];
  });
}
