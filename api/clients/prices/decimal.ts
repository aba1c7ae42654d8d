import { mulDiv, ONE, SCALE } from '#shared/core/money.ts';

const DECIMAL = /^(-?)(\d{1,40})(?:\.(\d{1,60}))?(?:[eE]([+-]?\d{1,3}))?$/;
/** Exponents beyond this make no price. */
const MAX_EXPONENT = 40;

/**
 * Reads a decimal as a source writes it, exponent allowed, as an 18-place integer; further decimals are rounded half-up.
 * Undefined for anything that is not a decimal.
 */
export function readDecimal(value: unknown): bigint | undefined {
  const match = typeof value === 'string' ? DECIMAL.exec(value) : null;
  if (match === null) return undefined;
  const [, sign, whole = '', fraction = '', exponentText = '0'] = match;
  const exponent = Number(exponentText);
  if (Math.abs(exponent) > MAX_EXPONENT) return undefined;
  const digits = BigInt(whole + fraction);
  const shift = SCALE + exponent - fraction.length;
  const scaled = shift >= 0 ? digits * 10n ** BigInt(shift) : mulDiv(digits, 1n, 10n ** BigInt(-shift), 'half-up');
  return sign === '-' ? -scaled : scaled;
}

/** `1 ÷ value` of an 18-place integer, rounded half-up; undefined when there is none. */
export function inverse(value: bigint | undefined): bigint | undefined {
  return value === undefined || value <= 0n ? undefined : mulDiv(ONE, ONE, value, 'half-up');
}
