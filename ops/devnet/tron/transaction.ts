import { pointFromScalar, type RecoveryIdType, recover, signRecoverable } from 'tiny-secp256k1';
import { keccak256 } from 'viem';
import { fromHex, type Hex, sha256, toHex } from './bytes.ts';
import { contractName, contractNumber, decodeContract, encodeContract, type Message } from './messages.ts';
import { readFields, type WireField, writeFields } from './protobuf.ts';

/** The contract of a transaction; `name` null when it is of a type this node does not read. */
export interface ContractCall {
  name: string | null;
  message: Message;
  permissionId: bigint;
}

/** A transaction as its bytes say it; 64-bit fields are never rounded, whatever a sender wrote into them. */
export interface Transaction {
  txid: Hex;
  rawHex: Hex;
  contracts: ContractCall[];
  refBlockBytes: Hex;
  refBlockHash: Hex;
  /** Unix milliseconds, as the sender wrote them. */
  expiration: bigint;
  timestamp: bigint;
  feeLimit: bigint;
  /** Memo, hex. */
  data: Hex;
  signatures: Hex[];
}

/** A contract to be written into a transaction. */
export interface BuiltContract {
  name: string;
  message: Message;
  permissionId?: bigint;
}

/** What a sender decides; everything else follows from it. */
export interface RawFields {
  contract: BuiltContract;
  refBlockBytes: Hex;
  refBlockHash: Hex;
  expiration: bigint;
  timestamp: bigint;
  feeLimit?: bigint;
  data?: Hex;
}

const RAW = { refBlockBytes: 1, refBlockHash: 4, expiration: 8, data: 10, contract: 11, timestamp: 14, feeLimit: 18 } as const;

/** Reads `raw_data` bytes; the id is their hash. @throws Error when they are no message */
export function fromRaw(raw: Uint8Array, signatures: Hex[]): Transaction {
  const wire = readFields(raw);
  const one = (number: number): bigint | Uint8Array | undefined => wire.find((each) => each.number === number)?.value;
  const hex = (number: number): Hex => hexOf(one(number));
  const int = (number: number): bigint => intOf(one(number));
  return {
    txid: toHex(sha256(raw)),
    rawHex: toHex(raw),
    contracts: wire.filter((each) => each.number === RAW.contract).map((each) => readContract(each.value)),
    refBlockBytes: hex(RAW.refBlockBytes),
    refBlockHash: hex(RAW.refBlockHash),
    expiration: int(RAW.expiration),
    timestamp: int(RAW.timestamp),
    feeLimit: int(RAW.feeLimit),
    data: hex(RAW.data),
    signatures,
  };
}

/** Reads the bytes of a whole transaction, as `broadcasthex` gets them. @throws Error when they are none */
export function fromBytes(bytes: Uint8Array): Transaction {
  const wire = readFields(bytes);
  const raw = wire.find((each) => each.number === 1)?.value;
  if (!(raw instanceof Uint8Array)) throw new Error('Invalid transaction: no raw data');
  return fromRaw(
    raw,
    wire.filter((each) => each.number === 2).map((each) => hexOf(each.value)),
  );
}

/** Builds unsigned transaction bytes; fields in the order of their numbers, as every client writes them. */
export function build(fields: RawFields): Transaction {
  return buildWith([fields.contract], fields);
}

/** The same with any number of contracts, for clients that write something else than one. */
export function buildWith(contracts: BuiltContract[], fields: Omit<RawFields, 'contract'>): Transaction {
  const wire: WireField[] = [
    { number: RAW.refBlockBytes, value: fromHex(fields.refBlockBytes) },
    { number: RAW.refBlockHash, value: fromHex(fields.refBlockHash) },
    { number: RAW.expiration, value: fields.expiration },
    { number: RAW.data, value: fromHex(fields.data ?? '') },
    ...contracts.map((contract) => ({ number: RAW.contract, value: writeContract(contract) })),
    { number: RAW.timestamp, value: fields.timestamp },
    { number: RAW.feeLimit, value: fields.feeLimit ?? 0n },
  ];
  return fromRaw(writeFields(wire.filter(isSet)), []);
}

