import type { SentTransaction, Transfer } from '#shared/core/chain-events.ts';
import type { Steps } from '#shared/core/turns.ts';
import type { WatchSet } from '../chain.ts';
import { bloomOf, joinBlooms } from './bloom.ts';
import { isCoinLog, movesOfLogs } from './coin-logs.ts';
import { findReceiptsRoot } from './receipts-root.ts';
import { type Header, type Receipt, type Transaction, unsure } from './replies.ts';
import { tokenTransferOf } from './token-transfer.ts';
import type { BlockTraces, CoinMove } from './traces.ts';

/** What a block's transactions moved inside contract calls; undefined where the endpoint cannot show it. */
export type Traces = BlockTraces | 'in-logs' | undefined;

/** Whether everything that a block's transactions moved can be seen. */
export function sawAll(traces: Traces): boolean {
  return traces === 'in-logs' || traces?.unshown.size === 0;
}

/** Whether everything that one successful transaction moved can be seen. */
export function sawOf(traces: Traces, txid: string): boolean {
  return traces === 'in-logs' || traces?.unshown.has(txid) === false;
}

const NOBODY = `0x${'0'.repeat(40)}`;
/** The coin of Polygon PoS as a contract: it logs the fee of every transaction, failed ones included. */
const POLYGON_COIN = '0x0000000000000000000000000000000000001010';

/** What Polygon PoS puts at the end of a block to hand over deposits from Ethereum; nobody can sign such a transaction. */
function isStateSync(receipt: Receipt): boolean {
  return receipt.from === NOBODY && receipt.to === NOBODY && receipt.gasUsed === 0n;
}

/**
 * Refuses the receipts of a block unless they are exactly its own: by hash, count, order, log indexes and blooms (reliability
 * D9). A state sync at its end may be in no bloom: older blocks of Polygon keep its receipt outside of what the header covers.
 */
export function* crossCheck(header: Header, receipts: readonly Receipt[]): Steps<void> {
  if (receipts.length !== header.transactions.length)
    unsure(`block ${header.height} has ${header.transactions.length} transactions but ${receipts.length} receipts`);
  let logs = 0;
  for (const [i, receipt] of receipts.entries()) {
    if (receipt.blockHash !== header.hash || receipt.height !== header.height) unsure(`receipt ${i} of block ${header.height} is from another block`);
    if (receipt.txid !== header.transactions[i] || receipt.position !== i) unsure(`receipt ${i} of block ${header.height} is out of place`);
    if (!receipt.succeeded && receipt.logs.some(({ emitter }) => emitter !== POLYGON_COIN)) unsure(`the failed transaction ${receipt.txid} has logs`);
    for (const log of receipt.logs) if (log.index !== logs++) unsure(`block ${header.height} has a gap in its log indexes`);
    yield;
  }
  const last = receipts.at(-1);
  const synced = last !== undefined && isStateSync(last) ? last : undefined;
  const covered = receipts.filter((receipt) => receipt !== synced);
  for (const { logs: own, logsBloom, txid } of covered) {
    if (bloomOf(own) !== logsBloom) unsure(`the logs of ${txid} are not those its bloom was made of`);
    yield;
  }
  const blooms = covered.map((receipt) => receipt.logsBloom);
  const made = [blooms, ...(synced === undefined ? [] : [[...blooms, bloomOf(synced.logs)]])].map(joinBlooms);
  if (!made.includes(header.logsBloom)) unsure(`the logs of block ${header.height} are not those its bloom was made of`);
}

/** Refuses receipts that are not those the root in the block's header was made of; it alone covers the amounts in logs and their number. */
export function* crossCheckRoot(header: Header, receipts: readonly Receipt[]): Steps<void> {
  const root = yield* findReceiptsRoot(receipts);
  if (root !== null && root !== header.receiptsRoot) unsure(`the receipts of block ${header.height} are not those its root was made of`);
}

/** A transaction of ours with its outcome and its whole cost. */
export function sentOf(header: Header, receipt: Receipt, tx: Transaction): SentTransaction {
  return {
    kind: 'sent',
    txid: receipt.txid,
    ...placeOf(header, receipt),
    sender: receipt.from,
    nonce: tx.nonce,
    succeeded: receipt.succeeded,
    rawFee: (receipt.gasUsed * receipt.gasPrice + receipt.publishingFee).toString(),
  };
}

/**
 * The coin and token movements of one transaction that touch a watched address at either end. `tx` may be left out when
 * neither end of the transaction itself is watched; `moves` are the coins its contracts passed on.
 */
export function transfersOf(header: Header, receipt: Receipt, tx: Transaction | undefined, moves: readonly CoinMove[], watched: WatchSet): Transfer[] {
  if (!receipt.succeeded) return [];
  const touches = (one: { sender: string; recipient: string }): boolean => watched.has(one.recipient) || watched.has(one.sender);
  const transfers: Transfer[] = [];
  const place = { txid: receipt.txid, ...placeOf(header, receipt) };
  const recipient = receipt.to ?? receipt.created;
  if (tx !== undefined && recipient !== null && tx.value > 0n && touches({ sender: receipt.from, recipient }))
    transfers.push({ kind: 'native', ...place, ordinal: 0, sender: receipt.from, recipient, contract: null, rawAmount: tx.value.toString() });
  for (const move of moves)
    if (touches(move))
      transfers.push({
        kind: 'internal',
        ...place,
        ordinal: move.ordinal,
        sender: move.sender,
        recipient: move.recipient,
        contract: null,
        rawAmount: move.value.toString(),
      });
  for (const [ordinal, log] of receipt.logs.entries()) {
    // What the chain itself logs is the native coin, which is read from transactions and traces or from these very logs, once.
    if (isCoinLog(log)) continue;
    const token = tokenTransferOf(log);
    if (token !== undefined && touches(token)) transfers.push({ kind: 'token', ...place, ordinal, ...token });
  }
  return transfers;
}

/** Every address at an end of anything the transaction may have moved. */
export function endsOf(receipt: Receipt, traces: Traces): string[] {
  if (!receipt.succeeded) return [receipt.from];
  const recipient = receipt.to ?? receipt.created;
  const moves =
    traces === 'in-logs' ? receipt.logs.filter(isCoinLog).flatMap((log) => tokenTransferOf(log) ?? []) : (traces?.traced.get(receipt.txid)?.moves ?? []);
  return [receipt.from, ...(recipient === null ? [] : [recipient]), ...moves.flatMap((move) => [move.sender, move.recipient])];
}

/** What the contracts of one transaction passed on. Its trace must begin with the value the transaction itself carries. */
export function movesOf(receipt: Receipt, traces: Traces, tx: Transaction): readonly CoinMove[] {
  if (!receipt.succeeded || traces === undefined) return [];
  if (traces === 'in-logs') return movesOfLogs(receipt, tx);
  const traced = traces.traced.get(receipt.txid);
  if (traced === undefined) return [];
  if (traced.value !== tx.value) unsure(`transaction ${receipt.txid} and its trace differ`);
  return traced.moves;
}

function placeOf(header: Header, receipt: Receipt): { height: number; blockHash: string; position: number; time: number } {
  return { height: header.height, blockHash: header.hash, position: receipt.position, time: header.time };
}
