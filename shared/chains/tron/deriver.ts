import type { Deriver } from '../chain.ts';
import { evmDeriver } from '../evm/deriver.ts';
import { toBase58 } from './address.ts';

/**
 * Derives TRON deposit addresses at /0/index below an account xpub (m/44'/195'/a'); nothing here can sign. Both families make
 * the same 20 bytes of a public key and only write them differently.
 * @throws Error when the text is a private extended key or no extended key at all
 */
export function tronDeriver(accountXpub: string): Deriver {
  const { fingerprint, depositAddress } = evmDeriver(accountXpub);
  return { fingerprint, depositAddress: (index) => toBase58(depositAddress(index)) };
}
