import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatAmount, parseTrusted } from '#shared/core/money.ts';
import { buildOffer, type FeePayer, dollarValueOf } from '#state-machines/payment/offer.ts';
import { basis, decimal, decimalsOfAsset, feePayer, price } from '../core/arbitraries.ts';
import { add, compare, larger, over, type Rational, rational, round, minus, text, times, ZERO } from '../core/rational.ts';

interface Terms {
  quoteDecimals?: number | undefined;
  principalUsd: string;
  assetPriceUsd: string;
  decimals: number;
  networkFee: string;
  commissionBps: number;
  commissionMinimumUsd: string;
  txFeePayer: FeePayer;
  commissionFeePayer: FeePayer;
}

const terms: fc.Arbitrary<Terms> = fc.record({
  principalUsd: decimal({ digits: 9, positive: true }),
  assetPriceUsd: price,
  decimals: decimalsOfAsset,
  quoteDecimals: fc.option(fc.nat(18), { nil: undefined }),
  networkFee: decimal({ digits: 3 }),
  commissionBps: basis,
  commissionMinimumUsd: decimal({ digits: 2, places: 2 }),
  txFeePayer: feePayer,
  commissionFeePayer: feePayer,
});

function build(t: Terms) {
  const figures = buildOffer({
    ...t,
    principalUsd: parseTrusted<'usd'>(t.principalUsd),
    assetPriceUsd: parseTrusted<'usd'>(t.assetPriceUsd),
    networkFee: parseTrusted<'asset'>(t.networkFee),
    commissionMinimumUsd: parseTrusted<'usd'>(t.commissionMinimumUsd),
  });
  return {
    amount: formatAmount(figures.amount),
    txFee: formatAmount(figures.txFee),
    commissionFee: formatAmount(figures.commissionFee),
    totalValue: formatAmount(figures.totalValue),
  };
}

/** Decisions 1, in fractions: the worth of one unit at so many decimals, and whether it is small enough. */
const unitOf = (places: number): Rational => ({ n: 1n, d: 10n ** BigInt(places) });
const isFine = (t: Terms, places: number): boolean => {
  const worth = times(unitOf(places), rational(t.assetPriceUsd));
  return compare(worth, rational('0.01')) <= 0 && compare(worth, over(rational(t.principalUsd), rational('1000'))) <= 0;
};
function placesOf(t: Terms): number {
  if (t.quoteDecimals !== undefined) return Math.min(t.quoteDecimals, t.decimals);
  return Array.from({ length: t.decimals }, (_, places) => places).find((places) => isFine(t, places)) ?? t.decimals;
}

/** Decisions 2, in fractions. */
function oracle(t: Terms) {
  const up = (value: Rational) => round(value, placesOf(t), 'up');
  const amount = up(over(rational(t.principalUsd), rational(t.assetPriceUsd)));
  const txFee = t.txFeePayer === 'CUSTOMER' ? up(rational(t.networkFee)) : ZERO;
  const rate = over(rational(`${t.commissionBps}`), rational('10000'));
  const minimum = over(rational(t.commissionMinimumUsd), rational(t.assetPriceUsd));
  const commissionFee = t.commissionFeePayer === 'CUSTOMER' ? up(larger(times(amount, rate), minimum)) : ZERO;
  return { amount: text(amount), txFee: text(txFee), commissionFee: text(commissionFee), totalValue: text(add(add(amount, txFee), commissionFee)) };
}

