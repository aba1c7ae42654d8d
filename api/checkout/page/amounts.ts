import { type Coins, coinsToUsd, formatAmount, formatCents, parseTrusted, usdToCoins } from '#shared/core/money.ts';

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

/** What coins are worth at a price, in dollars and whole cents. @throws Invariant when one of them is no decimal */
export function inDollars(amount: string, priceUsd: string): string {
  return formatCents(coinsToUsd(parseTrusted(amount), parseTrusted(priceUsd), 'half-up'));
}

/** The sum of two amounts of the same coin. @throws Invariant when one of them is no decimal */
export function sumOf(a: string, b: string): string {
  return formatAmount((parseTrusted<'asset'>(a) + parseTrusted<'asset'>(b)) as Coins);
}

/** How far `amount` is from `wanted`, without a sign. @throws Invariant when one of them is no decimal */
export function distance(amount: string, wanted: string): string {
  const apart = parseTrusted<'asset'>(amount) - parseTrusted<'asset'>(wanted);
  return formatAmount((apart < 0n ? -apart : apart) as Coins);
}

/** Orders two amounts of dollars, the smaller first. @throws Invariant when one of them is no decimal */
export function bySize(a: string, b: string): number {
  const [left, right] = [parseTrusted<'usd'>(a), parseTrusted<'usd'>(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}
