import { ChainUnavailable, type LogPlace, type WatchSet } from '../chain.ts';
import { CLOSE_OBJECT, OPEN_OBJECT } from '../json-bytes.ts';
import { writeBytes } from '../hex-bytes.ts';
import { Unread } from '../unread.ts';
import { type Fields, readInteger, readList, readLog, readObject, readTxid, unsure } from './replies.ts';
import { TRANSFER, tokenTransferOf } from './token-transfer.ts';
import { watchedKeys } from './watched-keys.ts';

/** What `eth_getLogs` was asked for. */
export interface LogsAsked {
  from: number;
  to: number;
  /** Canonical addresses of the tokens. */
  contracts: ReadonlySet<string>;
  watched: WatchSet;
}

const BEFORE_SENDER = Buffer.from(`"topics":["${TRANSFER}","0x${'0'.repeat(24)}`);
const BETWEEN = Buffer.from(`","0x${'0'.repeat(24)}`);
const AFTER_RECIPIENT = Buffer.from('"]');
const NOTHING = Buffer.from('[]');
const DIGITS = 40;
/** Sender and recipient of a log, while they are looked up. */
const ends = new Uint8Array(40);

/**
 * Where these tokens moved to or from a watched address, by the logs of a range as a node told them, in the order it told them. Nothing is proven
 * by it: it says which blocks are worth reading whole, and what is in those is proven then (decision 0053).
 * @throws ChainUnavailable when the answer is malformed, or when a log of a watched address is none that was asked for
 */
export function logPlacesIn(answer: unknown, asked: LogsAsked): LogPlace[] {
  const plain = answer instanceof Unread ? plainLogs(answer, asked.watched) : undefined;
  const logs = plain ?? readList(parsed(answer), 'the list of logs').map((log) => readObject(log, 'a log'));
  return logs.flatMap((log) => placeOf(log, asked) ?? []);
}

/**
 * The logs that name a watched address, of a list in which each is a transfer as all nodes write it; undefined where any is not. What stands between
 * those transfers is not looked at: an object for each of them is all that could hide another one.
 */
function plainLogs(answer: Unread, watched: WatchSet): Fields[] | undefined {
  const { bytes } = answer;
  const has = watchedKeys(watched);
  const found: Fields[] = [];
  let logs = 0;
  let ended = 0;
  for (let at = bytes.indexOf(BEFORE_SENDER); at >= 0; at = bytes.indexOf(BEFORE_SENDER, at + 1)) {
    const sender = at + BEFORE_SENDER.length;
    const recipient = sender + DIGITS + BETWEEN.length;
    const end = recipient + DIGITS;
    const isPlain =
      writeBytes(bytes, sender, ends, 0, 20) &&
      bytes.compare(BETWEEN, 0, BETWEEN.length, sender + DIGITS, recipient) === 0 &&
      writeBytes(bytes, recipient, ends, 20, 20) &&
      bytes.compare(AFTER_RECIPIENT, 0, AFTER_RECIPIENT.length, end, end + AFTER_RECIPIENT.length) === 0;
    if (!isPlain) return undefined;
    logs += 1;
    if (!has(ends, 0) && !has(ends, 20)) continue;
    const begins = bytes.lastIndexOf(OPEN_OBJECT, at);
    // An object that holds several of these would be read once for each.
    if (begins < ended) return undefined;
    ended = bytes.indexOf(CLOSE_OBJECT, at) + 1;
    const log = objectIn(answer, begins, ended);
    if (log === undefined) return undefined;
    found.push(log);
  }
  if (logs === 0) return bytes.equals(NOTHING) ? found : undefined;
  return countOf(bytes, OPEN_OBJECT) === logs ? found : undefined;
}

/** The whole list, which nobody has looked into before. */
function parsed(answer: unknown): unknown {
  try {
    return answer instanceof Unread ? answer.read() : answer;
  } catch (error) {
    if (error instanceof SyntaxError) return unsure('the list of logs is no JSON');
    throw error;
  }
}

/** The object between two places, which holds no other object; undefined where there is none. */
function objectIn(answer: Unread, begins: number, ends: number): Fields | undefined {
  try {
    return readObject(answer.read(begins, ends), 'a log');
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof ChainUnavailable) return undefined;
    throw error;
  }
}

function countOf(bytes: Buffer, code: number): number {
  let count = 0;
  for (let at = bytes.indexOf(code); at >= 0; at = bytes.indexOf(code, at + 1)) count += 1;
  return count;
}

/** Where it is, if it moves anything to or from a watched address. */
function placeOf(fields: Fields, { from, to, contracts, watched }: LogsAsked): LogPlace | undefined {
  const log = readLog(fields);
  const transfer = tokenTransferOf(log);
  if (transfer === undefined || (!watched.has(transfer.sender) && !watched.has(transfer.recipient))) return undefined;
  if (fields.removed === true) unsure('a log was removed');
  const height = readInteger(fields.blockNumber, "a log's block number");
  if (!contracts.has(log.emitter) || height < from || height > to) unsure(`log ${log.index} of block ${height} is none that was asked for`);
  return {
    height,
    blockHash: readTxid(fields.blockHash, "a log's block hash"),
    txid: readTxid(fields.transactionHash, "a log's transaction hash"),
    index: log.index,
  };
}
