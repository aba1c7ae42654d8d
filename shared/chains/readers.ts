import type { Family, NetworkConfig } from '#shared/core/assets.ts';
import { type Gate, openGate } from './budget-gate.ts';
import { bitcoinReader } from './bitcoin/reader.ts';
import { openBitcoinRpc } from './bitcoin/rpc.ts';
import type { AnnouncedBlock, Reader } from './chain.ts';
import { hearNewHeads } from './evm/head-news.ts';
import { type AcceptedFields, type HeaderTrust, openHeaderTrust } from './evm/header-trust.ts';
import { evmReader } from './evm/reader.ts';
import { openRpc } from './evm/rpc.ts';
import type { RpcObserver } from './rpc.ts';
import { type EndpointObserver, type Endpoints, watchEndpoints } from './watch-endpoints.ts';
import { type JoinedReader, joinReaders } from './join-readers.ts';
import { openTronApi } from './tron/http.ts';
import { tronReader } from './tron/reader.ts';

type OpenReader = (network: NetworkConfig, url: string, shared: { observe: RpcObserver | undefined; gate: Gate; trusts: HeaderTrust }) => Reader;

/** The families that this build can read, each through one endpoint; the indexer imports no other chain code. */
const READERS: Partial<Record<Family, OpenReader>> = {
  evm: (network, url, { observe, gate, trusts }) => evmReader(network, openRpc(url, observe, { gate }), trusts),
  tron: (network, url, { observe, gate }) => tronReader(network, openTronApi(url, observe, { gate })),
  bitcoin: (network, url, { observe, gate }) => bitcoinReader(network, openBitcoinRpc(url, observe, { gate })),
};

/** Gets every request to a network's endpoints, and the state of the endpoints. */
export interface ChainObserver extends EndpointObserver {
  request: RpcObserver;
}

/** The endpoints of one network, opened for reading in one process; a payer of the same network shares them. */
export interface OpenedEndpoints {
  endpoints: Endpoints;
  readers: readonly Reader[];
  /** One per endpoint, in the same order. */
  gates: readonly Gate[];
  observe: ChainObserver | undefined;
}

/** Opens every endpoint of a network; `accepted` are header fields that two people accepted. @throws Error when its family is not part of this build */
export function openEndpoints(network: NetworkConfig, observe?: ChainObserver, accepted: AcceptedFields = async () => new Set()): OpenedEndpoints {
  const open = READERS[network.family];
  if (open === undefined) throw new Error(`${network.name}: this build cannot read ${network.family} networks`);
  const gates = network.rpcUrls.map((url) => openGate(url));
  const trustOf = openHeaderTrust(accepted, new Set(network.rpcUrls.map((url) => new URL(url).host)).size);
  const readers = network.rpcUrls.map((url, at) =>
    open(network, url, { observe: observe?.request, gate: gates[at] as Gate, trusts: trustOf(new URL(url).host) }),
  );
  const opened = network.rpcUrls.map((url, at) => ({ provider: new URL(url).host, identify: () => (readers[at] as Reader).genesisHash() }));
  return { endpoints: watchEndpoints(network, opened, { observe }), readers, gates, observe };
}

/** The reader of one network over all of its endpoints. @throws Error when its family is not part of this build */
export function openReader(network: NetworkConfig, { endpoints, readers } = openEndpoints(network)): JoinedReader {
  return joinReaders(endpoints, readers, { blockSeconds: network.blockSeconds });
}

/**
 * Calls `ring` when the node behind a network's `headUrl` says that its head moved, with the block that it names; returns how to stop. Does nothing
 * without a `headUrl`.
 */
export function hearHeads({ family, headUrl }: Pick<NetworkConfig, 'family' | 'headUrl'>, ring: (announced?: AnnouncedBlock) => void): () => void {
  return family === 'evm' && headUrl !== undefined ? hearNewHeads(headUrl, ring) : () => undefined;
}
