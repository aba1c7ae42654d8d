import type { Family, NetworkConfig } from '#shared/core/assets.ts';
import type { Reader } from './chain.ts';
import { evmReader } from './evm/reader.ts';
import { openRpc, type RpcObserver } from './evm/rpc.ts';

type OpenReader = (network: NetworkConfig, url: string, observe: RpcObserver | undefined) => Reader;

/** The families this build can read, each through one endpoint; the only chain code the indexer imports. */
const READERS: Partial<Record<Family, OpenReader>> = {
  evm: (network, url, observe) => evmReader(network, openRpc([url], observe)),
};

/** Opens the reader of one network. @throws Error when its family is not part of this build */
export function openReader(network: NetworkConfig, observe?: RpcObserver): Reader {
  const open = READERS[network.family];
  if (open === undefined) throw new Error(`${network.name}: this build cannot read ${network.family} networks`);
  return open(network, network.rpcUrls[0] as string, observe);
}
