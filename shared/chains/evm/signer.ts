import { bytesToHex, hexToBytes } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { Invariant } from '#shared/core/errors.ts';
import type { DecodedTransfer, SigningRequest, TransferSigner } from '../chain.ts';
import { openSeed } from '../seed-keys.ts';
import { decodeEvmTransfer } from './decode.ts';
import { addressOfPublicKey } from './deriver.ts';
import { encodeTransfer } from './token.ts';

/**
 * Signs EVM transfers with keys below a BIP-39 seed; only the signer role constructs it.
 * @throws Error when the seed is not a valid mnemonic; the message never holds the seed
 */
export function evmSigner(network: { chainId: string }, mnemonic: string): TransferSigner {
  const keys = openSeed(mnemonic);
  return {
    addressAt: (path) => addressOfPublicKey(keys.at(path).publicKey as Uint8Array),
    xpubAt: (path) => keys.at(path).publicExtendedKey,
    async sign(path, request) {
      const key = keys.at(path);
      const signed = await privateKeyToAccount(bytesToHex(key.privateKey as Uint8Array)).signTransaction(transactionOf(network, request));
      const signedBytes = hexToBytes(signed);
      const decoded = await decodeEvmTransfer(signedBytes);
      compare(network, request, decoded);
      return { txid: decoded.txid, signedBytes, rawFeeLimit: decoded.rawFeeLimit, expiresAtMs: null };
    },
  };
}

function transactionOf(network: { chainId: string }, { intent, nonce, fields }: SigningRequest) {
  if (nonce === null) throw new Invariant('an EVM transaction needs a nonce');
  const token = intent.contract !== null;
  return {
    type: 'eip1559' as const,
    chainId: Number(network.chainId),
    nonce,
    to: (intent.contract ?? intent.recipient) as `0x${string}`,
    value: token ? 0n : intent.rawAmount,
    data: token ? encodeTransfer(intent.recipient, intent.rawAmount) : ('0x' as const),
    gas: feeField(fields, 'gas'),
    maxFeePerGas: feeField(fields, 'maxFeePerGas'),
    maxPriorityFeePerGas: feeField(fields, 'maxPriorityFeePerGas'),
  };
}

function feeField(fields: Record<string, string>, name: string): bigint {
  const text = fields[name] ?? '';
  if (!/^\d{1,78}$/.test(text)) throw new Invariant(`the plan has no usable ${name}`);
  return BigInt(text);
}

/** Refuses bytes that are not exactly the request; called on what was signed, never on what was meant to be signed. */
export function compare(network: { chainId: string }, { intent, nonce, fields }: SigningRequest, decoded: DecodedTransfer): void {
  const pairs: [string, unknown, unknown][] = [
    ['chain', decoded.chainId, network.chainId],
    ['sender', decoded.sender, intent.sender],
    ['recipient', decoded.recipient, intent.recipient],
    ['contract', decoded.contract, intent.contract],
    ['amount', decoded.rawAmount, intent.rawAmount],
    ['nonce', decoded.nonce, nonce],
    ...['gas', 'maxFeePerGas', 'maxPriorityFeePerGas'].map((name): [string, unknown, unknown] => [name, decoded.fields[name], fields[name]]),
  ];
  for (const [name, made, asked] of pairs) if (made !== asked) throw new Invariant(`the signed bytes differ from the request in their ${name}`);
}
