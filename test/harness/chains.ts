import type { Family, NetworkConfig } from '#shared/core/assets.ts';
import { aBitcoinChain } from './bitcoin-chain.ts';
import { aChain, type ChainOptions, type CommonChain } from './chain.ts';
import { aTronChain } from './tron-chain.ts';

type OpenChain = (network: NetworkConfig, options: ChainOptions) => Promise<CommonChain>;

/** How a test gets a local chain of each family. */
const CHAINS: Partial<Record<Family, OpenChain>> = {
  evm: (network, options) => aChain({ ...options, chainId: Number(network.chainId) }),
  bitcoin: (_network, options) => aBitcoinChain(options),
  tron: (_network, options) => aTronChain(options),
};

/** A local chain for one configured network. @throws when there is no local node of its family */
export function aChainOf(network: NetworkConfig, options: ChainOptions = {}): Promise<CommonChain> {
  const open = CHAINS[network.family];
  if (open === undefined) throw new Error(`${network.name}: there is no local ${network.family} node`);
  return open(network, options);
}
