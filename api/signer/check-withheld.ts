import type { Chain, Deps } from '#api/deps.ts';
import { withheldProblem } from '#api/intents/held-order.ts';
import type { Unproven } from '#api/intents/say.ts';
import { readBalance } from '#api/store/ledger.ts';
import { listWithheldPayouts, type StoredPayout } from '#api/store/payouts.ts';
import { isOwnAddress, type StoredWallet } from '#api/store/wallets.ts';
import { findWithheldTransfer } from '#api/store/withheld-transfers.ts';
import { toUnits } from '#shared/core/money.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import { gatewayAccount } from '#state-machines/ledger/accounts.ts';
import { checkEarlierPayouts } from './check-earlier.ts';

/**
 * How a payout contradicts the transfer of withheld coins it carries out, or why that transfer is not proven; null when neither (reliability D15).
 * The http role must have stated that two people ordered the transfer this way. The transfer must be unpaid, and the held wallet must pay it,
 * because withheld coins lie there. Locks nothing.
 */
export async function withheldMismatch(deps: Deps, sql: Reads, chain: Chain, payout: StoredPayout, wallet: StoredWallet): Promise<string | Unproven | null> {
  const transfer = payout.withheldId === null ? undefined : await findWithheldTransfer(sql, payout.withheldId);
  if (transfer === undefined || transfer.id !== payout.withheldId) return 'its transfer of withheld coins does not exist';
  const { contract, decimals } = payout;
  const unproven = await withheldProblem(sql, deps, transfer, { network: chain.config.name, contract, decimals });
  if (unproven !== null) return unproven;
  if (transfer.status !== 'ordered') return `its transfer of withheld coins is ${transfer.status}`;
  if (wallet.role !== 'held') return 'its wallet does not hold withheld coins';
  if (transfer.networkId !== chain.id || transfer.assetId !== payout.assetId) return 'its asset is not that of the withheld coins';
  if (transfer.recipient !== payout.recipient) return 'its destination is not that of the withheld coins';
  if (await isOwnAddress(sql, chain.config.family, payout.recipient)) return 'its destination is one of our own addresses';
  if (toUnits(transfer.amount, payout.decimals) !== payout.rawAmount) return 'its amount is not that of the withheld coins';
  const earlier = await checkEarlierPayouts(sql, chain, payout, await listWithheldPayouts(sql, transfer.id));
  if ('problem' in earlier) return earlier.problem;
  const kept = await readBalance(sql, { ...gatewayAccount('withheld', transfer.gatewayId), assetId: transfer.assetId });
  return kept >= transfer.amount ? null : 'the ledger does not hold the withheld coins';
}
