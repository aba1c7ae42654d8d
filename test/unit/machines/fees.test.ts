import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Coins, formatAmount, parseTrusted, type Usd } from '#shared/core/money.ts';
import { type FeeTerms, takeFees } from '#state-machines/payment/fees.ts';
import { buildOffer, type FeePayer, quoteDecimalsOf } from '#state-machines/payment/offer.ts';
import { basis, decimal, decimalsOfAsset, feePayer, price } from '../core/arbitraries.ts';
import { add, compare, fraction, larger, minus, over, type Rational, rational, round, smaller, text, times, ZERO } from '../core/rational.ts';

const coins = (value: string) => parseTrusted<'asset'>(value) as Coins;
const usd = (value: string) => parseTrusted<'usd'>(value) as Usd;
const PAYERS: FeePayer[] = ['MERCHANT', 'CUSTOMER', 'PLATFORM'];
const EVERY_PAYER = PAYERS.flatMap((txFeePayer) => PAYERS.map((commissionFeePayer) => ({ txFeePayer, commissionFeePayer })));

interface Terms {
  /** In units of the asset, so that it can have arrived. */
  grossUnits: bigint;
  decimals: number;
  networkFee: string;
  networkFeePaid: boolean;
  commissionBps: number;
  commissionMinimumUsd: string;
  priceUsd: string;
  txFeePayer: FeePayer;
  commissionFeePayer: FeePayer;
}

const terms: fc.Arbitrary<Terms> = fc.record({
  grossUnits: fc.oneof(fc.bigInt({ min: 0n, max: 10_000n }), fc.bigInt({ min: 0n, max: 10n ** 24n })),
  decimals: decimalsOfAsset,
  networkFee: decimal({ digits: 3 }),
  networkFeePaid: fc.boolean(),
  commissionBps: basis,
  commissionMinimumUsd: decimal({ digits: 2, places: 2 }),
  priceUsd: price,
  txFeePayer: feePayer,
  commissionFeePayer: feePayer,
});

function gross(t: Terms): Rational {
  return fraction(t.grossUnits, 10n ** BigInt(t.decimals));
}

function take(t: Terms, exactOffer: FeeTerms['exactOffer'] = null) {
  const fees = takeFees({
    ...t,
    gross: coins(text(gross(t))),
    networkFee: coins(t.networkFee),
    commissionMinimumUsd: usd(t.commissionMinimumUsd),
    priceUsd: usd(t.priceUsd),
    exactOffer,
  });
  return Object.fromEntries(Object.entries(fees).map(([name, value]) => [name, formatAmount(value)])) as Record<keyof typeof fees, string>;
}

/** Decisions 11, in fractions. */
function oracle(t: Terms) {
  const up = (value: Rational) => round(value, t.decimals, 'up');
  const g = gross(t);
  const due = t.networkFeePaid ? ZERO : up(rational(t.networkFee));
  const n = t.txFeePayer === 'PLATFORM' ? due : smaller(due, g);
  const left = t.txFeePayer === 'PLATFORM' ? g : minus(g, n);
  const rate = over(rational(`${t.commissionBps}`), rational('10000'));
  const held = t.txFeePayer === 'CUSTOMER' ? larger(minus(g, due), ZERO) : g;
  const base = t.commissionFeePayer === 'CUSTOMER' ? over(held, add(rational('1'), rate)) : g;
  const full = up(larger(times(base, rate), over(rational(t.commissionMinimumUsd), rational(t.priceUsd))));
  const c = t.commissionFeePayer === 'PLATFORM' ? full : smaller(full, left);
  const net = t.commissionFeePayer === 'PLATFORM' ? left : minus(left, c);
  const borne = add(t.txFeePayer === 'PLATFORM' ? n : ZERO, t.commissionFeePayer === 'PLATFORM' ? c : ZERO);
  return {
    networkFee: text(n),
    commission: text(c),
    net: text(net),
    platformBears: text(borne),
    platformBearsUsd: text(round(times(borne, rational(t.priceUsd)), 18, 'half-up')),
  };
}

