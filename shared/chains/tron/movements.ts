import type { SentTransaction, Transfer } from '#shared/core/chain-events.ts';
import { breathe } from '../breathe.ts';
import type { BlockContent, WatchSet } from '../chain.ts';
import { toBase58 } from './address.ts';
import { watchedHex } from './watched-hex.ts';
import { CREATE, TRIGGER } from './contract.ts';
import type { Log, Outcome } from './infos.ts';
import type { Block, Header, Transaction } from './replies.ts';

/** keccak256('Transfer(address,address,uint256)') */
const TRANSFER_TOPIC = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const ADDRESS_PADDING = '0'.repeat(24);
const WORD = 64;

/** A transaction that may concern somebody, and what came of it. */
export interface Found {
  /** Its place in the block. */
  position: number;
  transaction: Transaction;
  outcome: Outcome;
}

/** A block that was proven, with as much of it as may concern somebody. */
export interface ProvenBlock {
  header: Header;
  found: readonly Found[];
  /** How many contracts ran in it with success, so that TRX may have been passed on. */
  runs: number;
  /** Whether the node recorded any internal transaction of it, of effect or not. */
  recordsInternals: boolean;
}

/**
 * What happened to watched addresses in one block (chains 3.3). TRX counts from the bytes of a transaction that succeeded,
 * and from what contracts passed on; tokens count from logs alone, whatever the call said and returned. TRC-10 never counts.
 */
export async function contentOf({ header, found }: ProvenBlock, watched: WatchSet): Promise<BlockContent> {
  const transfers: Transfer[] = [];
  const sent: SentTransaction[] = [];
  const has = watchedHex(watched);
  for (const { position, transaction, outcome } of found) {
    const { owner } = transaction;
    const place = placeOf(header, transaction, position);
    if (owner !== null && has(owner))
      sent.push({ kind: 'sent', ...place, sender: toBase58(owner), nonce: null, succeeded: outcome.succeeded, rawFee: outcome.rawFee.toString() });
    // One by one: a call can make more of them than a function takes arguments.
    for (const transfer of transfersOf(place, transaction, outcome, has)) transfers.push(transfer);
    await breathe();
  }
  return { block: refOf(header), transfers, sent };
}

/** A block of which everything was read, with the outcomes of all of its transactions in their order. */
export function provenOf(block: Block, outcomes: readonly Outcome[]): ProvenBlock {
  return {
    header: block,
    found: block.transactions.map((transaction, position) => ({ position, transaction, outcome: outcomes[position] as Outcome })),
    runs: block.transactions.filter(({ type, contractRet }) => runsContract(type, contractRet)).length,
    recordsInternals: outcomes.some(({ recordsInternals }) => recordsInternals),
  };
}

/** Whether a contract ran with success, so that TRX may have been passed on. */
export function runsContract(type: number, contractRet: string): boolean {
  return contractRet === 'SUCCESS' && (type === TRIGGER || type === CREATE);
}

/** A header as far as following the chain needs it. */
export function refOf({ height, hash, parentHash, timeMs }: Header): BlockContent['block'] {
  return { height, hash, parentHash, time: Math.floor(timeMs / 1000) };
}

type Place = Pick<Transfer, 'txid' | 'height' | 'blockHash' | 'position' | 'time'>;

function placeOf(block: Header, { txid }: Transaction, position: number): Place {
  const { height, hash, time } = refOf(block);
  return { txid, height, blockHash: hash, position, time };
}

/**
 * The movements of one transaction that touch a watched address at either end. An internal one is numbered by its place
 * among the movements of TRX that took effect, from 1: nodes differ in which other entries they list.
 */
function transfersOf(place: Place, { value, owner }: Transaction, { succeeded, internals, logs }: Outcome, has: (hex: string) => boolean): Transfer[] {
  if (!succeeded) return [];
  const found: Transfer[] = [];
  // Its checksum is two hashes, and one call can name the same two addresses thousands of times.
  const written = new Map<string, string>();
  const write = (address: string): string => {
    const known = written.get(address) ?? toBase58(address);
    written.set(address, known);
    return known;
  };
  const add = (kind: Transfer['kind'], ordinal: number, [from, to]: readonly [string, string], contract: string | null, rawAmount: bigint): void => {
    if (!has(from) && !has(to)) return;
    const [sender, recipient] = [write(from), write(to)];
    found.push({ kind, ...place, ordinal, sender, recipient, contract: contract === null ? null : write(contract), rawAmount: rawAmount.toString() });
  };
  if (value !== null && owner !== null) add('native', 0, [owner, value.recipient], null, value.rawAmount);
  for (const [i, { sender, recipient, rawAmount }] of internals.entries()) add('internal', i + 1, [sender, recipient], null, rawAmount);
  for (const [ordinal, log] of logs.entries()) {
    const token = tokenTransferOf(log);
    if (token !== undefined) add('token', ordinal, token.ends, log.emitter, token.rawAmount);
  }
  return found;
}

/**
 * A TRC-20 Transfer: exactly three topics (four is a collectible), both ends plain addresses, one word of data, more than
 * zero. The contract that emitted it is reported, whatever it is; only the configured ones are ever credited.
 */
function tokenTransferOf({ topics, data }: Log): { ends: readonly [string, string]; rawAmount: bigint } | undefined {
  const [signature, from, to] = topics;
  if (topics.length !== 3 || signature !== TRANSFER_TOPIC || from === undefined || to === undefined || data.length !== WORD) return undefined;
  if (!from.startsWith(ADDRESS_PADDING) || !to.startsWith(ADDRESS_PADDING)) return undefined;
  const rawAmount = BigInt(`0x${data}`);
  return rawAmount === 0n ? undefined : { ends: [from.slice(24), to.slice(24)], rawAmount };
}
