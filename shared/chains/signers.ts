import type { Family, NetworkConfig } from '#shared/core/assets.ts';
import { bitcoinSigner } from './bitcoin/signer.ts';
import type { TransferSigner } from './chain.ts';
import { evmSigner } from './evm/signer.ts';
import { tronSigner } from './tron/signer.ts';

type SigningNetwork = Pick<NetworkConfig, 'chainId' | 'feeRate'>;

/** The families that this build can sign for. Only the signer role and the development tools import this file. */
const SIGNERS: Partial<Record<Family, (network: SigningNetwork, mnemonic: string) => TransferSigner>> = {
  evm: evmSigner,
  tron: tronSigner,
  bitcoin: bitcoinSigner,
};

/** The signer of one network. @throws Error when its family is not part of this build, or the seed is not a mnemonic */
export function openSigner(network: SigningNetwork & Pick<NetworkConfig, 'name' | 'family'>, mnemonic: string): TransferSigner {
  const open = SIGNERS[network.family];
  if (open === undefined) throw new Error(`${network.name}: this build cannot sign for ${network.family} networks`);
  return open(network, mnemonic);
}
