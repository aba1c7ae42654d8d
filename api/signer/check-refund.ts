import { isOrderedRefund } from '#api/aml/refund-mac.ts';
import type { Chain, Deps } from '#api/deps.ts';
import { findRefund } from '#api/store/aml-refunds.ts';
import { readBalance } from '#api/store/ledger.ts';
import { listRefundFamilies, type StoredPayout } from '#api/store/payouts.ts';
import { isOwnAddress, type StoredWallet } from '#api/store/wallets.ts';
import { isColdAddress } from '#api/treasury/cold.ts';
import { toUnits } from '#shared/core/money.ts';
import { masterKeys } from '#shared/platform/key-ring.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import { gatewayAccount } from '#state-machines/ledger/accounts.ts';
import { checkEarlierFamilies } from './check-family.ts';

/**
 * What in a payout contradicts the refund it says it pays, or null: the order must carry the MAC it was given, be unpaid, and be
 * paid from the held wallet, whose pool it was taken out of (reliability D15). Locks nothing.
 */
export async function refundMismatch(deps: Deps, sql: Reads, chain: Chain, payout: StoredPayout, wallet: StoredWallet): Promise<string | null> {
  const refund = payout.refundId === null ? undefined : await findRefund(sql, payout.refundId);
  if (refund === undefined || !isOrderedRefund(masterKeys(deps.config), refund)) return 'nobody ordered its refund';
  if (refund.status !== 'ordered') return `its refund is ${refund.status}`;
  if (wallet.role !== 'held') return 'its wallet does not pay refunds';
  if (refund.networkId !== chain.id || refund.assetId !== payout.assetId) return 'its asset is not the refund’s';
  if (refund.recipient !== payout.recipient) return 'its destination is not the refund’s';
  if (isColdAddress(deps, chain.config.family, payout.recipient) || (await isOwnAddress(sql, chain.config.family, payout.recipient)))
    return 'its destination is one of our own addresses';
  if (toUnits(refund.amount, payout.decimals) !== payout.rawAmount) return 'its amount is not the refund’s';
  const earlier = await checkEarlierFamilies(sql, chain, payout, await listRefundFamilies(sql, refund.id));
  if ('problem' in earlier) return earlier.problem;
  const set = await readBalance(sql, { ...gatewayAccount('refunding', refund.gatewayId), assetId: refund.assetId });
  return set >= refund.amount ? null : 'the ledger does not hold the refund';
}
