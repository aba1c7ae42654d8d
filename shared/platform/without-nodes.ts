import type { NetworkConfig } from '#shared/core/assets.ts';

/** A network without where it is asked, whose URLs often hold a provider's key, and without what only matters to whoever asks. Pure. */
export function withoutNodes<Network extends Partial<NetworkConfig>>(network: Network): Network {
  const { headUrl: _, catchUpByLogs: __, ...rest } = network;
  return { ...rest, rpcUrls: [] } as unknown as Network;
}
