import { bytesToHex, getContractAddress } from 'viem';
import type { SentTransaction, Transfer } from '#shared/core/chain-events.ts';
import type { Steps } from '#shared/core/turns.ts';
import { ChainUnavailable, type WatchSet } from '../chain.ts';
import { isCoinLog, movesOfLogs } from './coin-logs.ts';
import { encodeTransaction, signerOf } from './envelope.ts';
import { keccak } from './keccak.ts';
import { findReceiptsRoot } from './receipts-root.ts';
import { type Header, readObject, readTransaction, type Receipt, type Transaction, unsure } from './replies.ts';
import { findTrieRoot } from './trie-root.ts';
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
export const POLYGON_COIN = '0x0000000000000000000000000000000000001010';

/** What Polygon PoS puts at the end of a block to hand over deposits from Ethereum; nobody can sign such a transaction. */
function isStateSync(receipt: Receipt): boolean {
  return isMadeBySync(receipt) && receipt.gasUsed === 0n;
}

/** Whether the chain itself put it there: nobody can sign for that sender. */
export function isMadeBySync({ from, to }: Pick<Transaction, 'from' | 'to'>): boolean {
  return from === NOBODY && to === NOBODY;
}

/** The type of transactions that carry blobs (EIP-4844). */
const BLOBS = 3;

/** What has to be known of a chain to prove its blocks. */
export interface ChainRules {
  chainId: string;
  /** Whether its blocks may end with what hands over deposits from Ethereum (Polygon). */
  stateSyncs: boolean;
}

/**
 * Refuses the receipts of a block unless they are exactly its own: by hash, count, order and log indexes (reliability D9), and by the root
 * in its header, which covers outcomes and every byte of every log.
 * @returns how many of them, from the first on, that root covers: all; all but a state sync at the end, which Polygon kept outside of it for
 * years; none where one is of a type that nobody here knows
 */
export function* crossCheck(header: Header, receipts: readonly Receipt[], { stateSyncs }: ChainRules): Steps<number> {
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
  if (stateSyncs && last !== undefined && isStateSync(last) && (yield* findReceiptsRoot(receipts.slice(0, -1))) === header.receiptsRoot)
    return receipts.length - 1;
  const root = yield* findReceiptsRoot(receipts);
  if (root === header.receiptsRoot) return receipts.length;
  // Before Canyon the OP stack left a deposit's nonce out of what the root covers.
  const bare = receipts.map((receipt) => (receipt.depositReceiptVersion === null ? { ...receipt, depositNonce: null } : receipt));
  if (root !== null && (yield* findReceiptsRoot(bare)) !== header.receiptsRoot)
    unsure(`the receipts of block ${header.height} are not those its root was made of`);
  return root === null ? 0 : receipts.length;
}

/** The transactions of a block as its node tells them, and how many of them, from the first on, the root in its header covers. */
export interface Bodies {
  /** Of a walk (walk-bodies.ts) those at the places that were asked for alone. */
  told: readonly Readonly<Record<string, unknown>>[];
  read: readonly Transaction[];
  covered: number;
}

/**
 * Refuses the transactions of a block unless they are exactly its own: each gives the hash that is its id, and all of them the root in the
 * header. Without that root a signed transaction that was never mined could take the place of another one.
 */
export function* crossCheckBodies(header: Header, bodies: readonly unknown[], { chainId, stateSyncs }: ChainRules): Steps<Bodies> {
  if (bodies.length !== header.transactions.length)
    unsure(`block ${header.height} has ${header.transactions.length} transactions but ${bodies.length} were told`);
  const told = bodies.map((body) => readObject(body, 'a transaction of the block'));
  const read: Transaction[] = [];
  const values: Uint8Array[] = [];
  for (const [i, body] of told.entries()) {
    const tx = readTransaction(body);
    read.push(tx);
    if (tx.txid !== header.transactions[i] || tx.blockHash !== header.hash) unsure(`transaction ${i} of block ${header.height} is out of place`);
    const value = stateSyncs && isMadeBySync(tx) ? null : encodeTransaction(body, tx.type, chainId);
    if (value !== null && bytesToHex(keccak(value)) !== tx.txid) unsure(`transaction ${tx.txid} has another hash`);
    if (value !== null) values.push(value);
    yield;
  }
  const last = read.at(-1);
  const signed = stateSyncs && last !== undefined && isMadeBySync(last) ? read.length - 1 : read.length;
  const proven = values.length === signed && (yield* findTrieRoot(values)) === header.transactionsRoot;
  // A state sync may be one of the transactions that the root covers, in a form that nodes do not tell; anvil makes the root of blobs too, which it does not tell either.
  if (!proven && values.length === read.length && read.every(({ type }) => type !== BLOBS))
    unsure(`the transactions of block ${header.height} are not those its root was made of`);
  return { told, read, covered: proven ? signed : 0 };
}

