import { LAST_SECOND } from '#shared/core/message-shape.ts';
import { ChainUnavailable } from '../chain.ts';
import { type ContractFacts, contractName, readContract, TRANSFER, TRIGGER } from './contract.ts';
import type { Field } from './protobuf.ts';
import { blockIdOf, fromHex, heightOf, type LeafParts, merkleRootOf, type RawHeader, sha256 } from './proofs.ts';

/** A header whose id was recomputed from its fields. */
export interface Header {
  height: number;
  hash: string;
  parentHash: string;
  timeMs: number;
  txTrieRoot: string;
}

/** A transaction whose id was recomputed from its bytes, and what these bytes do. */
export interface Transaction extends ContractFacts {
  txid: string;
  /** The outcome the block itself states. */
  contractRet: string;
}

export interface Block extends Header {
  transactions: Transaction[];
}

type Fields = Record<string, unknown>;

const HASH = /^[0-9a-f]{64}$/;
/** No group in it: a pattern that counts pairs fails on the megabytes that a log may hold. */
const HEX = /^[0-9a-fA-F]*$/;
/** java-tron's `contractResult` in the order of its numbers. */
export const RESULTS: readonly string[] = [
  'DEFAULT',
  'SUCCESS',
  'REVERT',
  'BAD_JUMP_DESTINATION',
  'OUT_OF_MEMORY',
  'PRECOMPILED_CONTRACT',
  'STACK_TOO_SMALL',
  'STACK_TOO_LARGE',
  'ILLEGAL_OPERATION',
  'STACK_OVERFLOW',
  'OUT_OF_ENERGY',
  'OUT_OF_TIME',
  'JVM_STACK_OVER_FLOW',
  'UNKNOWN',
  'TRANSFER_FAILED',
  'INVALID_CODE',
];
const TRANSACTION_KEYS = new Set(['raw_data', 'raw_data_hex', 'signature', 'ret', 'txID', 'contract_address', 'visible']);
const LARGEST_INT64 = 2n ** 63n - 1n;
const FIELD_NUMBER = /^[1-9]\d{0,8}$/;
const LARGEST_FIELD_NUMBER = 2 ** 29 - 1;
const OUTCOME_KEYS = new Set(['contractRet', 'fee', 'ret']);
/** What `ret` says in an outcome, spelt as the node spells it. */
const CODES = new Set<unknown>([undefined, 'SUCESS', 'FAILED']);

/** Refuses a reply that is not what was asked for; unsure is never an answer. */
export function unsure(problem: string): never {
  throw new ChainUnavailable(`the node's answer cannot be trusted: ${problem}`);
}

/** Reads an integer that is not negative, and no larger than a node has room for; what is left out is zero, as the node writes it. */
export function readUnits(value: unknown, what: string): bigint {
  if (value === undefined) return 0n;
  if (typeof value === 'bigint' && value >= 0n && value <= LARGEST_INT64) return value;
  return Number.isSafeInteger(value) && (value as number) >= 0 ? BigInt(value as number) : unsure(`${what} is not a quantity`);
}

/** Reads an integer that somebody may have made negative; left out is zero. */
function readSigned(value: unknown, what: string): bigint {
  if (typeof value === 'bigint') return value;
  return value === undefined || Number.isSafeInteger(value) ? BigInt((value ?? 0) as number) : unsure(`${what} is not an integer`);
}

/** Reads an integer that fits a double: heights and times. */
export function readInteger(value: unknown, what: string, largest = Number.MAX_SAFE_INTEGER): number {
  const number = Number(readUnits(value, what));
  return number <= largest ? number : unsure(`${what} is too large`);
}

/** Reads 32 bytes of hex. */
export function readHash(value: unknown, what: string): string {
  return typeof value === 'string' && HASH.test(value) ? value : unsure(`${what} is malformed`);
}

/** Reads bytes as lower-case hex; left out means none. */
export function readHex(value: unknown, what: string): string {
  if (value === undefined) return '';
  return typeof value === 'string' && value.length % 2 === 0 && HEX.test(value) ? value.toLowerCase() : unsure(`${what} is malformed`);
}

/** Reads an object. */
export function readObject(value: unknown, what: string): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : unsure(`${what} is missing`);
}

/** Reads a list; left out means empty, as the node writes it. */
export function readList(value: unknown, what: string): unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : unsure(`${what} is not a list`);
}

