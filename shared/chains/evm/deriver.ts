import { HDKey } from '@scure/bip32';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToHex } from 'viem';
import { publicKeyToAddress } from 'viem/utils';
import type { Deriver } from '../chain.ts';

/**
 * Derives EVM deposit addresses at /0/index below an account xpub; nothing here can sign.
 * @throws Error when the text is a private extended key or no extended key at all
 */
export function evmDeriver(accountXpub: string): Deriver {
  const account = HDKey.fromExtendedKey(accountXpub);
  if (account.privateKey !== null) throw new Error('the account key must be an xpub; this one is private');
  const receiving = account.deriveChild(0);
  return {
    fingerprint: account.fingerprint.toString(16).padStart(8, '0'),
    depositAddress: (index) => {
      const child = receiving.deriveChild(index);
      return addressOfPublicKey(child.publicKey as Uint8Array);
    },
  };
}

/** Canonical address of a compressed secp256k1 public key. */
export function addressOfPublicKey(compressed: Uint8Array): string {
  const point = secp256k1.Point.fromBytes(compressed).toBytes(false);
  return publicKeyToAddress(bytesToHex(point)).toLowerCase();
}
