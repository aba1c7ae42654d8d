import { LARGEST_PLACE, LAST_SECOND } from '#shared/core/message-shape.ts';
import { atOnce, type Steps } from '#shared/core/turns.ts';
import { ChainUnavailable } from '../chain.ts';
import { headerHash, unknownFields } from './header-hash.ts';

/** A header as far as following the chain needs it. */
export interface Header {
  height: number;
  hash: string;
  parentHash: string;
  time: number;
  transactionsRoot: string;
  receiptsRoot: string;
  transactions: string[];
  /** Nothing proves it but that two people accepted its fields: its roots cover nothing. */
  rootless?: true;
}

/**
 * A header whose known fields do not give its hash, with some among the others that may belong to a fork nobody here has heard of. Asking the same
 * node again changes nothing; another one, or two people, may.
 */
export class HeaderUnproven extends ChainUnavailable {
  readonly header: Header;
  /** All that was told of it, the same text for the same header. */
  readonly told: string;
  constructor(header: Header, fields: readonly string[], told: string) {
    super(
      `the header of block ${header.height} has fields that this release does not know (${fields.join(', ')}), so that its hash cannot be proven: ` +
        'it is read when a second provider tells the same header, or when two people accept these fields',
      { trouble: 'refused', unknownFields: fields },
    );
    this.name = 'HeaderUnproven';
    this.header = header;
    this.told = told;
  }
}

export interface Log {
  /** Position in the block, over all receipts. */
  index: number;
  emitter: string;
  topics: string[];
  data: string;
}

export interface Receipt {
  txid: string;
  /** Of its envelope; 0 for a legacy transaction. */
  type: number;
  position: number;
  succeeded: boolean;
  from: string;
  /** Null when the transaction created a contract. */
  to: string | null;
  created: string | null;
  gasUsed: bigint;
  /** Gas used by it and everything before it in the block. */
  cumulativeGasUsed: bigint;
  gasPrice: bigint;
  /** What a rollup takes for publishing the transaction, beside gas; 0 elsewhere. */
  publishingFee: bigint;
  logs: Log[];
  logsBloom: string;
  /** What a deposit on the OP stack adds to its receipt, each from a fork on. */
  depositNonce: bigint | null;
  depositReceiptVersion: bigint | null;
  blockHash: string;
  height: number;
}

/** What a receipt says of its transaction that a trace must agree with. */
export type Outcome = Pick<Receipt, 'txid' | 'succeeded' | 'from' | 'to' | 'created' | 'gasUsed'> & { logs: { readonly length: number } };

export interface Transaction {
  txid: string;
  /** Of its envelope; 0 for a legacy transaction. */
  type: number;
  blockHash: string | null;
  from: string;
  to: string | null;
  value: bigint;
  nonce: number;
}

/** No longer than a word: nothing larger can be told on in a message. */
const QUANTITY = /^0x(0|[1-9a-f][0-9a-f]{0,63})$/;
/** More than there is of any coin; no root covers what a transaction cost. */
const MOST_PAID = 2n ** 128n;
const HASH = /^0x[0-9a-f]{64}$/;
const ADDRESS = /^0x[0-9a-f]{40}$/;
/** No group: a repeated one overflows the stack on a few megabytes, which a log may have. */
const DATA = /^0x[0-9a-f]*$/;

/** An object as it was told. */
export type Fields = Record<string, unknown>;

/** Refuses a reply that is not what was asked for; unsure is never an answer. */
export function unsure(problem: string): never {
  throw new ChainUnavailable(`the node's answer cannot be trusted: ${problem}`);
}

/** Reads a 0x quantity of at most 256 bits. */
export function readQuantity(value: unknown, what: string): bigint {
  return typeof value === 'string' && QUANTITY.test(value) ? BigInt(value) : unsure(`${what} is not a quantity`);
}

