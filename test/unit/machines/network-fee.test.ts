import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatAmount, parseTrusted } from '#shared/core/money.ts';
import { compareFees, isFreeCashout, nativeFee, networkFeePayer, type SettledFee, tokenFee } from '#state-machines/settlement/network-fee.ts';
import { decimalsOfAsset, price } from '../core/arbitraries.ts';
import { fraction, minus, over, rational, round, text, times } from '../core/rational.ts';

const usd = (value: string) => parseTrusted<'usd'>(value);

describe('the network fee of a token cashout', () => {
  test('is gas × native price ÷ token price, rounded up once at the decimals of the token', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 10n ** 24n }),
        decimalsOfAsset,
        price,
        price,
        decimalsOfAsset,
        (rawGasFee, nativeDecimals, nativePrice, assetPrice, assetDecimals) => {
          const fee = tokenFee({ rawGasFee, nativeDecimals, nativePriceUsd: usd(nativePrice), assetPriceUsd: usd(assetPrice), assetDecimals });
          const exact = over(times(fraction(rawGasFee, 10n ** BigInt(nativeDecimals)), rational(nativePrice)), rational(assetPrice));
          expect(formatAmount(fee)).toBe(text(round(exact, assetDecimals, 'up')));
        },
      ),
    );
  });

  test('of 65,000 gas at 30 gwei with ether at 2,500 and a token at 1 is 4.875', () => {
    expect(
      formatAmount(
        tokenFee({ rawGasFee: 65_000n * 30_000_000_000n, nativeDecimals: 18, nativePriceUsd: usd('2500'), assetPriceUsd: usd('1'), assetDecimals: 6 }),
      ),
    ).toBe('4.875');
  });

  test('costs at least one unit when the gas costs anything at all', () => {
    expect(formatAmount(tokenFee({ rawGasFee: 1n, nativeDecimals: 18, nativePriceUsd: usd('0.000001'), assetPriceUsd: usd('60000'), assetDecimals: 6 }))).toBe(
      '0.000001',
    );
  });

  test.each([
    ['0', '1'],
    ['1', '0'],
  ])('with a native price of %s and a token price of %s is refused', (nativePrice, assetPrice) => {
    expect(() => tokenFee({ rawGasFee: 1n, nativeDecimals: 18, nativePriceUsd: usd(nativePrice), assetPriceUsd: usd(assetPrice), assetDecimals: 6 })).toThrow();
  });
});

test('the network fee of a native cashout is the gas itself', () => {
  expect(formatAmount(nativeFee(21_000n * 10n ** 9n, 18))).toBe('0.000021');
});

test('only a token cashout of a monthly-billed gateway is free', () => {
  const free = (['STANDARD', 'MONTHLY', 'PLATFORM'] as const).flatMap((billing) =>
    (['NATIVE', 'ERC20', 'TRC20', 'BEP20'] as const).filter((type) => isFreeCashout(billing, type)).map((type) => `${billing} ${type}`),
  );
  expect(free).toEqual(['MONTHLY ERC20', 'MONTHLY TRC20', 'MONTHLY BEP20']);
  expect([networkFeePayer('MONTHLY', 'TRC20'), networkFeePayer('MONTHLY', 'NATIVE'), networkFeePayer('PLATFORM', 'ERC20')]).toEqual([
    'PLATFORM',
    'MERCHANT',
    'MERCHANT',
  ]);
});

describe('a locked fee and the actual one', () => {
  const coins = (value: string) => parseTrusted<'asset'>(value);
  const shown = (fee: SettledFee) =>
    Object.fromEntries(Object.entries(compareFees(fee)).map(([name, value]) => [name, value === null ? null : formatAmount(value)]));
  const units = fc.bigInt({ min: 0n, max: 10n ** 24n });

  test('of a token are compared in the native asset and in dollars by exact fractions, rounded half-up once', () => {
    fc.assert(
      fc.property(
        units,
        units,
        decimalsOfAsset,
        decimalsOfAsset,
        price,
        price,
        (lockedUnits, actualUnits, assetDecimals, nativeDecimals, assetPrice, nativePrice) => {
          const locked = fraction(lockedUnits, 10n ** BigInt(assetDecimals));
          const actual = fraction(actualUnits, 10n ** BigInt(nativeDecimals));
          const fee = { locked: coins(text(locked)), actual: coins(text(actual)), native: false, nativeDecimals };
          const lockedNative = round(over(times(locked, rational(assetPrice)), rational(nativePrice)), nativeDecimals, 'half-up');
          const lockedUsd = round(times(locked, rational(assetPrice)), 18, 'half-up');
          const actualUsd = round(times(actual, rational(nativePrice)), 18, 'half-up');
          expect(shown({ ...fee, assetPriceUsd: usd(assetPrice), nativePriceUsd: usd(nativePrice) })).toEqual({
            lockedNative: text(lockedNative),
            actualNative: text(actual),
            differenceNative: text(minus(lockedNative, actual)),
            lockedUsd: text(lockedUsd),
            actualUsd: text(actualUsd),
            differenceUsd: text(minus(lockedUsd, actualUsd)),
          });
        },
      ),
    );
  });

  test('of the native coin are compared without any price', () => {
    const fee = { locked: coins('0.003'), actual: coins('0.001'), native: true, nativeDecimals: 18, assetPriceUsd: null, nativePriceUsd: null };
    expect(shown(fee)).toEqual({
      lockedNative: '0.003',
      actualNative: '0.001',
      differenceNative: '0.002',
      lockedUsd: null,
      actualUsd: null,
      differenceUsd: null,
    });
  });

  test('say nothing of what needs a price nobody knew, except that nothing locked is nothing', () => {
    const fee = { actual: coins('0.001'), native: false, nativeDecimals: 18, assetPriceUsd: usd('1'), nativePriceUsd: null };
    expect(shown({ ...fee, locked: coins('2') })).toMatchObject({ lockedNative: null, lockedUsd: '2', actualUsd: null, differenceUsd: null });
    expect(shown({ ...fee, locked: coins('0') })).toMatchObject({ lockedNative: '0', differenceNative: '-0.001', lockedUsd: '0' });
  });
});
