import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatAmount, parseTrusted } from '#shared/core/money.ts';
import { buildOffer, type FeePayer, invoiceUsd } from '#state-machines/payment/offer.ts';
import { basis, decimal, decimalsOfAsset, feePayer, price } from '../core/arbitraries.ts';
import { add, compare, larger, over, type Rational, rational, round, text, times, ZERO } from '../core/rational.ts';

interface Terms {
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

/** Decisions 2, in fractions. */
function oracle(t: Terms) {
  const up = (value: Rational) => round(value, t.decimals, 'up');
  const amount = up(over(rational(t.principalUsd), rational(t.assetPriceUsd)));
  const txFee = t.txFeePayer === 'CUSTOMER' ? up(rational(t.networkFee)) : ZERO;
  const rate = over(rational(`${t.commissionBps}`), rational('10000'));
  const minimum = over(rational(t.commissionMinimumUsd), rational(t.assetPriceUsd));
  const commissionFee = t.commissionFeePayer === 'CUSTOMER' ? up(larger(times(amount, rate), minimum)) : ZERO;
  return { amount: text(amount), txFee: text(txFee), commissionFee: text(commissionFee), totalValue: text(add(add(amount, txFee), commissionFee)) };
}

describe('an offer', () => {
  test('equals the exact fractions, each rounded up once at the decimals of the asset', () => {
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
        const unit = { n: 1n, d: 10n ** BigInt(t.decimals) };
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

describe('the dollar value of an invoice', () => {
  test('is amount × rate, rounded up at the eighteenth decimal', () => {
    fc.assert(
      fc.property(decimal(), price, (amount, rate) => {
        expect(formatAmount(invoiceUsd(parseTrusted(amount), parseTrusted<'usd'>(rate)))).toBe(text(round(times(rational(amount), rational(rate)), 18, 'up')));
      }),
    );
  });
});
