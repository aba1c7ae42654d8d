import type { Deps } from '#api/deps.ts';
import { insertFreeze } from '#api/store/freezes.ts';
import type { DoublePayout } from '#api/store/payout-attempts.ts';
import { haltWallet } from '#api/store/wallets.ts';
import type { Tx } from '#shared/platform/postgres.ts';

/** As `stopPayout`, when a second attempt of one payout turns up in a block. */
export function stopDoublePayout(tx: Tx, deps: Deps, network: { networkName: string }, twice: DoublePayout): Promise<void> {
  return stopPayout(tx, deps, network, { ...twice, reason: `payout ${twice.id} is on the chain more than once: ${twice.txids.join(', ')}` });
}

/**
 * Stops everything when a payout took effect that was proven never to, because nothing that rests on the same proof may go on (reliability I15,
 * D14). Reports it once. Locks the wallet and the freeze.
 */
export async function stopPayout(
  tx: Tx,
  deps: Deps,
  network: { networkName: string },
  payout: { id: string; walletId: string; reason: string },
): Promise<void> {
  const { reason } = payout;
  const halted = await haltWallet(tx, payout.walletId, reason);
  const frozen = await insertFreeze(tx, { scope: `network:${network.networkName}`, reason });
  if (halted || frozen) deps.log.fatal({ network: network.networkName, payout: payout.id, reason }, 'a payout was made that must not have been');
}
