import type { NetworkConfig } from '#shared/core/assets.ts';
import type { Transfer } from '#shared/core/chain-events.ts';
import { profileOf } from './networks.ts';

/** Polygon and its test network: what a state sync hands over at the end of a block is in no root of its header. */
const STATE_SYNCED = new Set(['137', '80002']);

/**
 * Whether the hash of its block proves a transfer: the root of the transactions or of the receipts in the block's header covers all of it,
 * so that two who tell the same hash have told the same transfer. Of TRON no root covers logs and what contracts pass on, and a block may
 * hold bytes that its JSON does not show: nothing of it counts as covered. Pure.
 */
export function rootCovers(network: Pick<NetworkConfig, 'family' | 'chainId' | 'coinLogs'>, { kind }: Pick<Transfer, 'kind'>): boolean {
  if (network.family !== 'evm') return network.family === 'bitcoin';
  if (kind === 'native') return true;
  if (STATE_SYNCED.has(network.chainId) || !profileOf('evm', network.chainId).provesReceipts) return false;
  return kind === 'token' || network.coinLogs === true;
}
