import type { Family, NetworkConfig } from '#shared/core/assets.ts';
import { bitcoinAddress } from './bitcoin/address.ts';
import { bitcoinDeriver } from './bitcoin/deriver.ts';
import type { AddressCodec, Deriver } from './chain.ts';
import { evmAddress } from './evm/address.ts';
import { evmDeriver } from './evm/deriver.ts';
import { tronAddress } from './tron/address.ts';
import { tronDeriver } from './tron/deriver.ts';

interface Addressing {
  /** @throws Error when addresses differ between networks of the family and it does not know this one */
  codec(chainId: string): AddressCodec;
  derive(accountXpub: string, chainId: string): Deriver;
}

/** How each family of this build writes addresses and derives them from an xpub. */
const ADDRESSING: Partial<Record<Family, Addressing>> = {
  evm: { codec: () => evmAddress, derive: evmDeriver },
  tron: { codec: () => tronAddress, derive: tronDeriver },
  bitcoin: { codec: bitcoinAddress, derive: bitcoinDeriver },
};

function addressingOf(family: Family): Addressing {
  const addressing = ADDRESSING[family];
  if (addressing === undefined) throw new Error(`this build does not know ${family} addresses`);
  return addressing;
}

/** The address format of a network. @throws Error when its family is not part of this build, or does not know the network */
export function codecOf({ family, chainId }: Pick<NetworkConfig, 'family' | 'chainId'>): AddressCodec {
  return addressingOf(family).codec(chainId);
}

/** The fingerprint of an account xpub that a network's configuration pins, 8 hex digits. @throws Error when the xpub is not one of that network */
export function fingerprintOf({ family, chainId, accountXpub }: Pick<NetworkConfig, 'family' | 'chainId' | 'accountXpub'>): string {
  return addressingOf(family).derive(accountXpub, chainId).fingerprint;
}

/**
 * The deposit-address deriver of a network.
 * @throws Error when the xpub is not the one whose fingerprint is pinned in the configuration: a swapped xpub is theft
 */
export function openDeriver(network: Pick<NetworkConfig, 'name' | 'family' | 'chainId' | 'accountXpub' | 'accountFingerprint'>): Deriver {
  const deriver = addressingOf(network.family).derive(network.accountXpub, network.chainId);
  if (deriver.fingerprint !== network.accountFingerprint)
    throw new Error(`${network.name}: the account xpub has fingerprint ${deriver.fingerprint}, but ${network.accountFingerprint} is pinned`);
  return deriver;
}
