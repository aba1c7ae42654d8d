import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatAmount, parseTrusted } from '#shared/core/money.ts';
import { isFreeCashout, nativeFee, tokenFee } from '#state-machines/settlement/network-fee.ts';
import { decimalsOfAsset, price } from '../core/arbitraries.ts';
import { fraction, over, rational, round, text, times } from '../core/rational.ts';

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
});
