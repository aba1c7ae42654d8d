import type { NetworkConfig } from '#shared/core/assets.ts';
import type { Transfer } from '#shared/core/chain-events.ts';

/**
 * Whether a block's hash proves a transfer: a root in the header, of the transactions or of the receipts, covers all of it, so two providers that
 * report the same hash report the same transfer. Pure.
 * On TRON nothing counts as covered: no root covers logs and internal transfers, and a block may hold bytes that its JSON does not show. A transfer
 * that a reader found uncovered is marked separately (`unproven`).
 */
export function rootCovers(network: Pick<NetworkConfig, 'family' | 'coinLogs'>, { kind }: Pick<Transfer, 'kind'>): boolean {
  if (network.family !== 'evm') return network.family === 'bitcoin';
  return kind !== 'internal' || network.coinLogs === true;
}
