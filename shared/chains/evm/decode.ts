import { bytesToHex, hexToBytes, keccak256, parseTransaction, serializeTransaction } from 'viem';
import { Invariant } from '#shared/core/errors.ts';
import type { DecodeTransfer } from '../chain.ts';
import { addressOfPoint } from './address-of-point.ts';
import { recoverKey } from './recover-key.ts';
import { decodeTransferCall } from './token.ts';

/**
 * Reads signed EIP-1559 bytes back into the transfer they make, its sender recovered from the signature. Pure.
 * @throws Invariant when the bytes are anything but a plain coin transfer or one token `transfer` call
 */
export const decodeEvmTransfer: DecodeTransfer = async (signedBytes) => {
  const raw = bytesToHex(signedBytes);
  const tx = readBytes(raw);
  if (tx.type !== 'eip1559') throw new Invariant('signed bytes are not an EIP-1559 transaction');
  const { to, gas, maxFeePerGas, maxPriorityFeePerGas, chainId, nonce = 0, value = 0n, data = '0x', accessList = [] } = tx;
  if (!to || gas === undefined || maxFeePerGas === undefined) throw new Invariant('signed bytes lack a recipient or a fee');
  if (accessList.length > 0) throw new Invariant('signed bytes carry an access list');
  const { r, s, yParity } = tx as { r?: `0x${string}`; s?: `0x${string}`; yParity?: number };
  if (r === undefined || s === undefined || yParity === undefined) throw new Invariant('signed bytes carry no signature');
  const unsigned = serializeTransaction({
    type: 'eip1559',
    chainId,
    nonce,
    to,
    value,
    data,
    gas,
    maxFeePerGas,
    maxPriorityFeePerGas: maxPriorityFeePerGas ?? 0n,
  });
  const common = {
    sender: addressOfPoint(recoverKey(hexToBytes(keccak256(unsigned)), { r: BigInt(r), s: BigInt(s), parity: BigInt(yParity) })),
    nonce,
    rawFeeLimit: gas * maxFeePerGas,
    expiresAtMs: null,
    txid: keccak256(raw),
    chainId: String(chainId),
    fields: { gas: gas.toString(), maxFeePerGas: maxFeePerGas.toString(), maxPriorityFeePerGas: (maxPriorityFeePerGas ?? 0n).toString() },
  };
  if (data === '0x') return { ...common, recipient: to.toLowerCase(), contract: null, rawAmount: value };
  const token = decodeTransferCall(data);
  if (token === undefined || value !== 0n) throw new Invariant('signed bytes call something other than one token transfer');
  return { ...common, contract: to.toLowerCase(), ...token };
};

function readBytes(raw: `0x${string}`): ReturnType<typeof parseTransaction> {
  try {
    return parseTransaction(raw as `0x02${string}`) as ReturnType<typeof parseTransaction>;
  } catch (cause) {
    throw new Invariant('signed bytes are not a transaction', { cause });
  }
}