/** Reads a 0x quantity that fits a safe integer: heights, positions, times, nonces. */
export function readInteger(value: unknown, what: string, largest = Number.MAX_SAFE_INTEGER): number {
  const number = Number(readQuantity(value, what));
  return number <= largest ? number : unsure(`${what} is too large`);
}

/** The patterns know small letters only, which nearly every node writes: what fits as it stands needs no copy of it. */
function readText(value: unknown, pattern: RegExp, what: string): string {
  if (typeof value !== 'string') return unsure(`${what} is malformed`);
  if (pattern.test(value)) return value;
  const text = value.toLowerCase();
  return pattern.test(text) ? text : unsure(`${what} is malformed`);
}

/** Whole bytes of any number. */
function readData(value: unknown, what: string): string {
  const data = readText(value, DATA, what);
  return data.length % 2 === 0 ? data : unsure(`${what} is malformed`);
}

/** Reads an object. */
export function readObject(value: unknown, what: string): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : unsure(`${what} is missing`);
}

/** Reads a list. */
export function readList(value: unknown, what: string): unknown[] {
  return Array.isArray(value) ? value : unsure(`${what} is missing`);
}

/** Reads an address into its canonical form. */
export function readAddress(value: unknown, what: string): string {
  return readText(value, ADDRESS, what);
}

/** Reads the hash of a transaction or block. */
export function readTxid(value: unknown, what: string): string {
  return readText(value, HASH, what);
}

/**
 * Reads a block fetched without transaction bodies, and proves that its fields give its hash.
 * @throws HeaderUnproven when they do not, and some of them are none that anybody here knows
 */
export function readHeader(value: unknown): Header {
  const block = readObject(value, 'the block');
  const header = {
    height: readInteger(block.number, 'the block number'),
    hash: readText(block.hash, HASH, 'the block hash'),
    parentHash: readText(block.parentHash, HASH, 'the parent hash'),
    time: readInteger(block.timestamp, 'the block time', LAST_SECOND),
    transactionsRoot: readText(block.transactionsRoot, HASH, "the transactions' root"),
    receiptsRoot: readText(block.receiptsRoot, HASH, 'the receipts root'),
    transactions: readList(block.transactions, 'the list of transactions').map((txid) => readText(txid, HASH, 'a transaction hash')),
  };
  if (headerHash(block) !== header.hash && headerHash(block, 'left out') !== header.hash) refuse(block, header);
  return header;
}

/** Reads only which block it is, proving nothing: enough to try what a node can do with it. */
export function readPlace(value: unknown): Pick<Header, 'hash' | 'height'> {
  const block = readObject(value, 'the block');
  return { hash: readText(block.hash, HASH, 'the block hash'), height: readInteger(block.number, 'the block number') };
}

/** A header whose hash its known fields do not give is a lie, unless it has some that nobody here knows: then nobody here can tell. */
function refuse(block: Fields, header: Header): never {
  if (block.l1BatchNumber !== undefined)
    unsure(`the hash of block ${header.height} is made of something else than its header, as on ZKsync chains (l1BatchNumber), which are not supported`);
  const fields = unknownFields(block);
  if (fields.length === 0) unsure(`the hash of block ${header.height} is not that of its header`);
  throw new HeaderUnproven(header, fields, JSON.stringify(Object.entries(block).sort(([a], [b]) => (a < b ? -1 : 1))));
}

function readType(value: unknown): number {
  return value === undefined || value === null ? 0 : readInteger(value, 'a transaction type');
}

function readOptional(value: unknown, what: string): bigint | null {
  return value === undefined || value === null ? null : readQuantity(value, what);
}

/** Reads what a log says, and nothing of where it is. */
export function readLog(log: Fields): Log {
  return {
    emitter: readText(log.address, ADDRESS, "a log's address"),
    topics: readList(log.topics, 'the topics of a log').map((topic) => readText(topic, HASH, 'a topic')),
    data: readData(log.data, "a log's data"),
    index: readInteger(log.logIndex, 'a log index', LARGEST_PLACE),
  };
}

