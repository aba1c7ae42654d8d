import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { ServiceError } from '#shared/core/errors.ts';
import {
  basisPoints,
  type Coins,
  coinsToUsd,
  formatAmount,
  formatCents,
  fromUnits,
  isMoney,
  MAX_MONEY_LENGTH,
  mulDiv,
  ONE,
  parseAmount,
  parseTrusted,
  roundTo,
  toCents,
  toUnits,
  type Usd,
  usdToCoins,
} from '#shared/core/money.ts';
import { basis, decimal, decimalsOfAsset, price } from './arbitraries.ts';
import { compare, fraction, over, rational, round, text, times } from './rational.ts';

const usd = (value: string) => parseTrusted<'usd'>(value) as Usd;
const coins = (value: string) => parseTrusted<'asset'>(value) as Coins;

describe('money strings', () => {
  test('every accepted string is read exactly and written back in its shortest form', () => {
    fc.assert(
      fc.property(decimal({ digits: 37 }), (value) => {
        expect(formatAmount(parseAmount(value, 'amount'))).toBe(text(rational(value)));
      }),
    );
  });

  test('what is written is read back as the same amount, below zero too', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 60n), max: 10n ** 60n }), (scaled) => {
        expect(parseTrusted(formatAmount(scaled))).toBe(scaled);
      }),
    );
  });

  test.each([
    ['a sign', '-1'],
    ['a plus', '+1'],
    ['an exponent', '1e18'],
    ['an exponent that JSON coercion makes', '1e+21'],
    ['no digit before the point', '.5'],
    ['no digit after the point', '1.'],
    ['a leading zero', '01'],
    ['a space before', ' 1'],
    ['a space after', '1 '],
    ['a newline after', '1\n'],
    ['a group separator', '1,000'],
    ['an underscore', '1_000'],
    ['other digits', '١٢'],
    ['full-width digits', '１'],
    ['hexadecimal', '0x10'],
    ['two points', '1.2.3'],
    ['nothing', ''],
    ['not a number', 'NaN'],
    ['infinity', 'Infinity'],
    ['nineteen decimals', '0.0000000000000000001'],
    ['thirty-nine digits', '1'.repeat(39)],
    ['a minus zero', '-0'],
  ])('a string with %s is refused and the message names the field', (_, value) => {
    expect(isMoney(value)).toBe(false);
    expect(() => parseAmount(value, 'overAcceptableDiff')).toThrow(ServiceError);
    expect(() => parseAmount(value, 'overAcceptableDiff')).toThrow(/^overAcceptableDiff: /);
  });

  test.each([[1], [1e21], [Number.NaN], [null], [undefined], [true], [['1']], [{ toString: () => '1' }]])(
    'a value that is not a string (%j) is refused, never coerced',
    (value) => {
      expect(() => parseAmount(value as unknown as string, 'amount')).toThrow(ServiceError);
    },
  );

  test('the largest accepted string is 57 characters, and one more is refused', () => {
    const largest = `${'9'.repeat(38)}.${'9'.repeat(18)}`;
    expect(largest).toHaveLength(MAX_MONEY_LENGTH);
    expect(formatAmount(parseAmount(largest, 'amount'))).toBe(largest);
    expect(isMoney(`${largest}9`)).toBe(false);
  });

  test('a number of four million digits is refused by its length, before it is parsed', () => {
    const huge = '9'.repeat(4_000_000);
    const look = vi.spyOn(RegExp.prototype, 'test');
    const [verdict, looked] = [isMoney(huge), look.mock.calls.length];
    look.mockRestore();
    expect({ verdict, looked }).toEqual({ verdict: false, looked: 0 });
  });

  test.each(['NaN', 'Infinity', '-Infinity', '1e5', ' 1', '', '1.0000000000000000001'])('a column holding %s is a broken promise, not a number', (value) => {
    expect(() => parseTrusted(value)).toThrow();
  });

  test('trailing zeros a column adds beyond the scale do not count', () => {
    expect(parseTrusted('1.5000000000000000000000')).toBe(parseTrusted('1.5'));
  });
});

