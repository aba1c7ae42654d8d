import { hash } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { Invariant } from '#shared/core/errors.ts';
import type { DecodeTransfer, OwnOutput } from '../chain.ts';
import { writeFields } from './fields.ts';
import { bitcoinParams } from './params.ts';
import { decodePsbt } from './psbt.ts';
import { addressOfScript } from './script.ts';
import { type NewOutput, type Spend, sighashesOf, txidOf } from './spend.ts';

/** What every spend of ours says: version 2, at once, and replaceable (BIP-125). */
export const TRANSACTION = { version: 2, lockTime: 0, sequence: 0xfffffffd } as const;
/** Signs all inputs and all outputs; any other kind lets somebody add to them. */
const SIGHASH_ALL = 0x01;
const P2WPKH = /^0014[0-9a-f]{40}$/;
const MOST_OUTPUTS = 2;

/**
 * Reads finalized PSBTs of one network back into the transfer they make: the first output is the payment, the second, if
 * there is one, what comes back. It shares nothing with the library that signs, accepts one spelling only, and checks every
 * signature against the output that its input spends. The sender is whoever the first input belongs to; whose address the
 * change goes to is for the caller to judge.
 * @throws Error when the network is unknown; the decoder itself throws Invariant when the bytes are anything else, or one
 * signature is missing, of another kind or not the owner's
 */
export function bitcoinDecoder(chainId: string): DecodeTransfer {
  const params = bitcoinParams(chainId);
  const ownerOf = ({ script }: NewOutput): string => {
    const address = addressOfScript(script, params);
    if (address === null) throw new Invariant('the signed bytes pay to a script without an address');
    return address;
  };
  return async (signedBytes) => {
    const spend = decodePsbt(signedBytes);
    checkShape(spend);
    checkSignatures(spend);
    const [payment, back] = spend.outputs as [NewOutput, NewOutput | undefined];
    const inputs = spend.inputs.map(({ txid, vout, spent }): OwnOutput => ({ txid, vout, rawAmount: spent.rawAmount, address: ownerOf(spent) }));
    const change = back === undefined ? null : { rawAmount: back.rawAmount, address: ownerOf(back) };
    return {
      sender: (inputs[0] as OwnOutput).address,
      recipient: ownerOf(payment),
      contract: null,
      rawAmount: payment.rawAmount,
      nonce: null,
      rawFeeLimit: feeOf(spend),
      expiresAtMs: null,
      txid: txidOf(spend),
      chainId: null,
      fields: writeFields({ inputs, change }),
    };
  };
}

function checkShape({ version, inputs, outputs, lockTime }: Spend): void {
  if (version !== TRANSACTION.version || lockTime !== TRANSACTION.lockTime) throw new Invariant('the transaction has another version or a lock time');
  if (inputs.length === 0) throw new Invariant('the transaction spends nothing');
  if (outputs.length === 0 || outputs.length > MOST_OUTPUTS)
    throw new Invariant(`the transaction has ${outputs.length} outputs: a payment, and at most one change`);
  if (outputs.some(({ rawAmount }) => rawAmount === 0n)) throw new Invariant('an output of the transaction holds nothing');
  if (new Set(inputs.map(({ txid, vout }) => `${txid}:${vout}`)).size !== inputs.length) throw new Invariant('the transaction spends an output twice');
  for (const { sequence, spent } of inputs) {
    if (sequence !== TRANSACTION.sequence) throw new Invariant('an input of the transaction has another sequence');
    if (!P2WPKH.test(spent.script)) throw new Invariant('an input of the transaction spends something other than a P2WPKH output');
  }
}

/** @returns what no output takes. @throws Invariant when the outputs take more than there is */
function feeOf({ inputs, outputs }: Spend): bigint {
  const fee = inputs.reduce((sum, { spent }) => sum + spent.rawAmount, 0n) - outputs.reduce((sum, { rawAmount }) => sum + rawAmount, 0n);
  if (fee < 0n) throw new Invariant('the transaction pays more than it spends');
  return fee;
}

/** @throws Invariant unless every input carries its owner's key and a good signature of everything (BIP-141, BIP-143) */
function checkSignatures(spend: Spend): void {
  for (const [at, sighash] of sighashesOf(spend).entries()) {
    const { spent, witness } = spend.inputs[at] as Spend['inputs'][number];
    const [signature, publicKey, ...more] = witness;
    if (signature === undefined || publicKey === undefined || more.length > 0) throw new Invariant(`input ${at} has no witness of one signature and one key`);
    if (publicKey.length !== 33 || keyHashOf(publicKey) !== spent.script.slice(4)) throw new Invariant(`input ${at} is signed by another key than its owner's`);
    if (signature.at(-1) !== SIGHASH_ALL) throw new Invariant(`the signature of input ${at} does not cover everything`);
    if (!isGood(signature.subarray(0, -1), sighash, publicKey)) throw new Invariant(`the signature of input ${at} is not good`);
  }
}

/** Strict DER with a low S, as consensus and policy want it (BIP-66, BIP-146). */
function isGood(der: Uint8Array, sighash: Uint8Array, publicKey: Uint8Array): boolean {
  try {
    return secp256k1.verify(der, sighash, publicKey, { format: 'der', prehash: false, lowS: true });
  } catch {
    return false;
  }
}

function keyHashOf(publicKey: Uint8Array): string {
  return hash('ripemd160', hash('sha256', publicKey, 'buffer'), 'hex');
}
