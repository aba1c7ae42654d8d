import { type BlockRef, ChainUnavailable } from '../chain.ts';
import { satoshisOf } from './json.ts';
import type { BitcoinParams } from './params.ts';
import { commitsToWitnesses, hasItsWork, headerHashOf, merkleRootOf, namesHeight } from './proofs.ts';
import { MOST_COINS, type RawTransaction, readRawTransaction } from './raw-transaction.ts';

/** A header whose hash was recomputed. */
export interface Header extends BlockRef {
  merkleRoot: string;
  /** Blocks from this one to the node's tip, both counted; null when it is not on the node's chain. */
  confirmations: number | null;
}

/** An output that an input spends, as the node tells it; only its hash is in the block. */
export interface Prevout {
  rawAmount: bigint;
  script: string;
}

/** A transaction of a block, with what its inputs spend; none for a coinbase. */
export interface Transaction extends RawTransaction {
  prevouts: Prevout[];
}

export interface Block extends Header {
  transactions: Transaction[];
}

type Fields = Record<string, unknown>;

const HASH = /^[0-9a-f]{64}$/;
const HEX = /^[0-9a-f]*$/;
const BITS = /^[0-9a-f]{8}$/;
const NO_HASH = '0'.repeat(64);
const UINT32 = 2 ** 32;

/** Refuses an answer that contradicts itself or what was asked. */
export function unsure(problem: string): never {
  throw new ChainUnavailable(problem);
}

/** Reads an object. */
export function readObject(value: unknown, what: string): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : unsure(`${what} is missing`);
}

/** Reads a list. */
export function readList(value: unknown, what: string): unknown[] {
  return Array.isArray(value) ? value : unsure(`${what} is missing`);
}

/** Reads the hash of a block or transaction. */
export function readHash(value: unknown, what: string): string {
  return typeof value === 'string' && HASH.test(value) ? value : unsure(`${what} is malformed`);
}

/** Reads a whole number from 0 on. */
export function readInteger(value: unknown, what: string): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : unsure(`${what} is malformed`);
}

/** Reads an amount in bitcoin as satoshis; there is none beyond all coins. */
export function readAmount(value: unknown, what: string): bigint {
  const satoshis = satoshisOf(value);
  return satoshis !== undefined && satoshis >= 0n && satoshis <= MOST_COINS ? satoshis : unsure(`${what} is malformed`);
}

/** Reads bytes as lower-case digits. */
export function readHex(value: unknown, what: string): string {
  return typeof value === 'string' && value.length % 2 === 0 && HEX.test(value) ? value : unsure(`${what} is malformed`);
}

/** Reads the script of an output of any answer that describes one. */
export function readScript(value: unknown, what: string): string {
  return readHex(readObject(value, what).hex, what);
}

/** Reads a header (`getblockheader`, or the head of a block) and proves its hash from its own bytes. */
export function readHeader(value: unknown, params: BitcoinParams): Header {
  const header = readObject(value, 'the block header');
  const hash = readHash(header.hash, 'the block hash');
  const height = readInteger(header.height, 'the block height');
  const previous = height === 0 && header.previousblockhash === undefined ? NO_HASH : readHash(header.previousblockhash, 'the hash of the block before');
  const merkleRoot = readHash(header.merkleroot, 'the merkle root');
  const bits = typeof header.bits === 'string' && BITS.test(header.bits) ? Number.parseInt(header.bits, 16) : unsure('the bits of a header are malformed');
  const { version, confirmations } = header;
  if (typeof version !== 'number' || !Number.isInteger(version) || version < -UINT32 / 2 || version >= UINT32 / 2)
    unsure('the version of a header is malformed');
  const [time, nonce] = [readUint32(header.time, 'the block time'), readUint32(header.nonce, 'the nonce of a header')];
  if (headerHashOf({ version: version as number, previous, merkleRoot, time, bits, nonce }) !== hash)
    unsure(`block ${height} does not have the hash ${hash} that it was given`);
  const { easiestTarget } = params.sinceThen !== undefined && height >= params.sinceThen.height ? params.sinceThen : params;
  if (height > 0 && !hasItsWork(hash, bits, { easiestTarget })) unsure(`block ${height} was not worked for`);
  if (typeof confirmations !== 'number' || !Number.isInteger(confirmations)) unsure(`the confirmations of block ${height} are malformed`);
  return { height, hash, parentHash: previous, time, merkleRoot, confirmations: (confirmations as number) < 1 ? null : (confirmations as number) };
}

