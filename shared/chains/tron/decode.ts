import { Invariant } from '#shared/core/errors.ts';
import type { DecodeTransfer, TransferIntent } from '../chain.ts';
import { addressOfPoint } from '../evm/address-of-point.ts';
import { recoverKey } from '../evm/recover-key.ts';
import { toBase58, tronAddress } from './address.ts';
import { type Message, readMessage, requireBytes, type Shape } from './strict-message.ts';
import { encodeRawData, encodeSigned, readFields, readTransferCall, TRANSFER, TRIGGER, txidOf, writeFields } from './transaction.ts';

/** Half the order of the curve: of the two signatures that say the same, the one with the smaller s is taken. */
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/** The fields a transfer has; a memo, a permission, call value, TRC-10 tokens, scripts and results are all others. */
const SIGNED: Shape = { 1: 'bytes', 2: 'bytes' };
const RAW_DATA: Shape = { 1: 'bytes', 4: 'bytes', 8: 'integer', 11: 'bytes', 14: 'integer', 18: 'integer' };
const CONTRACT: Shape = { 1: 'integer', 2: 'bytes' };
const PARAMETER: Shape = { 1: 'bytes', 2: 'bytes' };
const TRANSFER_FIELDS: Shape = { 1: 'bytes', 2: 'bytes', 3: 'integer' };
const TRIGGER_FIELDS: Shape = { 1: 'bytes', 2: 'bytes', 4: 'bytes' };

/**
 * Reads a signed TRON transaction back into the transfer it makes. It shares nothing with tronweb, which made the bytes, and
 * accepts one spelling only: what it read, written again, must be the very same bytes. The sender is recovered from the
 * signature and must own the coins. `rawFeeLimit` is all that bytes can limit, the fee limit of the call; bandwidth and a
 * new account come on top of it, at the chain's own prices.
 * @throws Invariant when the bytes are anything but one TRX transfer or one token `transfer` call with one signature
 */
export const decodeTronTransfer: DecodeTransfer = async (signedBytes) => {
  const signed = readMessage(signedBytes, SIGNED, 'the signed transaction');
  const rawData = requireBytes(signed, 1, 'the signed transaction');
  const signature = requireBytes(signed, 2, 'the signed transaction');
  const raw = readMessage(rawData, RAW_DATA, 'the raw data');
  const contract = readMessage(requireBytes(raw, 11, 'the raw data'), CONTRACT, 'the contract');
  const parameter = readMessage(requireBytes(contract, 2, 'the contract'), PARAMETER, 'the contract parameter');
  const intent = readIntent(
    contract.integers.get(1),
    Buffer.from(requireBytes(parameter, 1, 'the contract parameter')).toString(),
    requireBytes(parameter, 2, 'the contract parameter'),
  );
  const fields = readFields({
    feeLimit: integerText(raw, 18),
    refBlockBytes: hexText(raw, 1),
    refBlockHash: hexText(raw, 4),
    expirationMs: integerText(raw, 8),
    timestampMs: integerText(raw, 14),
  });
  if (fields.expirationMs === 0n) throw new Invariant('the raw data has no expiration');
  if ((intent.contract === null) !== (fields.feeLimit === 0n)) throw new Invariant('the fee limit does not fit the kind of transfer');
  if (!Buffer.from(encodeSigned(encodeRawData(intent, fields), signature)).equals(signedBytes))
    throw new Invariant('the signed transaction is not spelt canonically');
  const txid = txidOf(rawData);
  if (signerOf(txid, signature) !== intent.sender) throw new Invariant('the signature is not the sender’s');
  return { ...intent, nonce: null, rawFeeLimit: fields.feeLimit, expiresAtMs: Number(fields.expirationMs), txid, chainId: null, fields: writeFields(fields) };
};

function readIntent(type: bigint | undefined, url: string, value: Uint8Array): TransferIntent {
  if (type === TRANSFER.type && url === TRANSFER.url) {
    const transfer = readMessage(value, TRANSFER_FIELDS, 'the TRX transfer');
    const rawAmount = transfer.integers.get(3) ?? 0n;
    return { sender: addressOf(transfer, 1), recipient: addressOf(transfer, 2), contract: null, rawAmount };
  }
  if (type !== TRIGGER.type || url !== TRIGGER.url) throw new Invariant('the signed transaction is neither a TRX transfer nor a contract call');
  const call = readMessage(value, TRIGGER_FIELDS, 'the contract call');
  const token = readTransferCall(requireBytes(call, 4, 'the contract call'));
  if (token === undefined) throw new Invariant('the contract call is something other than one token transfer');
  return { sender: addressOf(call, 1), recipient: knownAddress(token.recipientHex), contract: addressOf(call, 2), rawAmount: token.rawAmount };
}

/** The address whose key made the signature. @throws Invariant unless it is the one spelling of a valid signature */
function signerOf(txid: string, signature: Uint8Array): string {
  const recovery = (signature[64] ?? 0) - 27;
  if (signature.length !== 65 || (recovery !== 0 && recovery !== 1)) throw new Invariant('the signature is malformed');
  try {
    const [r, s] = [numberOf(signature.subarray(0, 32)), numberOf(signature.subarray(32, 64))];
    if (s > HALF_ORDER) throw new Invariant('the signature is not in its low form');
    return toBase58(addressOfPoint(recoverKey(Buffer.from(txid, 'hex'), { r, s, parity: BigInt(recovery) })));
  } catch (cause) {
    throw cause instanceof Invariant ? cause : new Invariant('the signature is malformed', { cause });
  }
}

function numberOf(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
}

function addressOf(message: Message, field: number): string {
  const hex = Buffer.from(requireBytes(message, field, 'the transfer')).toString('hex');
  if (!/^41[0-9a-f]{40}$/.test(hex)) throw new Invariant('the transfer names something that is no address');
  return knownAddress(hex);
}

/** The zero address is nobody's, so that nothing of ours can have meant it. */
function knownAddress(hex: string): string {
  const parsed = tronAddress.parse(toBase58(hex));
  if (!parsed.ok) throw new Invariant(`the transfer names an address that ${parsed.problem}`);
  return parsed.canonical;
}

function integerText(message: Message, field: number): string {
  return (message.integers.get(field) ?? 0n).toString();
}

function hexText(message: Message, field: number): string {
  return Buffer.from(message.bytes.get(field) ?? []).toString('hex');
}
