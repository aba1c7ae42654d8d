/**
 * Exact fractions, written apart from the code under test: its own parser, its own rounding, no scale anywhere.
 * Slow and obvious on purpose.
 */
export interface Rational {
  n: bigint;
  /** Above zero. */
  d: bigint;
}

/** Reads `-12.5`; nothing but digits, one point and one minus. */
export function rational(text: string): Rational {
  const negative = text.startsWith('-');
  const [whole = '', fraction = ''] = text.replace('-', '').split('.');
  let n = 0n;
  for (const digit of whole + fraction) n = n * 10n + BigInt('0123456789'.indexOf(digit));
  return { n: negative ? -n : n, d: power(fraction.length) };
}

export function fraction(n: bigint, d: bigint): Rational {
  return d < 0n ? { n: -n, d: -d } : { n, d };
}

function power(exponent: number): bigint {
  let result = 1n;
  for (let i = 0; i < exponent; i += 1) result *= 10n;
  return result;
}

export const add = (a: Rational, b: Rational): Rational => ({ n: a.n * b.d + b.n * a.d, d: a.d * b.d });
export const minus = (a: Rational, b: Rational): Rational => ({ n: a.n * b.d - b.n * a.d, d: a.d * b.d });
export const times = (a: Rational, b: Rational): Rational => ({ n: a.n * b.n, d: a.d * b.d });
export const over = (a: Rational, b: Rational): Rational => fraction(a.n * b.d, a.d * b.n);
export const compare = (a: Rational, b: Rational): number => {
  const difference = a.n * b.d - b.n * a.d;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
};
export const larger = (a: Rational, b: Rational): Rational => (compare(a, b) >= 0 ? a : b);
export const smaller = (a: Rational, b: Rational): Rational => (compare(a, b) <= 0 ? a : b);
export const ZERO: Rational = { n: 0n, d: 1n };

/** Largest integer not above the fraction. */
function floor({ n, d }: Rational): bigint {
  const quotient = n / d;
  return n % d < 0n ? quotient - 1n : quotient;
}

/** Rounds to a number of decimals: towards minus infinity, plus infinity, or to the nearest with halves away from zero. */
export function round(value: Rational, places: number, how: 'down' | 'up' | 'half-up'): Rational {
  const scale = power(places);
  const scaled = { n: value.n * scale, d: value.d };
  if (how === 'down') return { n: floor(scaled), d: scale };
  if (how === 'up') return { n: -floor({ n: -scaled.n, d: scaled.d }), d: scale };
  const magnitude = floor({ n: (scaled.n < 0n ? -scaled.n : scaled.n) * 2n + scaled.d, d: scaled.d * 2n });
  return { n: scaled.n < 0n ? -magnitude : magnitude, d: scale };
}

/** The shortest decimal of a fraction that has one; throws when it has none within 60 places. */
export function text(value: Rational): string {
  const negative = value.n < 0n;
  const magnitude = negative ? -value.n : value.n;
  let rest = magnitude % value.d;
  let digits = '';
  while (rest !== 0n) {
    if (digits.length === 60) throw new Error('the fraction has no short decimal');
    rest *= 10n;
    digits += (rest / value.d).toString();
    rest %= value.d;
  }
  return `${negative ? '-' : ''}${magnitude / value.d}${digits === '' ? '' : `.${digits}`}`;
}
