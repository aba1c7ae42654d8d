import type { Deps } from '#api/deps.ts';
import { insertFreeze } from '#api/store/freezes.ts';
import type { DoublePayout } from '#api/store/payout-tending.ts';
import { haltWallet } from '#api/store/wallets.ts';
import type { Tx } from '#shared/platform/postgres.ts';

/**
 * Stops everything when a second attempt of one payout turns up in a block: what was proven impossible happened, so nothing
 * that rests on the same proof may go on (reliability I15, D14). Says so once. Locks the wallet and the freeze.
 */
export async function stopDoublePayout(tx: Tx, deps: Deps, network: { networkName: string }, twice: DoublePayout): Promise<void> {
  const reason = `payout ${twice.id} is on the chain more than once: ${twice.txids.join(', ')}`;
  const halted = await haltWallet(tx, twice.walletId, reason);
  const frozen = await insertFreeze(tx, { scope: `network:${network.networkName}`, reason });
  if (halted || frozen) deps.log.fatal({ network: network.networkName, payout: twice.id, txids: twice.txids }, 'a payout was made twice');
}
