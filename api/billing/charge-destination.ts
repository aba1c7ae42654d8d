import type { Deps } from '#api/deps.ts';
import { lockBalances, post } from '#api/ledger/post.ts';
import { findAsset, findAssetByContract } from '#api/store/assets.ts';
import { drawForCharges, insertCharge } from '#api/store/charges.ts';
import { readBalance } from '#api/store/ledger.ts';
import type { StoredPayout } from '#api/store/payouts.ts';
import { findSettlementQuote } from '#api/store/settlement-fees.ts';
import type { StoredSettlement } from '#api/store/settlements.ts';
import { Invariant } from '#shared/core/errors.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import { amount, type Coins, formatAmount } from '#shared/core/money.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { gatewayAccount, systemAccount, withdrawableAccount } from '#state-machines/ledger/accounts.ts';
import { charge } from '#state-machines/ledger/postings.ts';
import { chargeOf, destinationShare } from '#state-machines/settlement/destination-cost.ts';
import { knownPrice } from './known-price.ts';

/**
 * Charges a gateway what the destination of its cashout made a final transaction cost beyond what was locked: gas above the quote, or
 * one that was mined and moved nothing (decisions 10). Taken from its available balance of the asset; what that does not hold is owed, and
 * collected from its next credits. What the cashout reserves stays the recipient's. Once per payout. `units` are those of the bytes that were mined.
 * The caller holds the settlement's lock; locks ledger accounts of the asset, then credits.
 */
export async function chargeDestination(
  tx: Tx,
  deps: Deps,
  settlement: StoredSettlement,
  { payout, units, rawFee, failed }: { payout: StoredPayout; units: bigint | null; rawFee: bigint; failed: boolean },
): Promise<void> {
  const { gatewayId, assetId, id: settlementId } = settlement;
  const quote = await findSettlementQuote(tx, settlementId);
  // Nothing was locked for what the platform pays: it accrues what it really cost, whoever caused it.
  if (quote === undefined) return;
  const rawNative = destinationShare({ rawFee, failed, units, quotedUnits: quote.units ?? null });
  if (rawNative === 0n) return;
  // What an issuer stops is no destination's doing.
  if (failed && (await findAsset(tx, assetId))?.issuerStopped === true) return;
  const native = await findAssetByContract(tx, settlement.networkId, null);
  if (native === undefined) throw new Invariant(`network ${settlement.networkName} has no native asset`);
  const nativePrice = await knownPrice(tx, deps, native.symbol);
  const assetPrice = settlement.contract === null ? nativePrice : await knownPrice(tx, deps, settlement.assetSymbol);
  const charged = chargeOf({
    raw: rawNative,
    nativeDecimals: native.decimals,
    assetDecimals: settlement.decimals,
    native: settlement.contract === null,
    nativePriceUsd: nativePrice?.usd ?? null,
    assetPriceUsd: assetPrice?.usd ?? null,
    lock: settlement.feeLocked === null ? null : { coins: settlement.feeLocked, rawFee: quote.rawFee },
  });
  if (charged === null || charged === 0n) return;
  const id = uuidFrom(deps.randomBytes(16));
  const prices = { assetPriceUsd: assetPrice?.usd ?? null, nativePriceUsd: nativePrice?.usd ?? null };
  const cause = failed ? 'failed' : 'units';
  if (!(await insertCharge(tx, { id, gatewayId, settlementId, payoutId: payout.id, cause, assetId, amount: charged, rawNative, ...prices }))) return;
  const paid = await takeAvailable(tx, { gatewayId, assetId }, charged);
  const owed = amount<'asset'>(charged - paid);
  await post(tx, { sourceKey: `charge:${id}`, kind: 'charge', postings: charge({ gatewayId, assetId, paid, owed }) });
  crashPoint('charge.posted');
  deps.metrics?.destinationCharges.inc({ chain: settlement.networkName, cause });
  deps.log.warn(
    { settlement: settlementId, gateway: gatewayId, payout: payout.id, cause, charged: formatAmount(charged), owed: formatAmount(owed) },
    'a destination cost more than was locked for it: its gateway is charged',
  );
}

/** Draws as much of a sum as the available balance holds, and answers how much; the postings are the caller's. */
async function takeAvailable(tx: Tx, { gatewayId, assetId }: { gatewayId: string; assetId: string }, total: Coins): Promise<Coins> {
  const available = { ...withdrawableAccount('green', gatewayId), assetId };
  await lockBalances(tx, [available, { ...gatewayAccount('owed', gatewayId), assetId }, { ...systemAccount('gas'), assetId }]);
  const holds = await readBalance(tx, available);
  const paid = amount<'asset'>(holds < total ? holds : total);
  if (paid > 0n) await drawForCharges(tx, { gatewayId, assetId, pool: 'green', total: paid });
  return paid;
}
