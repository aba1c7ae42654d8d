import { generateMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import type { NetworkConfig, WalletConfig } from '#shared/core/assets.ts';
import { fingerprintOf } from './codecs.ts';
import { openSigner } from './signers.ts';

/** The parts of a network's configuration that say where its keys lie. */
export type AccountPlace = Pick<NetworkConfig, 'name' | 'family' | 'chainId' | 'accountPath'> & {
  wallets: Record<keyof NetworkConfig['wallets'], Pick<WalletConfig, 'path'>>;
};

/** The parts of a network's configuration that are derived from a seed. None of them can move a coin. */
export type Accounts = Pick<NetworkConfig, 'accountXpub' | 'accountFingerprint' | 'wallets'>;

/** A fresh seed: a BIP-39 mnemonic of 24 words, 256 bits of the system's randomness. */
export function newSeed(): string {
  return generateMnemonic(wordlist, 256);
}

/** The public keys and addresses of a seed at the paths that a network names. @throws Error when the seed is not a mnemonic, or the family is unknown */
export function accountsOf(network: AccountPlace, seed: string): Accounts {
  const signer = openSigner(network, seed);
  const accountXpub = signer.xpubAt(network.accountPath);
  const wallet = ({ path }: Pick<WalletConfig, 'path'>): WalletConfig => ({ address: signer.addressAt(path), path });
  const { hot, funding, held } = network.wallets;
  return {
    accountXpub,
    accountFingerprint: fingerprintOf({ ...network, accountXpub }),
    wallets: { hot: wallet(hot), funding: wallet(funding), held: wallet(held) },
  };
}
