import { amount, type Coins, fromUnits, mulDiv, SCALE, type Usd } from '#shared/core/money.ts';

/**
 * What of a transaction's fee its destination caused, native units: all of one that moved nothing; of one that paid, the share of the
 * units it took beyond what was quoted (decisions 10). A mere rise of the price per unit is not its doing. Pure; rounded down.
 */
export function destinationShare(fee: { rawFee: bigint; failed: boolean; units: bigint | null; quotedUnits: bigint | null }): bigint {
  const { rawFee, failed, units, quotedUnits } = fee;
  if (failed) return rawFee;
  if (units === null || quotedUnits === null || units <= quotedUnits) return 0n;
  return (rawFee * (units - quotedUnits)) / units;
}

/** Native units in the asset that was to be paid out. Where two prices are known, at them; else in the ratio of what was locked for the quote. */
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

/** What is charged for it, rounded down at the asset's decimals; null where nothing tells what it is worth. Pure. */
export function chargeOf(c: Conversion): Coins | null {
  if (c.native) return fromUnits(c.raw, c.nativeDecimals);
  const step = 10n ** BigInt(SCALE - c.assetDecimals);
  if (c.nativePriceUsd !== null && c.assetPriceUsd !== null && c.assetPriceUsd > 0n)
    return amount(mulDiv(fromUnits(c.raw, c.nativeDecimals), c.nativePriceUsd, c.assetPriceUsd * step, 'down') * step);
  if (c.lock === null || c.lock.rawFee <= 0n) return null;
  return amount(mulDiv(c.lock.coins, c.raw, c.lock.rawFee * step, 'down') * step);
}
