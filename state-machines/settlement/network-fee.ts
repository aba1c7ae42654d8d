import { Invariant } from '#shared/core/errors.ts';
import { amount, type Coins, fromUnits, mulDiv, SCALE, type Usd } from '#shared/core/money.ts';

/** What a cashout's network fee depends on. */
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

/** A monthly-billed gateway pays nothing for a token cashout; native coins still pay their own fee (contract 4.3). */
export function isFreeCashout(billing: 'STANDARD' | 'MONTHLY' | 'PLATFORM', assetType: 'NATIVE' | 'ERC20' | 'TRC20' | 'BEP20'): boolean {
  return billing === 'MONTHLY' && assetType !== 'NATIVE';
}