describe('division', () => {
  test('mulDiv equals the exact fraction rounded as named, whatever the signs', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }),
        fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }),
        fc.bigInt({ min: 1n, max: 10n ** 30n }),
        fc.constantFrom('down' as const, 'up' as const, 'half-up' as const),
        (a, b, d, how) => {
          expect(mulDiv(a, b, d, how)).toBe(round(fraction(a * b, d), 0, how).n);
        },
      ),
    );
  });

  test('halves go away from zero on both sides', () => {
    expect([mulDiv(1n, 1n, 2n, 'half-up'), mulDiv(-1n, 1n, 2n, 'half-up'), mulDiv(3n, 1n, 2n, 'half-up')]).toEqual([1n, -1n, 2n]);
  });

  test.each([0n, -1n])('dividing by %s is refused', (divisor) => {
    expect(() => mulDiv(1n, 1n, divisor, 'down')).toThrow();
  });
});

describe('conversions', () => {
  test('coins × price is the exact product rounded once', () => {
    fc.assert(
      fc.property(decimal(), price, fc.constantFrom('down' as const, 'up' as const, 'half-up' as const), (c, p, how) => {
        expect(formatAmount(coinsToUsd(coins(c), usd(p), how))).toBe(text(round(times(rational(c), rational(p)), 18, how)));
      }),
    );
  });

  test('dollars ÷ price is the exact quotient rounded once, at the decimals of the asset', () => {
    fc.assert(
      fc.property(decimal(), price, decimalsOfAsset, fc.constantFrom('down' as const, 'up' as const), (u, p, places, how) => {
        expect(formatAmount(usdToCoins(usd(u), usd(p), places, how))).toBe(text(round(over(rational(u), rational(p)), places, how)));
      }),
    );
  });

  test('basis points are exact fractions of ten thousand', () => {
    fc.assert(
      fc.property(decimal(), basis, fc.constantFrom('down' as const, 'up' as const), (value, bps, how) => {
        expect(formatAmount(basisPoints(coins(value), bps, how))).toBe(
          text(round(over(times(rational(value), rational(`${bps}`)), rational('10000')), 18, how)),
        );
      }),
    );
  });

  test('rounding to any number of decimals agrees with the oracle', () => {
    fc.assert(
      fc.property(
        decimal(),
        fc.boolean(),
        decimalsOfAsset,
        fc.constantFrom('down' as const, 'up' as const, 'half-up' as const),
        (value, negative, places, how) => {
          const signed = negative ? `-${value}` : value;
          expect(formatAmount(roundTo(coins(signed), places, how))).toBe(text(round(rational(signed), places, how)));
        },
      ),
    );
  });

  test('dollars for people are rounded half-up to cents, and a minus sign survives', () => {
    fc.assert(
      fc.property(decimal(), fc.boolean(), (value, negative) => {
        const signed = negative ? `-${value}` : value;
        const expected = round(rational(signed), 2, 'half-up');
        expect(toCents(usd(signed))).toBe(usd(text(expected)));
        expect(formatCents(usd(signed))).toMatch(/^-?(0|[1-9]\d*)\.\d\d$/);
        expect(compare(rational(formatCents(usd(signed))), expected)).toBe(0);
      }),
    );
    expect([formatCents(usd('98.985')), formatCents(usd('98.984999999999999999')), formatCents(usd('-0.005')), formatCents(usd('-0.004'))]).toEqual([
      '98.99',
      '98.98',
      '-0.01',
      '0.00',
    ]);
  });

  test('chain units become an amount and the same units again', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), decimalsOfAsset, (raw, places) => {
        const value = fromUnits(raw, places);
        expect(toUnits(value, places)).toBe(raw);
        expect(compare(rational(formatAmount(value)), fraction(raw, 10n ** BigInt(places)))).toBe(0);
      }),
    );
  });

  test('an amount with more decimals than its asset is refused, never rounded', () => {
    expect(toUnits(coins('1.0000005'), 6)).toBeUndefined();
    expect(toUnits(coins('1.000000'), 6)).toBe(1_000_000n);
    fc.assert(
      fc.property(decimal(), decimalsOfAsset, (value, places) => {
        const units = toUnits(coins(value), places);
        const exact = times(rational(value), fraction(10n ** BigInt(places), 1n));
        expect(units === undefined ? null : units).toBe(exact.n % exact.d === 0n ? exact.n / exact.d : null);
      }),
    );
  });

  test('one is one', () => {
    expect(formatAmount(ONE)).toBe('1');
  });
});