describe('the fees of a deposit', () => {
  test('equal the exact fractions, for every payer of either fee', () => {
    fc.assert(
      fc.property(terms, (t) => {
        expect(take(t)).toEqual(oracle(t));
      }),
    );
  });

  test('neither create nor destroy a unit: gross + what the platform bears = net + both fees', () => {
    fc.assert(
      fc.property(terms, (t) => {
        const fees = take(t);
        const left = add(gross(t), rational(fees.platformBears));
        const right = add(rational(fees.net), add(rational(fees.networkFee), rational(fees.commission)));
        expect(compare(left, right)).toBe(0);
      }),
    );
  });

  test('never credit less than nothing nor more than arrived, and always in whole units', () => {
    fc.assert(
      fc.property(terms, (t) => {
        const fees = take(t);
        expect(compare(rational(fees.net), ZERO)).toBeGreaterThanOrEqual(0);
        expect(compare(rational(fees.net), gross(t))).toBeLessThanOrEqual(0);
        for (const figure of [fees.net, fees.networkFee, fees.commission]) expect((figure.split('.')[1] ?? '').length).toBeLessThanOrEqual(t.decimals);
      }),
    );
  });

  test('when the exact totalValue of an offer arrives, are its own figures: the customer bears both, so exactly the amount is credited', () => {
    fc.assert(
      fc.property(terms, decimal({ digits: 6, positive: true }), (t, principalUsd) => {
        const asked = { ...t, networkFeePaid: false, txFeePayer: 'CUSTOMER' as const, commissionFeePayer: 'CUSTOMER' as const };
        const offer = buildOffer({
          ...asked,
          principalUsd: usd(principalUsd),
          assetPriceUsd: usd(t.priceUsd),
          networkFee: coins(t.networkFee),
          commissionMinimumUsd: usd(t.commissionMinimumUsd),
        });
        const grossUnits = rational(formatAmount(offer.totalValue)).n * 10n ** BigInt(t.decimals);
        const paid = { ...asked, grossUnits: grossUnits / rational(formatAmount(offer.totalValue)).d };
        expect(take(paid, offer)).toMatchObject({
          net: formatAmount(offer.amount),
          networkFee: formatAmount(offer.txFee),
          commission: formatAmount(offer.commissionFee),
        });
      }),
    );
  });

  test('by the general rule differ from the offer by what its two fees were rounded up by, when exactly its totalValue arrives', () => {
    fc.assert(
      fc.property(terms, decimal({ digits: 6, positive: true }), (t, principalUsd) => {
        const payers = { txFeePayer: 'CUSTOMER' as const, commissionFeePayer: 'CUSTOMER' as const };
        const common = { ...t, ...payers, commissionMinimumUsd: usd(t.commissionMinimumUsd), networkFee: coins(t.networkFee) };
        const offer = buildOffer({ ...common, principalUsd: usd(principalUsd), assetPriceUsd: usd(t.priceUsd) });
        const fees = takeFees({ ...common, networkFeePaid: false, gross: offer.totalValue, priceUsd: usd(t.priceUsd), exactOffer: null });
        const quoted = 10n ** BigInt(18 - quoteDecimalsOf({ ...common, principalUsd: usd(principalUsd), assetPriceUsd: usd(t.priceUsd) }));
        const unit = 10n ** BigInt(18 - t.decimals);
        const difference = fees.net - offer.amount;
        expect(difference >= -unit && difference <= 2n * quoted).toBe(true);
      }),
    );
  });

  test.each([
    [
      { txFeePayer: 'MERCHANT' as const, commissionFeePayer: 'MERCHANT' as const },
      { networkFee: '0.5', commission: '1', net: '98.5', platformBears: '0' },
    ],
    [
      { txFeePayer: 'CUSTOMER' as const, commissionFeePayer: 'MERCHANT' as const },
      { networkFee: '0.5', commission: '1', net: '98.5', platformBears: '0' },
    ],
    [
      { txFeePayer: 'MERCHANT' as const, commissionFeePayer: 'CUSTOMER' as const },
      { networkFee: '0.5', commission: '0.990100', net: '98.509900', platformBears: '0' },
    ],
    [
      { txFeePayer: 'CUSTOMER' as const, commissionFeePayer: 'CUSTOMER' as const },
      { networkFee: '0.5', commission: '0.985149', net: '98.514851', platformBears: '0' },
    ],
    [
      { txFeePayer: 'PLATFORM' as const, commissionFeePayer: 'PLATFORM' as const },
      { networkFee: '0.5', commission: '1', net: '100', platformBears: '1.5' },
    ],
    [
      { txFeePayer: 'PLATFORM' as const, commissionFeePayer: 'MERCHANT' as const },
      { networkFee: '0.5', commission: '1', net: '99', platformBears: '0.5' },
    ],
    [
      { txFeePayer: 'MERCHANT' as const, commissionFeePayer: 'PLATFORM' as const },
      { networkFee: '0.5', commission: '1', net: '99.5', platformBears: '1' },
    ],
  ])('of 100 with a fee of 0.5 and 1 %, borne by %j', (payers, expected) => {
    const t: Terms = {
      grossUnits: 100_000_000n,
      decimals: 6,
      networkFee: '0.5',
      networkFeePaid: false,
      commissionBps: 100,
      commissionMinimumUsd: '0',
      priceUsd: '1',
      ...payers,
    };
    expect(take(t)).toMatchObject(Object.fromEntries(Object.entries(expected).map(([name, value]) => [name, text(rational(value))])));
  });

  test.each(EVERY_PAYER)('the network fee is taken once per payment and network ($txFeePayer / $commissionFeePayer)', (payers) => {
    const t: Terms = {
      grossUnits: 100n,
      decimals: 0,
      networkFee: '7',
      networkFeePaid: true,
      commissionBps: 0,
      commissionMinimumUsd: '0',
      priceUsd: '1',
      ...payers,
    };
    expect(take(t)).toMatchObject({ networkFee: '0', net: '100', platformBears: '0' });
  });

  test('too small a deposit pays the network fee first, then what is left of the commission, and nothing more', () => {
    const t: Terms = {
      grossUnits: 5n,
      decimals: 0,
      networkFee: '3',
      networkFeePaid: false,
      commissionBps: 0,
      commissionMinimumUsd: '10',
      priceUsd: '1',
      txFeePayer: 'MERCHANT',
      commissionFeePayer: 'MERCHANT',
    };
    expect(take(t)).toMatchObject({ networkFee: '3', commission: '2', net: '0' });
    expect(take({ ...t, grossUnits: 2n })).toMatchObject({ networkFee: '2', commission: '0', net: '0' });
    expect(take({ ...t, grossUnits: 0n })).toMatchObject({ networkFee: '0', commission: '0', net: '0' });
  });

  test('an exact second payment takes the commission of the offer and no second network fee', () => {
    const offer = { amount: coins('100'), txFee: coins('1'), commissionFee: coins('2'), totalValue: coins('103') };
    const t: Terms = {
      grossUnits: 103n,
      decimals: 0,
      networkFee: '1',
      networkFeePaid: true,
      commissionBps: 200,
      commissionMinimumUsd: '0',
      priceUsd: '1',
      txFeePayer: 'CUSTOMER',
      commissionFeePayer: 'CUSTOMER',
    };
    expect(take(t, offer)).toMatchObject({ networkFee: '0', commission: '2', net: '101' });
  });
});
