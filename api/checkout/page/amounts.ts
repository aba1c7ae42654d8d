import { formatAmount, parseTrusted, usdToCoins } from '#shared/core/money.ts';

/** An amount of coins for people: the very characters that are copied, in every language (ux C3, 3). */
export function formatCrypto(amount: string): string {
  return amount;
}

/** True for `0`, `0.00` and the like. */
export function isZero(amount: string): boolean {
  return /^[0.]*$/.test(amount);
}

/** Decimal places that a figure has which is only about right. */
const ROUGH_PLACES = 8;

/**
 * About what an open amount's minimum comes to in a coin now, rounded up so that it is never too little (ux S1o).
 * @throws Invariant when one of them is no decimal, or the price is zero
 */
export function minimumInAsset(minimumUsd: string, priceUsd: string, decimals: number): string {
  return formatAmount(usdToCoins(parseTrusted(minimumUsd), parseTrusted(priceUsd), Math.min(decimals, ROUGH_PLACES), 'up'));
}
