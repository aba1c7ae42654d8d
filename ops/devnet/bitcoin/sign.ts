import { crypto, script as scripts, type Transaction } from 'bitcoinjs-lib';
import * as ecc from 'tiny-secp256k1';
import type { Spent } from './transaction.ts';

/** The kinds of address one key can have. */
export type AddressKind = 'legacy' | 'p2sh-segwit' | 'bech32' | 'bech32m';

const ALL = 1;
/** Of taproot: everything, and no byte that says so. */
const DEFAULT = 0;

/** The output script that pays a private key by an address of this kind. */
export function scriptOfKey(key: Uint8Array, kind: AddressKind): Uint8Array {
  const publicKey = publicKeyOf(key);
  switch (kind) {
    case 'legacy':
      return Uint8Array.of(0x76, 0xa9, 0x14, ...crypto.hash160(publicKey), 0x88, 0xac);
    case 'p2sh-segwit':
      return Uint8Array.of(0xa9, 0x14, ...crypto.hash160(keyHashScript(publicKey)), 0x87);
    case 'bech32':
      return keyHashScript(publicKey);
    case 'bech32m':
      return Uint8Array.of(0x51, 0x20, ...tweaked(key).publicKey);
  }
}

/** Signs input `index`, which spends an output of `key` by an address of this kind; the transaction is changed. */
export function signInput(raw: Transaction, index: number, spent: readonly Spent[], key: Uint8Array, kind: AddressKind): void {
  const publicKey = publicKeyOf(key);
  const prevout = spent[index];
  if (prevout === undefined) throw new Error('what an input spends must be known to sign it');
  if (kind === 'legacy') {
    raw.setInputScript(index, scripts.compile([derSignature(raw.hashForSignature(index, prevout.script, ALL), key), publicKey]));
  } else if (kind === 'bech32m') {
    const prevouts = spent.map(({ script }) => script);
    const values = spent.map(({ value }) => value);
    raw.setWitness(index, [ecc.signSchnorr(raw.hashForWitnessV1(index, prevouts, values, DEFAULT), tweaked(key).privateKey)]);
  } else {
    if (kind === 'p2sh-segwit') raw.setInputScript(index, scripts.compile([keyHashScript(publicKey)]));
    const code = Uint8Array.of(0x76, 0xa9, 0x14, ...crypto.hash160(publicKey), 0x88, 0xac);
    raw.setWitness(index, [derSignature(raw.hashForWitnessV0(index, code, prevout.value, ALL), key), publicKey]);
  }
}

export function publicKeyOf(key: Uint8Array): Uint8Array {
  const publicKey = ecc.pointFromScalar(key, true);
  if (publicKey === null) throw new Error('not a private key');
  return publicKey;
}

/** A signature with the hash type ALL as scripts hold it. */
export function derSignature(hash: Uint8Array, key: Uint8Array): Uint8Array {
  return scripts.signature.encode(ecc.sign(hash, key), ALL);
}

function keyHashScript(publicKey: Uint8Array): Uint8Array {
  return Uint8Array.of(0x00, 0x14, ...crypto.hash160(publicKey));
}

/** The key that a taproot output without scripts commits to (BIP-341). */
function tweaked(key: Uint8Array): { privateKey: Uint8Array; publicKey: Uint8Array } {
  const publicKey = publicKeyOf(key);
  const even = publicKey[0] === 2 ? key : ecc.privateNegate(key);
  const privateKey = ecc.privateAdd(even, crypto.taggedHash('TapTweak', publicKey.subarray(1)));
  if (privateKey === null) throw new Error('not a private key');
  return { privateKey, publicKey: publicKeyOf(privateKey).subarray(1) };
}
