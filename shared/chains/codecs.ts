import type { Family, NetworkConfig } from '#shared/core/assets.ts';
import type { AddressCodec, Deriver } from './chain.ts';
import { evmAddress } from './evm/address.ts';
import { evmDeriver } from './evm/deriver.ts';
import { tronAddress } from './tron/address.ts';
import { tronDeriver } from './tron/deriver.ts';

interface Addressing {
  codec: AddressCodec;
  derive(accountXpub: string): Deriver;
}

/** How the families of this build write addresses and derive them from an xpub. */
const ADDRESSING: Partial<Record<Family, Addressing>> = {
  evm: { codec: evmAddress, derive: evmDeriver },
  tron: { codec: tronAddress, derive: tronDeriver },
};

function addressingOf(family: Family): Addressing {
  const addressing = ADDRESSING[family];
  if (addressing === undefined) throw new Error(`this build does not know ${family} addresses`);
  return addressing;
}

/** The address format of a family. @throws Error when the family is not part of this build */
export function codecOf(family: Family): AddressCodec {
  return addressingOf(family).codec;
}

/**
 * The deposit-address deriver of a network.
 * @throws Error when the xpub is not the one whose fingerprint is pinned in the configuration: a swapped xpub is theft
 */
export function openDeriver(network: Pick<NetworkConfig, 'name' | 'family' | 'accountXpub' | 'accountFingerprint'>): Deriver {
  const deriver = addressingOf(network.family).derive(network.accountXpub);
  if (deriver.fingerprint !== network.accountFingerprint)
    throw new Error(`${network.name}: the account xpub has fingerprint ${deriver.fingerprint}, but ${network.accountFingerprint} is pinned`);
  return deriver;
}