/** Signs as wallets do: r, s and v (27 or 28) over the transaction id. */
export function sign(transaction: Transaction, privateKey: Hex): Transaction {
  return { ...transaction, signatures: [...transaction.signatures, signHash(transaction.txid, privateKey)] };
}

/** r, s and v over a 32-byte hash. */
export function signHash(hash: Hex, privateKey: Hex): Hex {
  const { signature, recoveryId } = signRecoverable(fromHex(hash), fromHex(privateKey));
  return toHex(signature) + (recoveryId + 27).toString(16);
}

/** The 41-prefixed address whose key made the signature. @throws Error when it is no signature */
export function signerOf(txid: Hex, signature: Hex): Hex {
  const bytes = fromHex(signature);
  if (bytes.length < 65) throw new Error(`Signature size is ${bytes.length}`);
  const v = bytes[64] ?? 0;
  const point = recover(fromHex(txid), bytes.slice(0, 64), (v >= 27 ? v - 27 : v) as RecoveryIdType, false);
  if (point === null) throw new Error('Signature of nobody');
  return addressOfPoint(point);
}

/** The 41-prefixed address of a private key. */
export function addressOfKey(privateKey: Hex): Hex {
  const point = pointFromScalar(fromHex(privateKey), false);
  if (point === null) throw new Error('not a private key');
  return addressOfPoint(point);
}

/** Bytes of the transaction without results: what bandwidth is counted from. */
export function bytesOf(transaction: Transaction, contractResult?: bigint): Uint8Array {
  const wire: WireField[] = [{ number: 1, value: fromHex(transaction.rawHex) }];
  for (const signature of transaction.signatures) wire.push({ number: 2, value: fromHex(signature) });
  if (contractResult !== undefined) wire.push({ number: 5, value: writeFields([{ number: 3, value: contractResult }]) });
  return writeFields(wire);
}

function readContract(value: bigint | Uint8Array): ContractCall {
  if (!(value instanceof Uint8Array)) throw new Error('Protocol message end-group tag did not match expected tag.');
  const wire = readFields(value);
  const type = intOf(wire.find((each) => each.number === 1)?.value);
  const name = contractName(type);
  const parameter = wire.find((each) => each.number === 2)?.value;
  const inner = parameter instanceof Uint8Array ? readFields(parameter).find((each) => each.number === 2)?.value : undefined;
  const message = name !== null && inner instanceof Uint8Array ? decodeContract(name, inner) : {};
  return { name, message, permissionId: intOf(wire.find((each) => each.number === 5)?.value) };
}

function writeContract({ name, message, permissionId }: BuiltContract): Uint8Array {
  const parameter = writeFields([
    { number: 1, value: new TextEncoder().encode(typeUrl(name)) },
    { number: 2, value: encodeContract(name, message) },
  ]);
  const wire: WireField[] = [
    { number: 1, value: contractNumber(name) },
    { number: 2, value: parameter },
    { number: 5, value: permissionId ?? 0n },
  ];
  return writeFields(wire.filter(isSet));
}

function addressOfPoint(uncompressed: Uint8Array): Hex {
  return `41${keccak256(uncompressed.slice(1)).slice(-40)}`;
}

/** How protobuf names the type of a contract. */
export const typeUrl = (name: string): string => `type.googleapis.com/protocol.${name}`;
const hexOf = (value: bigint | Uint8Array | undefined): Hex => (value instanceof Uint8Array ? toHex(value) : '');
const intOf = (value: bigint | Uint8Array | undefined): bigint => (typeof value === 'bigint' ? value : 0n);
const isSet = ({ value }: WireField): boolean => (typeof value === 'bigint' ? value !== 0n : value.length > 0);
