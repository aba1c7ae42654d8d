import { hash } from 'node:crypto';
import { Invariant } from '#shared/core/errors.ts';
import type { TransferIntent } from '../chain.ts';
import { toHex20 } from './address.ts';
import { writeFields as writeMessage } from './protobuf.ts';

/** Everything of a transaction that the transfer does not say; times are Unix milliseconds, the fee limit is in sun. */
export interface TronFields {
  /** Last two bytes of a recent block's number. */
  refBlockBytes: string;
  /** Bytes 8 to 16 of that block's id. */
  refBlockHash: string;
  expirationMs: bigint;
  timestampMs: bigint;
  /** The most the contract call may burn for energy; 0 for TRX, which calls nothing. */
  feeLimit: bigint;
}

/** Contract types (Tron.proto), and the type names their parameters carry. */
export const TRANSFER = { type: 1n, url: 'type.googleapis.com/protocol.TransferContract' } as const;
export const TRIGGER = { type: 31n, url: 'type.googleapis.com/protocol.TriggerSmartContract' } as const;

/** `transfer(address,uint256)`, as nodes ask for it and as calldata begins with it. */
export const TRANSFER_FUNCTION = 'transfer(address,uint256)';
const TRANSFER_SELECTOR = 'a9059cbb';

/** r, s and the recovery byte. */
const SIGNATURE_BYTES = 65;
/** Every transaction is charged as if its result were stored beside it (chains 3.5). */
const RESULT_BYTES = 64;
/** Chain integers are signed. */
const LARGEST_INT64 = (1n << 63n) - 1n;

/**
 * The unsigned transaction of a transfer, spelt the one way protobuf writers spell it; its SHA-256 is the transaction id.
 * @throws Invariant when the amount does not fit
 */
export function encodeRawData(intent: TransferIntent, fields: TronFields): Uint8Array {
  const { type, url } = intent.contract === null ? TRANSFER : TRIGGER;
  const parameter = writeMessage([
    { number: 1, value: Buffer.from(url) },
    { number: 2, value: intent.contract === null ? encodeTransfer(intent) : encodeTrigger(intent) },
  ]);
  return writeMessage([
    { number: 1, value: Buffer.from(fields.refBlockBytes, 'hex') },
    { number: 4, value: Buffer.from(fields.refBlockHash, 'hex') },
    { number: 8, value: fields.expirationMs },
    {
      number: 11,
      value: writeMessage([
        { number: 1, value: type },
        { number: 2, value: parameter },
      ]),
    },
    { number: 14, value: fields.timestampMs },
    { number: 18, value: fields.feeLimit },
  ]);
}

function encodeTransfer({ sender, recipient, rawAmount }: TransferIntent): Uint8Array {
  if (rawAmount < 0n || rawAmount > LARGEST_INT64) throw new Invariant('the amount is not one of TRX');
  return writeMessage([
    { number: 1, value: addressBytes(sender) },
    { number: 2, value: addressBytes(recipient) },
    { number: 3, value: rawAmount },
  ]);
}

function encodeTrigger({ sender, recipient, contract, rawAmount }: TransferIntent): Uint8Array {
  return writeMessage([
    { number: 1, value: addressBytes(sender) },
    { number: 2, value: addressBytes(contract as string) },
    { number: 4, value: Buffer.from(`${TRANSFER_SELECTOR}${transferParameter(recipient, rawAmount)}`, 'hex') },
  ]);
}

/** The arguments of `transfer`, without the selector. @throws Invariant when the amount is no uint256 */
export function transferParameter(recipient: string, rawAmount: bigint): string {
  if (rawAmount < 0n || rawAmount >> 256n !== 0n) throw new Invariant('the amount is no uint256');
  return toHex20(recipient).padStart(64, '0') + rawAmount.toString(16).padStart(64, '0');
}

/** Reads what `transferParameter` wrote, after the selector; undefined when the bytes are anything else. */
export function readTransferCall(data: Uint8Array): { recipientHex: string; rawAmount: bigint } | undefined {
  const hex = Buffer.from(data).toString('hex');
  const call = /^a9059cbb0{24}([0-9a-f]{40})([0-9a-f]{64})$/.exec(hex);
  return call === null ? undefined : { recipientHex: call[1] as string, rawAmount: BigInt(`0x${call[2]}`) };
}

/** An address as protobuf and JSON requests carry it: 0x41 and 20 bytes. */
export function toHex21(address: string): string {
  return `41${toHex20(address)}`;
}

function addressBytes(address: string): Uint8Array {
  return Buffer.from(toHex21(address), 'hex');
}

/** A signed transaction as `broadcasthex` takes it. */
export function encodeSigned(rawData: Uint8Array, signature: Uint8Array): Uint8Array {
  return new Uint8Array(
    writeMessage([
      { number: 1, value: rawData },
      { number: 2, value: signature },
    ]),
  );
}

/** Bandwidth points a transfer takes once signed: its exact size and the room kept for its result (chains 3.5). */
export function bandwidthOf(intent: TransferIntent, fields: TronFields): bigint {
  return BigInt(encodeSigned(encodeRawData(intent, fields), new Uint8Array(SIGNATURE_BYTES)).length + RESULT_BYTES);
}

export function txidOf(rawData: Uint8Array): string {
  return hash('sha256', rawData);
}

/** The fields as a plan stores them. */
export function writeFields(fields: TronFields): Record<string, string> {
  return {
    feeLimit: fields.feeLimit.toString(),
    refBlockBytes: fields.refBlockBytes,
    refBlockHash: fields.refBlockHash,
    expirationMs: fields.expirationMs.toString(),
    timestampMs: fields.timestampMs.toString(),
  };
}

/** Reads a plan's fields. @throws Invariant naming the first that cannot be used */
export function readFields(fields: Record<string, string>): TronFields {
  return {
    feeLimit: integerOf(fields, 'feeLimit'),
    refBlockBytes: hexOf(fields, 'refBlockBytes', 2),
    refBlockHash: hexOf(fields, 'refBlockHash', 8),
    expirationMs: integerOf(fields, 'expirationMs'),
    timestampMs: integerOf(fields, 'timestampMs'),
  };
}

function integerOf(fields: Record<string, string>, name: string): bigint {
  const text = fields[name] ?? '';
  // What is larger than a safe integer would be rounded on its way into the bytes; no time or fee is.
  if (!/^(0|[1-9]\d{0,15})$/.test(text) || BigInt(text) > Number.MAX_SAFE_INTEGER) throw new Invariant(`there is no usable ${name}`);
  return BigInt(text);
}

function hexOf(fields: Record<string, string>, name: string, bytes: number): string {
  const text = fields[name] ?? '';
  if (text.length !== 2 * bytes || !/^[0-9a-f]+$/.test(text)) throw new Invariant(`there is no usable ${name}`);
  return text;
}
