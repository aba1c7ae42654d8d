import { amount, type Coins, fromUnits, mulDiv, SCALE, type Usd } from '#shared/core/money.ts';

/**
 * The part of a transaction's fee that its destination caused, in native units (decisions 10): all of it when the transaction moved nothing;
 * otherwise the share for the units it took beyond the quote. A higher price per unit is not the destination's doing. Pure; rounded down.
 */
export function destinationShare(fee: { rawFee: bigint; failed: boolean; units: bigint | null; quotedUnits: bigint | null }): bigint {
  const { rawFee, failed, units, quotedUnits } = fee;
  if (failed) return rawFee;
  if (units === null || quotedUnits === null || units <= quotedUnits) return 0n;
  return (rawFee * (units - quotedUnits)) / units;
}

/**
 * Native units to convert into the asset that was to be paid out: at the two prices if both are known, otherwise in the ratio that was locked for
 * the quote.
 */
export interface Conversion {
  raw: bigint;
  nativeDecimals: number;
  assetDecimals: number;
  /** The asset is the native coin itself. */
  native: boolean;
  nativePriceUsd: Usd | null;
  assetPriceUsd: Usd | null;
  /** What was locked, and for how much of the native coin; null where nothing was. */
  lock: { coins: Coins; rawFee: bigint } | null;
}

/** The amount to charge, rounded down at the asset's decimals; null when its value cannot be determined. Pure. */
export function chargeOf(c: Conversion): Coins | null {
  if (c.native) return fromUnits(c.raw, c.nativeDecimals);
  const step = 10n ** BigInt(SCALE - c.assetDecimals);
  if (c.nativePriceUsd !== null && c.assetPriceUsd !== null && c.assetPriceUsd > 0n)
    return amount(mulDiv(fromUnits(c.raw, c.nativeDecimals), c.nativePriceUsd, c.assetPriceUsd * step, 'down') * step);
  if (c.lock === null || c.lock.rawFee <= 0n) return null;
  return amount(mulDiv(c.lock.coins, c.raw, c.lock.rawFee * step, 'down') * step);
}
