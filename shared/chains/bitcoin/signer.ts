import { secp256k1 } from '@noble/curves/secp256k1.js';
import { Psbt } from 'bitcoinjs-lib';
import type { NetworkConfig } from '#shared/core/assets.ts';
import { Invariant } from '#shared/core/errors.ts';
import type { DecodedTransfer, OwnOutput, SigningRequest, TransferSigner } from '../chain.ts';
import { openSeed } from '../seed-keys.ts';
import { scriptOfAddress } from './address.ts';
import { bitcoinDecoder, TRANSACTION } from './decode.ts';
import { addressOfPublicKey } from './deriver.ts';
import { feeBoundsOf } from './fees.ts';
import { type BitcoinFields, readFields } from './fields.ts';
import { mostFee } from './need.ts';
import { type BitcoinParams, bitcoinParams } from './params.ts';
import { dustOf } from './vsize.ts';

interface Key {
  privateKey: Uint8Array;
  publicKey: Uint8Array;
  address: string;
}

/**
 * Signs Bitcoin payments with keys below a BIP-39 seed (BIP-84 addresses); only the signer role constructs it. The
 * transaction is built from the plan alone, and signed bytes are a finalized PSBT, so that they say themselves what they
 * spend; they are read back without the library that made them and must be the request to the letter.
 * @throws Error when the seed is not a valid mnemonic, or the network unknown; the message never holds the seed
 */
export function bitcoinSigner(network: Pick<NetworkConfig, 'chainId' | 'feeRate'>, mnemonic: string): TransferSigner {
  const params = bitcoinParams(network.chainId);
  const { cap } = feeBoundsOf(network);
  const decode = bitcoinDecoder(network.chainId);
  const keys = openSeed(mnemonic, params.segwitKeys);
  const keyAt = (path: string): Key => {
    const { privateKey, publicKey } = keys.at(path);
    if (privateKey === null || publicKey === null) throw new Invariant(`there is no key at ${path}`);
    return { privateKey, publicKey, address: addressOfPublicKey(publicKey, params) };
  };
  return {
    addressAt: (path) => keyAt(path).address,
    xpubAt: (path) => keys.at(path).publicExtendedKey,
    async sign(path, request) {
      const { inputs, change } = readFields(request.fields);
      const wallet = keyAt(path);
      if (wallet.address !== request.intent.sender) throw new Invariant('the signed bytes differ from the request in their wallet');
      if (change !== null && change.address !== wallet.address) throw new Invariant('the change goes to another address than the wallet’s');
      const owners = ownKeys(inputs, request, wallet, keyAt);
      checkFee(request, inputs, change, params, cap);
      const signedBytes = build(request, { inputs, change }, params, owners);
      const decoded = await decode(signedBytes);
      compare(request, decoded);
      return { txid: decoded.txid, signedBytes, rawFeeLimit: decoded.rawFeeLimit, expiresAtMs: null };
    },
  };
}

/** The key of every address from which something is spent. @throws Invariant unless it is at the path that the request says */
function ownKeys(inputs: readonly OwnOutput[], { paths = {} }: SigningRequest, wallet: Key, keyAt: (path: string) => Key): ReadonlyMap<string, Key> {
  const keys = new Map([[wallet.address, wallet]]);
  for (const { address } of inputs) {
    if (keys.has(address)) continue;
    const path = Object.hasOwn(paths, address) ? paths[address] : undefined;
    const key = path === undefined ? undefined : keyAt(path);
    if (key?.address !== address) throw new Invariant(`the request says no path, or a wrong one, for the key of ${address}`);
    keys.set(address, key);
  }
  return keys;
}

/** Whatever a plan says, nothing of ours leaves more to miners than the cap allows; an anchor that returns to its wallet alone may, to end what else would wait for ever. */
function checkFee({ intent }: SigningRequest, inputs: readonly OwnOutput[], change: BitcoinFields['change'], params: BitcoinParams, cap: bigint): void {
  const fee = inputs.reduce((sum, { rawAmount }) => sum + rawAmount, 0n) - intent.rawAmount - (change?.rawAmount ?? 0n);
  const home = scriptOfAddress(intent.sender, params);
  if (fee < 0n) throw new Invariant('the plan pays more than it spends');
  if (intent.recipient === intent.sender && change === null && inputs.length === 1) return;
  const limit = mostFee(cap, inputs.length, { payment: scriptOfAddress(intent.recipient, params), change: home, dust: dustOf(home) });
  if (fee > limit) throw new Invariant(`the plan leaves a fee of ${fee}, and for this payment the highest rate makes ${limit}`);
}

/** Builds, signs and finalizes; library faults are broken promises, not crashes of the signer. */
function build({ intent, nonce }: SigningRequest, { inputs, change }: BitcoinFields, params: BitcoinParams, keys: ReadonlyMap<string, Key>): Uint8Array {
  if (nonce !== null) throw new Invariant('a Bitcoin transaction has no nonce');
  if (intent.contract !== null) throw new Invariant('there are no tokens on Bitcoin');
  const script = (address: string): Uint8Array => Uint8Array.from(Buffer.from(scriptOfAddress(address, params), 'hex'));
  try {
    const psbt = new Psbt().setVersion(TRANSACTION.version).setLocktime(TRANSACTION.lockTime);
    for (const { txid, vout, rawAmount, address } of inputs)
      psbt.addInput({ hash: txid, index: vout, sequence: TRANSACTION.sequence, witnessUtxo: { script: script(address), value: rawAmount } });
    psbt.addOutput({ script: script(intent.recipient), value: intent.rawAmount });
    if (change !== null) psbt.addOutput({ script: script(change.address), value: change.rawAmount });
    for (const [at, { address }] of inputs.entries()) {
      const { privateKey, publicKey } = keys.get(address) as Key;
      psbt.signInput(at, { publicKey, sign: (hash) => secp256k1.sign(hash, privateKey, { prehash: false, lowS: true }) });
    }
    return Uint8Array.from(psbt.finalizeAllInputs().toBuffer());
  } catch (cause) {
    throw cause instanceof Invariant ? cause : new Invariant('the request cannot be built into a transaction', { cause });
  }
}

/** Refuses bytes that are not exactly the request; called on what was signed, never on what was meant to be signed. */
export function compare({ intent, nonce, fields }: SigningRequest, decoded: DecodedTransfer): void {
  const pairs: [string, unknown, unknown][] = [
    ['sender', decoded.sender, readFields(fields).inputs[0]?.address],
    ['recipient', decoded.recipient, intent.recipient],
    ['contract', decoded.contract, intent.contract],
    ['amount', decoded.rawAmount, intent.rawAmount],
    ['nonce', decoded.nonce, nonce],
    ...Object.keys(decoded.fields).map((name): [string, unknown, unknown] => [name, decoded.fields[name], fields[name]]),
  ];
  for (const [name, made, asked] of pairs) if (made !== asked) throw new Invariant(`the signed bytes differ from the request in their ${name}`);
}
