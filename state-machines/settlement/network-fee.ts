import { Invariant } from '#shared/core/errors.ts';
import { amount, type Coins, coinsToUsd, fromUnits, mulDiv, SCALE, type Usd, zero } from '#shared/core/money.ts';

/** The facts that decide a cashout's network fee. */
export interface FeeQuestion {
  /** The most its transaction can cost, in the network's native chain units. */
  rawGasFee: bigint;
  nativeDecimals: number;
  nativePriceUsd: Usd;
  assetPriceUsd: Usd;
  assetDecimals: number;
}

/**
 * The network fee of a token cashout in the token itself: gas × native price ÷ token price, rounded up at the token's
 * decimals so that the fee always covers the gas (contract 2.10).
 */
export function tokenFee(q: FeeQuestion): Coins {
  if (q.assetPriceUsd <= 0n || q.nativePriceUsd <= 0n) throw new Invariant('a token fee needs two prices above zero');
  const step = 10n ** BigInt(SCALE - q.assetDecimals);
  return amount(mulDiv(fromUnits(q.rawGasFee, q.nativeDecimals), q.nativePriceUsd, q.assetPriceUsd * step, 'up') * step);
}

/** The network fee of a native-coin cashout: the gas itself. */
export function nativeFee(rawGasFee: bigint, nativeDecimals: number): Coins {
  return fromUnits(rawGasFee, nativeDecimals);
}

/** The network fee of a settled cashout as locked and as paid, in the native asset and in dollars. */
export interface FeeComparison {
  /** What the claim locked, in the native asset; null where one of the two prices needed is not known. */
  lockedNative: Coins | null;
  actualNative: Coins;
  /** Locked less actual; below zero where the platform paid on top. */
  differenceNative: bigint | null;
  lockedUsd: Usd | null;
  actualUsd: Usd | null;
  differenceUsd: bigint | null;
}

/** A fee as locked in the asset paid out and as paid in the native asset, with the prices of both; null where there was no fee. */
export interface SettledFee {
  locked: Coins;
  actual: Coins;
  /** Whether the native asset itself was paid out. */
  native: boolean;
  nativeDecimals: number;
  assetPriceUsd: Usd | null;
  nativePriceUsd: Usd | null;
}

/** Compares a locked fee with the actual one, rounding half-up: dollars at 18 places, coins at the native asset's decimals. For information only. */
export function compareFees({ locked, actual, native, nativeDecimals, assetPriceUsd, nativePriceUsd }: SettledFee): FeeComparison {
  const lockedUsd = assetPriceUsd === null ? null : coinsToUsd(locked, assetPriceUsd, 'half-up');
  const actualUsd = nativePriceUsd === null ? null : coinsToUsd(actual, nativePriceUsd, 'half-up');
  const lockedNative = native ? locked : inNative(locked, assetPriceUsd, nativePriceUsd, nativeDecimals);
  return {
    lockedNative,
    actualNative: actual,
    differenceNative: lockedNative === null ? null : lockedNative - actual,
    lockedUsd,
    actualUsd,
    differenceUsd: lockedUsd === null || actualUsd === null ? null : lockedUsd - actualUsd,
  };
}

function inNative(locked: Coins, assetPriceUsd: Usd | null, nativePriceUsd: Usd | null, nativeDecimals: number): Coins | null {
  if (locked === 0n) return zero;
  if (assetPriceUsd === null || nativePriceUsd === null || nativePriceUsd <= 0n) return null;
  const step = 10n ** BigInt(SCALE - nativeDecimals);
  return amount(mulDiv(locked, assetPriceUsd, nativePriceUsd * step, 'half-up') * step);
}

/** Who pays the network fee of a cashout. The claim stores it, so a later change of the gateway's arrangement does not affect it. */
export function networkFeePayer(billing: 'STANDARD' | 'MONTHLY' | 'PLATFORM', assetType: 'NATIVE' | 'ERC20' | 'TRC20' | 'BEP20'): 'MERCHANT' | 'PLATFORM' {
  return isFreeCashout(billing, assetType) ? 'PLATFORM' : 'MERCHANT';
}

/** A monthly-billed gateway pays nothing for a token cashout; native coins still pay their own fee (contract 4.3). */
export function isFreeCashout(billing: 'STANDARD' | 'MONTHLY' | 'PLATFORM', assetType: 'NATIVE' | 'ERC20' | 'TRC20' | 'BEP20'): boolean {
  return billing === 'MONTHLY' && assetType !== 'NATIVE';
}
