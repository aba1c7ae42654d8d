import type { Chain, Deps } from '#api/deps.ts';
import { refundProblem } from '#api/intents/held-order.ts';
import type { Unproven } from '#api/intents/say.ts';
import { findRefund } from '#api/store/aml.ts';
import { readBalance } from '#api/store/ledger.ts';
import { listRefundPayouts, type StoredPayout } from '#api/store/payouts.ts';
import { isOwnAddress, type StoredWallet } from '#api/store/wallets.ts';
import { isColdAddress } from '#api/payouts/rules/cold.ts';
import { toUnits } from '#shared/core/money.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import { gatewayAccount } from '#state-machines/ledger/accounts.ts';
import { checkEarlierPayouts } from './check-earlier.ts';

/**
 * How a payout contradicts the refund it pays, or why the refund is not proven; null when neither (reliability D15).
 * The http role must have stated that the refund was ordered this way. The refund must be unpaid, and the held wallet must pay it, because the
 * coins were taken out of the held pool. Locks nothing.
 */
export async function refundMismatch(deps: Deps, sql: Reads, chain: Chain, payout: StoredPayout, wallet: StoredWallet): Promise<string | Unproven | null> {
  const refund = payout.refundId === null ? undefined : await findRefund(sql, payout.refundId);
  if (refund === undefined || refund.id !== payout.refundId) return 'its refund does not exist';
  const { contract, decimals } = payout;
  const unproven = await refundProblem(sql, deps, refund, { network: chain.config.name, contract, decimals });
  if (unproven !== null) return unproven;
  if (refund.status !== 'ordered') return `its refund is ${refund.status}`;
  if (wallet.role !== 'held') return 'its wallet does not pay refunds';
  if (refund.networkId !== chain.id || refund.assetId !== payout.assetId) return 'its asset is not the refund’s';
  if (refund.recipient !== payout.recipient) return 'its destination is not the refund’s';
  if (isColdAddress(deps, chain.config.family, payout.recipient) || (await isOwnAddress(sql, chain.config.family, payout.recipient)))
    return 'its destination is one of our own addresses';
  if (toUnits(refund.amount, payout.decimals) !== payout.rawAmount) return 'its amount is not the refund’s';
  const earlier = await checkEarlierPayouts(sql, chain, payout, await listRefundPayouts(sql, refund.id));
  if ('problem' in earlier) return earlier.problem;
  const set = await readBalance(sql, { ...gatewayAccount('refunding', refund.gatewayId), assetId: refund.assetId });
  return set >= refund.amount ? null : 'the ledger does not hold the refund';
}