/** Reads one receipt and checks that everything inside it speaks of the same transaction and block. */
export function readReceipt(value: unknown): Receipt {
  const receipt = readObject(value, 'the receipt');
  const txid = readText(receipt.transactionHash, HASH, "a receipt's transaction hash");
  const blockHash = readText(receipt.blockHash, HASH, "a receipt's block hash");
  if (receipt.status !== '0x1' && receipt.status !== '0x0') unsure(`the receipt of ${txid} has no status`);
  const logs = readList(receipt.logs, 'the logs of a receipt').map((entry) => {
    const log = readObject(entry, 'a log');
    if (log.removed === true) unsure(`a log of ${txid} was removed`);
    // What says the same as the receipt, letter by letter, was read with it.
    if (log.blockHash !== blockHash && readText(log.blockHash, HASH, "a log's block hash") !== blockHash) unsure(`a log of ${txid} is from another block`);
    if (log.transactionHash !== txid && readText(log.transactionHash, HASH, "a log's transaction hash") !== txid)
      unsure(`a log of ${txid} is from another transaction`);
    return readLog(log);
  });
  const gasUsed = readQuantity(receipt.gasUsed, 'gas used');
  // What a system put into the block itself has no price on some nodes (Polygon's state syncs).
  const gasPrice =
    receipt.gasUsed === '0x0' && (receipt.effectiveGasPrice ?? null) === null ? 0n : readQuantity(receipt.effectiveGasPrice, 'the effective gas price');
  const publishingFee = receipt.l1Fee === null || receipt.l1Fee === undefined ? 0n : readQuantity(receipt.l1Fee, 'the publishing fee');
  if (gasUsed * gasPrice + publishingFee >= MOST_PAID) unsure(`${txid} cannot have cost that much`);
  return {
    txid,
    blockHash,
    logs,
    logsBloom: readData(receipt.logsBloom, "a receipt's bloom"),
    height: readInteger(receipt.blockNumber, "a receipt's block number"),
    position: readInteger(receipt.transactionIndex, "a receipt's position"),
    succeeded: receipt.status === '0x1',
    from: readText(receipt.from, ADDRESS, "a receipt's sender"),
    to: receipt.to === null || receipt.to === undefined ? null : readText(receipt.to, ADDRESS, "a receipt's recipient"),
    created:
      receipt.contractAddress === null || receipt.contractAddress === undefined ? null : readText(receipt.contractAddress, ADDRESS, 'a created contract'),
    gasUsed,
    cumulativeGasUsed: readQuantity(receipt.cumulativeGasUsed, 'the gas used so far'),
    type: readType(receipt.type),
    gasPrice,
    depositNonce: readOptional(receipt.depositNonce, "a deposit's nonce"),
    depositReceiptVersion: readOptional(receipt.depositReceiptVersion, "the version of a deposit's receipt"),
    publishingFee,
  };
}

/** Reads one transaction. */
export function readTransaction(value: unknown): Transaction {
  const tx = readObject(value, 'the transaction');
  return {
    txid: readText(tx.hash, HASH, 'a transaction hash'),
    type: readType(tx.type),
    blockHash: tx.blockHash === null || tx.blockHash === undefined ? null : readText(tx.blockHash, HASH, "a transaction's block hash"),
    from: readText(tx.from, ADDRESS, "a transaction's sender"),
    to: tx.to === null || tx.to === undefined ? null : readText(tx.to, ADDRESS, "a transaction's recipient"),
    value: readQuantity(tx.value, "a transaction's value"),
    nonce: readInteger(tx.nonce, 'a nonce'),
  };
}

/** Reads the receipts of one block. */
export function readReceipts(value: unknown): Receipt[] {
  return atOnce(readReceiptsInSteps(value));
}

/** The same in steps. */
export function* readReceiptsInSteps(value: unknown): Steps<Receipt[]> {
  const receipts: Receipt[] = [];
  for (const one of readList(value, 'the receipts')) {
    receipts.push(readReceipt(one));
    yield;
  }
  return receipts;
}
