import { createHmac } from 'node:crypto';
import type { HDKey } from '@scure/bip32';
import { pointAddScalar } from 'tiny-secp256k1';
import { Invariant } from '#shared/core/errors.ts';

/** The first index that only a private key has a child at. */
const HARDENED = 0x80000000;
const KEY_BYTES = 33;

/**
 * The public keys below a public key, by index: bitcoin-core's libsecp256k1 in WebAssembly, some four times as fast as in JavaScript, since every
 * reading of a payment derives the address it shows once more (decision 0103). Points have 33 bytes, or 65 where `compressed` is false. Pure.
 * The one index in 2^127 that has no key throws. Source: BIP-32, CKDpub.
 * @throws Invariant when `parent` lacks what children are made from; at an index that is none, or has no key
 */
export function publicChildren(parent: HDKey, compressed: boolean): (index: number) => Uint8Array {
  const { publicKey, chainCode } = parent;
  if (publicKey === null || chainCode === null) throw new Invariant('an extended key without a public key or a chain code has no children');
  const data = Buffer.alloc(KEY_BYTES + 4);
  data.set(publicKey);
  return (index) => {
    if (!Number.isInteger(index) || index < 0 || index >= HARDENED) throw new Invariant(`no public key has a child ${index}`);
    data.writeUInt32BE(index, KEY_BYTES);
    const tweak = createHmac('sha512', chainCode).update(data).digest().subarray(0, 32);
    const child = pointAddScalar(publicKey, tweak, compressed);
    if (child === null) throw new Invariant(`the child ${index} has no key`);
    return child;
  };
}