describe('an offer', () => {
  test('equals the exact fractions, each rounded up once at the decimals it is quoted with', () => {
    fc.assert(
      fc.property(terms, (t) => {
        expect(build(t)).toEqual(oracle(t));
      }),
    );
  });

  test('asks for enough, and for less than one unit too much', () => {
    fc.assert(
      fc.property(terms, (t) => {
        const amount = rational(build(t).amount);
        const unit = { n: 1n, d: 10n ** BigInt(placesOf(t)) };
        expect(compare(times(amount, rational(t.assetPriceUsd)), rational(t.principalUsd))).toBeGreaterThanOrEqual(0);
        expect(compare(times({ n: amount.n * unit.d - amount.d, d: amount.d * unit.d }, rational(t.assetPriceUsd)), rational(t.principalUsd))).toBeLessThan(0);
      }),
    );
  });

  test('can be paid exactly: no figure has more decimals than the asset', () => {
    fc.assert(
      fc.property(terms, (t) => {
        for (const figure of Object.values(build(t))) expect((figure.split('.')[1] ?? '').length).toBeLessThanOrEqual(t.decimals);
      }),
    );
  });

  test('asks for at most a cent and a thousandth of the payment too much in each figure, as far as the asset is that fine, and in no more decimals than that takes', () => {
    fc.assert(
      fc.property(terms, ({ quoteDecimals: _own, ...t }) => {
        const { amount } = build(t);
        const tooMuchUsd = minus(times(rational(amount), rational(t.assetPriceUsd)), rational(t.principalUsd));
        if (isFine(t, t.decimals))
          expect([compare(tooMuchUsd, rational('0.01')) < 0, compare(times(tooMuchUsd, rational('1000')), rational(t.principalUsd)) < 0]).toEqual([true, true]);
        const places = (amount.split('.')[1] ?? '').length;
        if (places > 0) expect(isFine(t, places - 1)).toBe(false);
      }),
    );
  });

  test.each([
    ['10 USD of ETH at 3,000', '10', '3000', 18, undefined, '0.003334'],
    ['1,000 USD of ETH at 3,000', '1000', '3000', 18, undefined, '0.333334'],
    ['0.5 USD of ETH at 3,000', '0.5', '3000', 18, undefined, '0.0001667'],
    ['10 USD of BTC at 97,123.45', '10', '97123.45', 8, undefined, '0.000103'],
    ['9.99 USD of a token worth one', '9.99', '1', 6, undefined, '9.99'],
    ['10 USD of a token worth 0.9998', '10', '0.9998', 6, undefined, '10.01'],
    ['10 USD of a coin worth 0.00001', '10', '0.00001', 18, undefined, '1000000'],
    ['10 USD of a coin that cannot be that fine', '10', '3000', 2, undefined, '0.01'],
    ['10 USD of ETH, as the deployment says', '10', '3000', 18, 9, '0.003333334'],
    ['10 USD of a token, as the deployment says, which is more than it has', '10', '3', 6, 9, '3.333334'],
  ])('of %s is a figure people can copy', (_what, principalUsd, assetPriceUsd, decimals, quoteDecimals, amount) => {
    const plain = { networkFee: '0', commissionBps: 0, commissionMinimumUsd: '0', txFeePayer: 'MERCHANT' as const, commissionFeePayer: 'MERCHANT' as const };
    expect(build({ principalUsd, assetPriceUsd, decimals, quoteDecimals, ...plain })).toMatchObject({ amount, totalValue: amount });
  });

  test.each([
    { txFeePayer: 'MERCHANT' as const, commissionFeePayer: 'MERCHANT' as const, expected: { txFee: '0', commissionFee: '0', totalValue: '40' } },
    { txFeePayer: 'CUSTOMER' as const, commissionFeePayer: 'MERCHANT' as const, expected: { txFee: '0.5', commissionFee: '0', totalValue: '40.5' } },
    { txFeePayer: 'MERCHANT' as const, commissionFeePayer: 'CUSTOMER' as const, expected: { txFee: '0', commissionFee: '0.4', totalValue: '40.4' } },
    { txFeePayer: 'CUSTOMER' as const, commissionFeePayer: 'CUSTOMER' as const, expected: { txFee: '0.5', commissionFee: '0.4', totalValue: '40.9' } },
    { txFeePayer: 'PLATFORM' as const, commissionFeePayer: 'PLATFORM' as const, expected: { txFee: '0', commissionFee: '0', totalValue: '40' } },
  ])('of 100 USD at 2.5 with a fee of 0.5 and 1 %: $txFeePayer bears the network fee, $commissionFeePayer the commission', ({ expected, ...payers }) => {
    const common = { principalUsd: '100', assetPriceUsd: '2.5', decimals: 6, networkFee: '0.5', commissionBps: 100, commissionMinimumUsd: '0' };
    expect(build({ ...common, ...payers })).toEqual({ amount: '40', ...expected });
  });

  test('takes the minimum commission when the rate gives less', () => {
    const t: Terms = {
      principalUsd: '10',
      assetPriceUsd: '3',
      decimals: 2,
      networkFee: '0',
      commissionBps: 100,
      commissionMinimumUsd: '1',
      txFeePayer: 'MERCHANT',
      commissionFeePayer: 'CUSTOMER',
    };
    expect(build(t)).toEqual({ amount: '3.34', txFee: '0', commissionFee: '0.34', totalValue: '3.68' });
  });

  test('without a price is refused', () => {
    expect(() =>
      build({
        principalUsd: '1',
        assetPriceUsd: '0',
        decimals: 6,
        networkFee: '0',
        commissionBps: 0,
        commissionMinimumUsd: '0',
        txFeePayer: 'MERCHANT',
        commissionFeePayer: 'MERCHANT',
      }),
    ).toThrow();
  });
});

describe('the dollar value of a payment', () => {
  test('is amount × rate, rounded up at the eighteenth decimal', () => {
    fc.assert(
      fc.property(decimal(), price, (amount, rate) => {
        expect(formatAmount(dollarValueOf(parseTrusted(amount), parseTrusted<'usd'>(rate)))).toBe(
          text(round(times(rational(amount), rational(rate)), 18, 'up')),
        );
      }),
    );
  });
});
