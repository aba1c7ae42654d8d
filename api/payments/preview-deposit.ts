import type { Deps } from '#api/deps.ts';
import { findAsset, type StoredAsset } from '#api/store/assets.ts';
import { readClock } from '#api/store/clock.ts';
import type { Offer } from '#api/store/payment-offers.ts';
import { invalid } from '#shared/core/errors.ts';
import { type Coins, formatAmount, formatCents, parseAmount, toUnits } from '#shared/core/money.ts';
import { isDust, type Judged, judgeDeposit } from '#state-machines/payment/judge-deposit.ts';
import type { Draft } from './create-draft.ts';
import { depositFees } from './deposit-fees.ts';
import { judgedPayment } from './judged-payment.ts';

/** A hypothetical deposit. */
export interface WhatIf {
  assetId: string;
  amount: string;
}

/**
 * What a deposit would do to a payment if it arrived now, in time and alone, by the same judgement and fees as a real one (contract 3.1; decisions
 * 3, 11).
 * An offered asset counts as selected. Any other counts as a wrong asset for the first offer on its network.
 * @throws validation_error naming the field
 */
export async function previewDeposit(deps: Deps, draft: Draft, whatIf: WhatIf): Promise<object> {
  const asset = await findAsset(deps.db.sql, whatIf.assetId);
  if (asset === undefined) throw invalid('whatIf.assetId', 'is not an asset of this service');
  const received = readCoins(whatIf.amount, asset);
  const described = { assetSymbol: asset.symbol, network: asset.networkName };
  const own = draft.offers.find((offer) => offer.assetId === asset.id);
  const selected = own ?? draft.offers.find((offer) => offer.networkId === asset.networkId);
  if (selected === undefined) return { status: 'PENDING', rule: 'network_not_offered', ...described };
  if (isDust(received, asset.dustFloor)) return { status: 'PENDING', rule: 'dust', ...described };

  const judged = await judge(deps, draft, { asset, received, selected });
  if ('needs' in judged) return { status: 'PENDING', rule: 'waits_for_price', ...described };
  const fees = depositFees(draft.payment, draft.offers, { asset, gross: received, judged, networkFeePaid: false });
  return {
    status: judged.verdict,
    rule: judged.rule,
    ...described,
    judgedByAssetId: selected.assetId,
    priceUsd: formatAmount(judged.priceUsd),
    receivedUsd: formatCents(judged.receivedUsd),
    expectedUsd: formatCents(judged.expectedUsd),
    ...(judged.deviationUsd !== null && { deviationUsd: formatCents(judged.deviationUsd) }),
    txFee: formatAmount(fees.networkFee),
    commissionFee: formatAmount(fees.commission),
    credited: formatAmount(fees.net),
  };
}

/** An amount with more decimals than the asset has could not exist on the chain. */
function readCoins(text: string, asset: StoredAsset): Coins {
  const coins = parseAmount<'asset'>(text, 'whatIf.amount');
  if (coins <= 0n) throw invalid('whatIf.amount', 'must be greater than 0');
  if (toUnits(coins, asset.decimals) === undefined) throw invalid('whatIf.amount', `has more decimals than ${asset.symbol}, which has ${asset.decimals}`);
  return coins;
}

async function judge(deps: Deps, { payment }: Draft, { asset, received, selected }: { asset: StoredAsset; received: Coins; selected: Offer }): Promise<Judged> {
  const [market, { now }] = await Promise.all([deps.prices.fresh(asset.symbol), readClock(deps.db.sql)]);
  const inTime = { ...payment, expiresAt: new Date(now.getTime() + 1) };
  return judgeDeposit(judgedPayment(inTime, 'PENDING', [{ ...selected, selectedAt: now }]), {
    assetId: asset.id,
    received,
    firstSeenAt: now.getTime(),
    confirmedAt: now.getTime(),
    marketPriceUsd: market?.usd ?? null,
    byInquiry: false,
  });
}
