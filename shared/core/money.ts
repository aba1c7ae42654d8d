import { Invariant, invalid } from './errors.ts';

declare const unit: unique symbol;

/**
 * An 18-place fixed-point integer, branded by what it counts, so that dollars are never added to coins. `Amount<'usd'>` 1_500000000000000000n is
 * 1.5 US dollars (decisions 1).
 */
export type Amount<U extends 'usd' | 'asset'> = bigint & { readonly [unit]: U };
export type Usd = Amount<'usd'>;
export type Coins = Amount<'asset'>;
export type Rounding = 'down' | 'up' | 'half-up';

/** Decimal places of every amount inside the service. */
export const SCALE = 18;
export const ONE = 10n ** 18n;
/** Powers of ten. */
const TENS = Array.from({ length: SCALE + 1 }, (_, power) => 10n ** BigInt(power));
const PATTERN = /^(0|[1-9]\d{0,37})(\.\d{1,18})?$/;
const DECIMAL = /^-?\d+(?:\.\d*)?$/;
const ZERO = 48;
/** Longest accepted money string; checked before parsing, so that a huge number costs nothing (decisions 1). */
export const MAX_MONEY_LENGTH = 57;
/** The money format has at most 38 integer digits; an amount from this value on could not be written. */
export const MONEY_LIMIT = 10n ** 38n * ONE;

/** Brands a scaled integer; only for code that already holds 18-place integers (SQL reads, arithmetic). */
export function amount<U extends 'usd' | 'asset'>(scaled: bigint): Amount<U> {
  return scaled as Amount<U>;
}

export const zero = 0n as Amount<never> as Amount<'usd'> & Amount<'asset'>;

/** Whether `text` is a money string that the service accepts: no sign, exponent, spaces or leading zeros (decisions 1). */
export function isMoney(text: string): boolean {
  return text.length <= MAX_MONEY_LENGTH && PATTERN.test(text);
}

/**
 * Reads a money string exactly.
 * @throws validation_error naming `field` when the text is not one
 */
export function parseAmount<U extends 'usd' | 'asset'>(text: string, field: string): Amount<U> {
  if (typeof text !== 'string' || !isMoney(text)) throw invalid(field, 'must be a decimal string such as "10.50", with up to 18 decimal places');
  return parseTrusted<U>(text);
}

/** Reads a decimal that this deployment wrote itself (a column, a constant); a leading minus is allowed. */
export function parseTrusted<U extends 'usd' | 'asset'>(text: string): Amount<U> {
  if (!DECIMAL.test(text)) throw new Invariant(`not a decimal: ${text.slice(0, 60)}`);
  const point = text.indexOf('.');
  if (point === -1) return amount(BigInt(text) * ONE);
  const digits = point + 1 + SCALE < text.length ? withoutZeros(text, point + 1) : text;
  const places = digits.length - point - 1;
  if (places > SCALE) throw new Invariant(`more than ${SCALE} decimal places: ${text.slice(0, 100)}`);
  return amount(BigInt(digits.slice(0, point) + digits.slice(point + 1)) * (TENS[SCALE - places] as bigint));
}

/** Writes an amount as the shortest exact decimal string: `1.5`, `0`, `-0.01`. */
export function formatAmount(value: bigint): string {
  const sign = value < 0n ? '-' : '';
  const digits = (value < 0n ? -value : value).toString().padStart(SCALE + 1, '0');
  const point = digits.length - SCALE;
  const shortest = withoutZeros(digits, point);
  return shortest.length === point ? sign + shortest : `${sign}${shortest.slice(0, point)}.${shortest.slice(point)}`;
}

/** Without the zeros at its end, but for what stands before `from`. */
function withoutZeros(digits: string, from: number): string {
  let end = digits.length;
  while (end > from && digits.charCodeAt(end - 1) === ZERO) end -= 1;
  return digits.slice(0, end);
}

/** Writes US dollars for people, rounded half-up to cents: `99.00`. */
export function formatCents(value: Usd): string {
  const rounded = toCents(value) / 10n ** 16n;
  const digits = (rounded < 0n ? -rounded : rounded).toString().padStart(3, '0');
  return `${rounded < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** `a × b ÷ d` in integers with a single rounding; `half-up` rounds halves away from zero. */
export function mulDiv(a: bigint, b: bigint, d: bigint, rounding: Rounding): bigint {
  if (d <= 0n) throw new Invariant('division by a number that is not positive');
  const product = a * b;
  const negative = product < 0n;
  const magnitude = negative ? -product : product;
  let quotient = magnitude / d;
  const rest = magnitude % d;
  if (rest !== 0n && (rounding === 'half-up' ? rest * 2n >= d : (rounding === 'up') !== negative)) quotient += 1n;
  return negative ? -quotient : quotient;
}

/** Rounds to `places` decimals. */
export function roundTo<U extends 'usd' | 'asset'>(value: Amount<U>, places: number, rounding: Rounding): Amount<U> {
  const step = 10n ** BigInt(SCALE - places);
  return amount(mulDiv(value, 1n, step, rounding) * step);
}

/** US dollars rounded half-up to whole cents, still 18-place (decisions 1). */
export function toCents(value: Usd): Usd {
  return roundTo(value, 2, 'half-up');
}

/** The dollar value of `coins` at `priceUsd` dollars each. */
export function coinsToUsd(coins: Coins, priceUsd: Usd, rounding: Rounding): Usd {
  return amount(mulDiv(coins, priceUsd, ONE, rounding));
}

/** How many coins, at the asset's decimals, `usd` dollars buy at `priceUsd` dollars each. */
export function usdToCoins(usd: Usd, priceUsd: Usd, decimals: number, rounding: Rounding): Coins {
  const step = 10n ** BigInt(SCALE - decimals);
  return amount(mulDiv(usd, ONE, priceUsd * step, rounding) * step);
}

/** `value × bps ÷ 10,000`. */
export function basisPoints<U extends 'usd' | 'asset'>(value: Amount<U>, bps: number, rounding: Rounding): Amount<U> {
  return amount(mulDiv(value, BigInt(bps), 10_000n, rounding));
}

/** Chain integer units → amount; exact, because an asset has at most 18 decimals. */
export function fromUnits(raw: bigint, decimals: number): Coins {
  return amount(raw * 10n ** BigInt(SCALE - decimals));
}

/** Amount → chain integer units, or undefined when the amount has more decimals than the asset (never rounded, decisions 1). */
export function toUnits(coins: Coins, decimals: number): bigint | undefined {
  const step = 10n ** BigInt(SCALE - decimals);
  return coins % step === 0n ? coins / step : undefined;
}
