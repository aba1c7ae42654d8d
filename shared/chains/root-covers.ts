import type { NetworkConfig } from '#shared/core/assets.ts';
import type { Transfer } from '#shared/core/chain-events.ts';

/**
 * Whether the hash of its block proves a transfer: the root of the transactions or of the receipts in the block's header covers all of it,
 * so that two who tell the same hash have told the same transfer. Of TRON no root covers logs and what contracts pass on, and a block may
 * hold bytes that its JSON does not show: nothing of it counts as covered. What a reader found uncovered says so itself (`unproven`). Pure.
 */
export function rootCovers(network: Pick<NetworkConfig, 'family' | 'coinLogs'>, { kind }: Pick<Transfer, 'kind'>): boolean {
  if (network.family !== 'evm') return network.family === 'bitcoin';
  return kind !== 'internal' || network.coinLogs === true;
}
