import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatAmount, parseTrusted } from '#shared/core/money.ts';
import { chargeOf, destinationShare } from '#state-machines/settlement/destination-cost.ts';
import { decimalsOfAsset, price } from '../core/arbitraries.ts';
import { fraction, over, rational, round, text, times } from '../core/rational.ts';

const usd = (value: string) => parseTrusted<'usd'>(value);
const units = fc.bigInt({ min: 1n, max: 10n ** 9n });
const raw = fc.bigInt({ min: 0n, max: 10n ** 24n });

describe('what of a fee a destination caused', () => {
  test('is all of it where nothing moved, however little it took', () => {
    expect(destinationShare({ rawFee: 77n, failed: true, units: 1n, quotedUnits: 100n })).toBe(77n);
  });

  test('is nothing while it takes no more than was quoted, whatever the price rose to, and where it has no say', () => {
    fc.assert(fc.property(raw, units, (rawFee, quoted) => destinationShare({ rawFee, failed: false, units: quoted, quotedUnits: quoted }) === 0n));
    expect(destinationShare({ rawFee: 10n ** 24n, failed: false, units: null, quotedUnits: 5n })).toBe(0n);
    expect(destinationShare({ rawFee: 10n ** 24n, failed: false, units: 5n, quotedUnits: null })).toBe(0n);
  });

  test('is the share of the units beyond the quote, rounded down, and never all of it', () => {
    fc.assert(
      fc.property(raw, units, units, (rawFee, quoted, more) => {
        const share = destinationShare({ rawFee, failed: false, units: quoted + more, quotedUnits: quoted });
        expect(share).toBe((rawFee * more) / (quoted + more));
        expect(share < rawFee || rawFee === 0n).toBe(true);
      }),
    );
  });
});

describe('a charge', () => {
  const native = { nativeDecimals: 18, assetDecimals: 18, native: true, nativePriceUsd: null, assetPriceUsd: null, lock: null };

  test('in the native coin is the fee itself', () => {
    expect(chargeOf({ ...native, raw: 21_000n * 10n ** 9n })).toBe(parseTrusted('0.000021'));
  });

  test('in a token is converted at both prices, rounded down once at its decimals: the service never takes a unit too much', () => {
    fc.assert(
      fc.property(raw, decimalsOfAsset, price, price, decimalsOfAsset, (fee, nativeDecimals, nativePrice, assetPrice, assetDecimals) => {
        const charged = chargeOf({
          ...{ raw: fee, nativeDecimals, assetDecimals, native: false, lock: null },
          ...{ nativePriceUsd: usd(nativePrice), assetPriceUsd: usd(assetPrice) },
        });
        const exact = over(times(fraction(fee, 10n ** BigInt(nativeDecimals)), rational(nativePrice)), rational(assetPrice));
        expect(charged === null ? null : formatAmount(charged)).toBe(text(round(exact, assetDecimals, 'down')));
      }),
    );
  });

  test('without a price is in the ratio of what was locked, and without that there is none', () => {
    const token = { raw: 500n, nativeDecimals: 18, assetDecimals: 6, native: false, nativePriceUsd: usd('2000'), assetPriceUsd: null };
    expect(chargeOf({ ...token, lock: { coins: parseTrusted('0.3'), rawFee: 1_000n } })).toBe(parseTrusted('0.15'));
    expect(chargeOf({ ...token, lock: { coins: parseTrusted('0.000001'), rawFee: 1_000n } })).toBe(0n);
    expect(chargeOf({ ...token, lock: null })).toBeNull();
  });
});