/** Whether the node answered `{}`: it knows nothing of what was asked for. */
export function isNothing(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

/** Reads the header of a block, with or without its transactions, and recomputes its id. */
export function readHeader(value: unknown): Header {
  const block = readObject(value, 'the block');
  const raw = readObject(readObject(block.block_header, 'the block header').raw_data, 'the raw block header');
  const fields: RawHeader = {
    timestamp: readUnits(raw.timestamp, 'the block time'),
    txTrieRoot: readHex(raw.txTrieRoot, 'the merkle root'),
    parentHash: readHash(raw.parentHash, 'the parent hash'),
    number: readUnits(raw.number, 'the block number'),
    witnessId: readUnits(raw.witness_id, 'the witness id'),
    witnessAddress: readHex(raw.witness_address, 'the witness'),
    version: readUnits(raw.version, 'the block version'),
    accountStateRoot: readHex(raw.accountStateRoot, 'the state root'),
  };
  const hash = readHash(block.blockID, 'the block id');
  // A field this build does not know of gives another id too: better to stop than to follow headers half read.
  if (blockIdOf(fields) !== hash) unsure(`block ${hash} does not have the header its id was made of`);
  const height = readInteger(raw.number, 'the block number');
  if (height > 0 && heightOf(fields.parentHash) !== height - 1) unsure(`block ${height} names a parent of another height`);
  return {
    height,
    hash,
    parentHash: fields.parentHash,
    timeMs: readInteger(raw.timestamp, 'the block time', LAST_SECOND * 1_000),
    txTrieRoot: fields.txTrieRoot,
  };
}

/** Reads a whole block and proves its transactions by the header's merkle root. */
export function readBlock(value: unknown): Block {
  const header = readHeader(value);
  const entries = readList((value as Fields).transactions, 'the list of transactions').map((entry) => readTransaction(entry));
  const transactions = entries.map(({ transaction }) => transaction);
  if (new Set(transactions.map(({ txid }) => txid)).size !== transactions.length) unsure(`block ${header.height} lists a transaction twice`);
  const leaves = entries.flatMap(({ leaf }) => leaf ?? []);
  // Any sender may put bytes that JSON does not show around a transaction; its block must not stop the network for that.
  if (leaves.length === entries.length && merkleRootOf(leaves) !== header.txTrieRoot)
    unsure(`the transactions of block ${header.height} are not those its merkle root was made of`);
  return { ...header, transactions };
}

/**
 * `leaf` is undefined when JSON does not show all the bytes of the transaction. Of the outcomes a sender may fill in all but the
 * first one's `contractRet`, which the producer of the block sets: mainnet blocks hold several of them, and odd ones.
 */
export function readTransaction(value: unknown): { transaction: Transaction; leaf: LeafParts | undefined } {
  const tx = readObject(value, 'a transaction');
  const txid = readHash(tx.txID, 'a transaction id');
  const rawData = fromHex(readHex(tx.raw_data_hex, 'the bytes of a transaction'));
  if (sha256(rawData) !== txid) unsure(`transaction ${txid} does not have the bytes its id was made of`);
  const contract = readContract(rawData) ?? unsure(`the bytes of ${txid} are not those of one contract`);
  checkRetelling(txid, contract, tx.raw_data);
  const outcomes = readList(tx.ret, 'the outcomes of a transaction').map((entry) => readObject(entry, 'an outcome'));
  const numbers = outcomes.map(({ contractRet }) => RESULTS.indexOf(resultOf(contractRet)));
  const unknown = readUnknown(tx, TRANSACTION_KEYS);
  const parts = outcomes.flatMap((outcome, i) => {
    const [contractRet, own] = [numbers[i] as number, readUnknown(outcome, OUTCOME_KEYS)];
    if (contractRet === -1 || own === undefined || !CODES.has(outcome.ret)) return [];
    return [{ fee: readSigned(outcome.fee, 'a fee'), failed: outcome.ret === 'FAILED', contractRet, unknown: own }];
  });
  const signatures = readList(tx.signature, 'the signatures').map((signature) => readHex(signature, 'a signature'));
  const leaf = unknown === undefined || parts.length < outcomes.length ? undefined : { rawData, signatures, outcomes: parts, unknown };
  return { transaction: { txid, contractRet: resultOf(outcomes[0]?.contractRet), ...contract }, leaf };
}

/** The outcome that a block states, where number 0 is left out; what is no text is none that anybody knows. */
function resultOf(told: unknown): string {
  if (typeof told === 'string') return told;
  return told === undefined ? (RESULTS[0] as string) : '';
}

/**
 * The fields of a message that java-tron does not know and prints by their numbers, `"1002": ["c83e…"]`: integers as integers and bytes as hex, ascending, as it
 * writes them (protobuf's `UnknownFieldSet`). Undefined when it shows something whose bytes cannot be told from that, such as a group.
 */
function readUnknown(message: Fields, known: ReadonlySet<string>): Field[] | undefined {
  const fields: Field[] = [];
  for (const key of Object.keys(message)) {
    if (known.has(key)) continue;
    const number = FIELD_NUMBER.test(key) ? Number(key) : 0;
    const values = message[key];
    if (number < 1 || number > LARGEST_FIELD_NUMBER || !Array.isArray(values)) return undefined;
    for (const value of values as unknown[]) {
      if (typeof value === 'bigint' || Number.isSafeInteger(value)) fields.push({ number, value: BigInt(value as number | bigint) });
      else if (typeof value === 'string' && value.length % 2 === 0 && HEX.test(value)) fields.push({ number, value: fromHex(value) });
      else return undefined;
    }
  }
  return fields.sort((a, b) => a.number - b.number);
}

/** Nothing is credited from the decoded JSON, but a node whose JSON and bytes differ is not one to believe in anything else. */
function checkRetelling(txid: string, { type, owner, value }: ContractFacts, retold: unknown): void {
  const name = contractName(type);
  if (name === undefined) return;
  const contract = readObject(readList(readObject(retold, 'the decoded transaction').contract, 'its contracts')[0], 'its contract');
  const fields = readObject(readObject(contract.parameter, 'its parameter').value, 'its value');
  const amount = type === TRANSFER ? fields.amount : fields.call_value;
  const recipient = type === TRIGGER ? fields.contract_address : fields.to_address;
  if (contract.type !== name || fields.owner_address !== `41${owner}`) unsure(`the decoded transaction ${txid} is not what its bytes say`);
  if (readUnits(amount, 'an amount') !== (value?.rawAmount ?? 0n)) unsure(`the decoded amount of ${txid} is not what its bytes say`);
  if (value !== null && recipient !== `41${value.recipient}`) unsure(`the decoded recipient of ${txid} is not what its bytes say`);
}