/** The highest type of what accounts sign; above are those that chains put into their blocks themselves. */
const LAST_SIGNED = 4;

/** The body of one transaction, refused unless it says the same as its receipt and whoever sends it signed it. */
export function bodyOf(header: Header, receipt: Receipt, { told, read }: Bodies, chainId: string): Transaction {
  const [tx, body] = [read[receipt.position] as Transaction, told[receipt.position] as Readonly<Record<string, unknown>>];
  if (tx.from !== receipt.from || tx.to !== receipt.to || tx.type !== receipt.type) unsure(`transaction ${receipt.txid} and its receipt differ`);
  if (tx.to === null && tx.type <= LAST_SIGNED && receipt.created !== null && receipt.created !== createdBy(tx))
    unsure(`transaction ${receipt.txid} created another contract`);
  if (body.r !== undefined && !isMadeBySync(tx) && signer(header, tx, body, chainId) !== tx.from)
    unsure(`transaction ${receipt.txid} was signed by somebody else`);
  return tx;
}

function signer(header: Header, tx: Transaction, body: Readonly<Record<string, unknown>>, chainId: string): string {
  try {
    return signerOf(body, tx.type, chainId) ?? tx.from;
  } catch (cause) {
    throw new ChainUnavailable(`transaction ${tx.txid} of block ${header.height} has no signature that says who sent it`, { cause });
  }
}

function createdBy({ from, nonce }: Transaction): string {
  return getContractAddress({ from: from as `0x${string}`, nonce: BigInt(nonce) }).toLowerCase();
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

/** The coin and token movements of one transaction that touch a watched address at either end; `moves` are the coins its contracts passed on. */
export function transfersOf(header: Header, receipt: Receipt, tx: Transaction, moves: readonly CoinMove[], watched: WatchSet): Transfer[] {
  if (!receipt.succeeded) return [];
  const touches = (one: { sender: string; recipient: string }): boolean => watched.has(one.recipient) || watched.has(one.sender);
  const transfers: Transfer[] = [];
  const place = { txid: receipt.txid, ...placeOf(header, receipt) };
  const recipient = receipt.to ?? receipt.created;
  if (recipient !== null && tx.value > 0n && touches({ sender: receipt.from, recipient }))
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

/** Whether anything the transaction may have moved, or the transaction itself, is of a watched address. */
export function concerns(receipt: Receipt, traces: Traces, watched: WatchSet): boolean {
  if (watched.has(receipt.from)) return true;
  if (!receipt.succeeded) return false;
  const recipient = receipt.to ?? receipt.created;
  if (recipient !== null && watched.has(recipient)) return true;
  const touches = ({ sender, recipient: to }: { sender: string; recipient: string }): boolean => watched.has(to) || watched.has(sender);
  if (movesOurs(traces, watched)(receipt.txid)) return true;
  return receipt.logs.some((log) => {
    const moved = tokenTransferOf(log);
    return moved !== undefined && touches(moved);
  });
}

/** Whether contracts passed on coins of, or to, a watched address in the transaction of an id, as its trace says; what logs say of coins is in its receipt. */
export function movesOurs(traces: Traces, watched: WatchSet): (txid: string) => boolean {
  const touches = ({ sender, recipient }: CoinMove): boolean => watched.has(recipient) || watched.has(sender);
  return (txid) => {
    const trace = traces === 'in-logs' ? undefined : traces?.traced.get(txid);
    return trace !== undefined && trace.named !== false && trace.moves.some(touches);
  };
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
