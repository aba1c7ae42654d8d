import { HDKey } from '@scure/bip32';
import { isPointCompressed, pointCompress } from 'tiny-secp256k1';
import { Invariant } from '#shared/core/errors.ts';
import type { Deriver } from '../chain.ts';
import { publicChildren } from '../public-children.ts';
import { addressOfPoint } from './address-of-point.ts';

/**
 * Derives EVM deposit addresses at /0/index below an account xpub; nothing here can sign.
 * @throws Error when the text is a private extended key or no extended key at all
 */
export function evmDeriver(accountXpub: string): Deriver {
  const account = HDKey.fromExtendedKey(accountXpub);
  if (account.privateKey !== null) throw new Error('the account key must be an xpub; this one is private');
  const receiving = publicChildren(account.deriveChild(0), false);
  return {
    fingerprint: account.fingerprint.toString(16).padStart(8, '0'),
    depositAddress: (index) => addressOfPoint(receiving(index).subarray(1)),
  };
}

/** Canonical address of a compressed secp256k1 public key. @throws Invariant when it is none */
export function addressOfPublicKey(compressed: Uint8Array): string {
  // Asked first: what throws inside WebAssembly never gives its stack back.
  if (!isPointCompressed(compressed)) throw new Invariant('no compressed public key');
  return addressOfPoint(pointCompress(compressed, false).subarray(1));
}
