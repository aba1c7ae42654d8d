import type { Family, Finality } from '#shared/core/assets.ts';
import { FINALITY } from '#shared/core/policy.ts';

/** What is known of a public network before anybody configures it; one row here is all a further EVM network needs. */
export interface NetworkProfile {
  family: Family;
  chainId: string;
  name: string;
  nativeSymbol: string;
  blockSeconds: number;
  /** Decisions 5. */
  finality: Finality;
  /** Smallest priority fee a transaction offers, native units per gas; empty blocks tell nothing about it. */
  minimumTip: bigint;
  /** Seconds without a new head after which the network counts as stalled. */
  stallSeconds: number;
  explorerTxUrl: string;
}

const GWEI = 1_000_000_000n;

/** Every network, as data. */
export const NETWORKS: readonly NetworkProfile[] = [
  {
    family: 'evm',
    chainId: '1',
    name: 'ethereum',
    nativeSymbol: 'ETH',
    blockSeconds: 12,
    finality: FINALITY.ethereum,
    minimumTip: GWEI / 100n,
    stallSeconds: 180,
    explorerTxUrl: 'https://etherscan.io/tx/{txHash}',
  },
  {
    family: 'evm',
    chainId: '31337',
    name: 'local',
    nativeSymbol: 'ETH',
    blockSeconds: 1,
    finality: FINALITY.local,
    minimumTip: GWEI,
    stallSeconds: 30,
    explorerTxUrl: 'http://127.0.0.1:3000/explorer/local/tx/{txHash}',
  },
];

/** A network nobody described: treated as an unknown public chain, with cautious figures. */
const UNKNOWN = { minimumTip: GWEI, stallSeconds: 180 };

/** What the adapters need to know of a network beyond its configuration. */
export function profileOf(family: Family, chainId: string): Pick<NetworkProfile, 'minimumTip' | 'stallSeconds'> {
  return NETWORKS.find((network) => network.family === family && network.chainId === chainId) ?? UNKNOWN;
}
