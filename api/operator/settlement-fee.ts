import { findSettlementFee } from '#api/store/settlement-fees.ts';
import { formatAmount } from '#shared/core/money.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import { compareFees } from '#state-machines/settlement/network-fee.ts';

/** A settled cashout's network fee as the operator sees it: locked, actual and their difference, in the native asset and in dollars. */
export interface SettlementFeeView {
  payer: 'MERCHANT' | 'PLATFORM';
  lockedAsset: string;
  locked: string;
  nativeAsset: string;
  lockedNative: string | null;
  actualNative: string;
  differenceNative: string | null;
  lockedUsd: string | null;
  actualUsd: string | null;
  differenceUsd: string | null;
  /** What was known when it settled, each with its age then. */
  prices: { symbol: string; usd: string; takenAt: Date; ageSeconds: number }[];
}

/** Reads the fee of a settled cashout; null before it is settled. Locks nothing. */
export async function settlementFeeView(sql: Reads, settlementId: string): Promise<SettlementFeeView | null> {
  const fee = await findSettlementFee(sql, settlementId);
  if (fee === undefined) return null;
  const { assetPrice, nativePrice, ...rest } = fee;
  const compared = compareFees({ ...rest, assetPriceUsd: assetPrice?.usd ?? null, nativePriceUsd: nativePrice?.usd ?? null });
  const known = [...(fee.native ? [] : [{ symbol: fee.assetSymbol, price: assetPrice }]), { symbol: fee.nativeSymbol, price: nativePrice }];
  return {
    payer: fee.payer,
    lockedAsset: fee.assetSymbol,
    locked: formatAmount(fee.locked),
    nativeAsset: fee.nativeSymbol,
    lockedNative: text(compared.lockedNative),
    actualNative: formatAmount(compared.actualNative),
    differenceNative: text(compared.differenceNative),
    lockedUsd: text(compared.lockedUsd),
    actualUsd: text(compared.actualUsd),
    differenceUsd: text(compared.differenceUsd),
    prices: known.flatMap(({ symbol, price }) =>
      price === null
        ? []
        : [{ symbol, usd: formatAmount(price.usd), takenAt: price.at, ageSeconds: Math.round((fee.settledAt.getTime() - price.at.getTime()) / 1_000) }],
    ),
  };
}

function text(value: bigint | null): string | null {
  return value === null ? null : formatAmount(value);
}