/**
 * Reads a block of `getblock` 3: its transactions are those its header's merkle root was made of, their witnesses those its
 * coinbase commits to, and its coinbase names its height. What inputs spend is the node's word; see prevouts.ts.
 */
export function readBlock(value: unknown, params: BitcoinParams): Block {
  const header = readHeader(value, params);
  const transactions = readList((value as Fields).tx, 'the transactions of the block').map((tx) => readBlockTransaction(tx, header.height));
  const [coinbase] = transactions;
  if (coinbase?.coinbase !== true || transactions.some((tx, i) => i > 0 && tx.coinbase)) unsure(`block ${header.height} does not begin with its only coinbase`);
  if (new Set(transactions.map(({ txid }) => txid)).size !== transactions.length) unsure(`block ${header.height} has a transaction twice`);
  if (merkleRootOf(transactions.map(({ txid }) => txid)) !== header.merkleRoot)
    unsure(`the transactions of block ${header.height} are not those its root was made of`);
  if (!commitsToWitnesses(transactions)) unsure(`the witnesses of block ${header.height} are not those it commits to`);
  if (header.height >= params.heightInCoinbaseFrom && !namesHeight(coinbase as Transaction, header.height))
    unsure(`block ${header.hash} is not at height ${header.height}`);
  return { ...header, transactions };
}

/** Reads the bytes of a transaction, which must have the id that was asked for. */
export function readTransaction(value: unknown, txid: string): RawTransaction {
  const transaction = readRawTransaction(readHex(value, 'the bytes of a transaction')) ?? unsure(`the bytes of transaction ${txid} are malformed`);
  return transaction.txid === txid ? transaction : unsure(`asked for transaction ${txid}, got ${transaction.txid}`);
}

function readBlockTransaction(value: unknown, height: number): Transaction {
  const told = readObject(value, `a transaction of block ${height}`);
  const transaction = readTransaction(told.hex, readHash(told.txid, 'a transaction id'));
  return { ...transaction, prevouts: transaction.coinbase ? [] : readPrevouts(told, transaction, height) };
}

/** What the inputs of a transaction of a block spend, by the node's word, which must be about these very inputs. */
export function readPrevouts(told: Fields, transaction: RawTransaction, height: number): Prevout[] {
  const { txid } = transaction;
  const vin = readList(told.vin, `the inputs of ${txid}`);
  if (vin.length !== transaction.inputs.length) unsure(`transaction ${txid} has ${transaction.inputs.length} inputs, but ${vin.length} are told`);
  return transaction.inputs.map((input, i) => {
    const entry = readObject(vin[i], `an input of ${txid}`);
    if (entry.txid !== input.txid || entry.vout !== input.vout) unsure(`input ${i} of ${txid} is not the one in its bytes`);
    if (entry.prevout === undefined) unsure(`the node does not show what transaction ${txid} spends: it has no undo data of block ${height}`);
    const prevout = readObject(entry.prevout, `what input ${i} of ${txid} spends`);
    return { rawAmount: readAmount(prevout.value, 'the amount of an output'), script: readScript(prevout.scriptPubKey, 'the script of an output') };
  });
}

function readUint32(value: unknown, what: string): number {
  const number = readInteger(value, what);
  return number < UINT32 ? number : unsure(`${what} is malformed`);
}
