import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { agreePrices, isSteady } from '#api/clients/prices/agree.ts';
import type { StoredQuote } from '#api/store/prices.ts';
import { formatAmount, parseTrusted } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import { price as aPrice } from '../core/arbitraries.ts';
import { add, compare, fraction, minus, over, type Rational, rational, round, text, times, ZERO } from '../core/rational.ts';

const NOW = new Date('2026-11-21T12:00:00Z');
const RULES = { outlierBps: POLICY.priceOutlierBps, agreeing: POLICY.priceSourcesAgreeing };
const ago = (seconds: number): Date => new Date(NOW.getTime() - seconds * 1_000);

let counter = 0;
function quote(price: string, more: Partial<StoredQuote> = {}): StoredQuote {
  counter += 1;
  return {
    source: `source-${counter}`,
    symbol: 'ETH',
    price: parseTrusted(price),
    in: 'USD',
    takenAt: ago(10),
    goodUntil: new Date(NOW.getTime() + 1),
    standing: false,
    ...more,
  };
}
const agreedOn = (quotes: StoredQuote[], symbol = 'ETH') => agreePrices(quotes, NOW, RULES).find((one) => one.symbol === symbol);
const priceOf = (prices: string[]): string | undefined => {
  const agreed = agreedOn(prices.map((one) => quote(one)));
  return agreed && formatAmount(agreed.usd);
};

describe('what sources agree on', () => {
  it.each([
    ['three that agree: the middle one', ['2500', '2510', '2490'], '2500'],
    ['four: half way between the middle two', ['2500', '2502', '2490', '2510'], '2501'],
    ['two close together: half way', ['2500', '2510'], '2505'],
    ['two 5 % apart: just close enough', ['100', '105'], '102.5'],
    ['two further than 5 % apart: neither can be trusted', ['100', '105.01'], undefined],
    ['one alone: never', ['2500'], undefined],
    ['nobody', [], undefined],
    ['a thousandfold answer among three', ['2500', '2501', '2500000'], '2500.5'],
    ['a thousandth among three', ['2500', '2501', '2.5'], '2500.5'],
    ['a zero', ['0', '2500', '2501'], '2500.5'],
    ['a negative', ['-2500', '2500', '2501'], '2500.5'],
    ['an absurd one', ['1e30', '2500', '2501'].map((one) => (one === '1e30' ? '1000000000000000000000000000000' : one)), '2500.5'],
    ['two against two', ['100', '100', '200', '200'], undefined],
    ['two that agree among five that do not: no majority', ['100', '100', '500', '900', '9000'], undefined],
    ['exactly 5 % from the median stays', ['100', '100', '105'], '100'],
    ['more than 5 % from the median goes', ['100', '99', '105.01'], '99.5'],
    ['a stable coin is worth what it is traded at', ['0.98', '0.981', '0.979'], '0.98'],
  ])('%s', (_case, prices, expected) => {
    expect(priceOf(prices)).toBe(expected);
  });

  it('names the sources that agree and the oldest of their times', () => {
    const agreed = agreedOn([
      quote('2500', { source: 'kraken', takenAt: ago(40) }),
      quote('2501', { source: 'coinbase', takenAt: ago(3) }),
      quote('9', { source: 'broken', takenAt: ago(50) }),
    ]);
    expect(agreed).toMatchObject({ sources: ['coinbase', 'kraken'], at: ago(40) });
  });

  it('forgets a quote at the very moment it is no longer good', () => {
    expect(agreedOn([quote('2500'), quote('2500', { goodUntil: NOW })])).toBeUndefined();
  });

  it('takes a daily rate as being as good now as when it was taken', () => {
    const rates = [quote('1.08', { takenAt: ago(3_000), standing: true }), quote('1.081', { takenAt: ago(5) })];
    expect(agreedOn(rates)).toMatchObject({ at: ago(5) });
  });

  it('never lets yesterday outvote today: daily rates stand while no market contradicts them', () => {
    const yesterday = [quote('0.030', { standing: true }), quote('0.0301', { standing: true })];
    expect(agreedOn(yesterday)).toBeDefined();
    expect(agreedOn([...yesterday, quote('0.0299')])).toMatchObject({ at: ago(10) });
    expect(agreedOn([...yesterday, quote('0.024')])).toBeUndefined();
    const today = [quote('0.024'), quote('0.0241'), quote('0.0242')];
    expect(agreedOn([...yesterday, ...today])).toMatchObject({ usd: parseTrusted('0.0241') });
  });

  it('turns a price in USDT into dollars at what USDT itself is worth', () => {
    const quotes = [
      quote('0.9', { symbol: 'USDT' }),
      quote('0.9', { symbol: 'USDT', takenAt: ago(30) }),
      quote('2700', { symbol: 'ETH' }),
      quote('3000', { symbol: 'ETH', in: 'USDT' }),
    ];
    const agreed = agreedOn(quotes);
    expect(agreed && formatAmount(agreed.usd)).toBe('2700');
    expect(agreed?.at).toEqual(ago(30));
  });

  it('ignores a price in USDT while USDT has no price of its own', () => {
    expect(agreedOn([quote('2990'), quote('3000', { in: 'USDT' }), quote('1', { symbol: 'USDT' })])).toBeUndefined();
  });

  it('lets the missing agreement on one symbol harm no other', () => {
    const quotes = [quote('1', { symbol: 'TRX' }), quote('2', { symbol: 'TRX' }), quote('2500'), quote('2500')];
    expect(agreePrices(quotes, NOW, RULES).map((one) => one.symbol)).toEqual(['ETH']);
  });
});

/** The same rule in exact fractions, by counting instead of sorting. */
function oracle(prices: Rational[]): Rational | undefined {
  const middleOf = (values: Rational[]): Rational => {
    const below = (value: Rational) => values.filter((other) => compare(other, value) < 0).length;
    const upTo = (value: Rational) => values.filter((other) => compare(other, value) <= 0).length;
    const nth = (n: number) => values.find((value) => below(value) <= n && upTo(value) > n) as Rational;
    const half = values.length >> 1;
    return values.length % 2 === 1 ? nth(half) : round(over(add(nth(half - 1), nth(half)), fraction(2n, 1n)), 18, 'half-up');
  };
  const apart = (a: Rational, b: Rational) => (compare(a, b) >= 0 ? minus(a, b) : minus(b, a));
  const near = (value: Rational, reference: Rational) => compare(times(apart(value, reference), fraction(20n, 1n)), reference) <= 0;
  const sane = prices.filter((price) => compare(price, fraction(1n, 10n ** 12n)) >= 0 && compare(price, fraction(10n ** 9n, 1n)) <= 0);
  if (sane.length === 0) return undefined;
  const kept = sane.filter((price) => near(price, middleOf(sane)));
  const lost = sane.length - kept.length;
  if (kept.length < 2 || lost >= kept.length) return undefined;
  if (kept.length === 2) {
    const [a, b] = kept as [Rational, Rational];
    if (!near(compare(a, b) > 0 ? a : b, compare(a, b) > 0 ? b : a)) return undefined;
  }
  return middleOf(kept);
}

const around = fc
  .tuple(aPrice, fc.array(fc.integer({ min: -1_200, max: 1_200 }), { minLength: 1, maxLength: 7 }))
  .map(([base, offsets]) => offsets.map((bps) => text(round(times(rational(base), fraction(BigInt(10_000 + bps), 10_000n)), 18, 'half-up'))));
const broken = fc.constantFrom('0', '-1', '0.000000000001', '0.0000000000009', '1000000000', '1000000001');
const anyPrices = fc.oneof(
  around,
  fc.array(aPrice, { maxLength: 7 }),
  fc.tuple(around, fc.array(fc.oneof(broken, aPrice), { maxLength: 3 })).map(([good, bad]) => [...good, ...bad]),
);

describe('the agreement, whatever the sources say', () => {
  it('is what exact fractions say it is', () => {
    fc.assert(
      fc.property(anyPrices, (prices) => {
        const expected = oracle(prices.map(rational));
        expect(priceOf(prices)).toBe(expected && text(expected));
      }),
    );
  });

  it('does not depend on the order of the answers', () => {
    fc.assert(
      fc.property(
        anyPrices.chain((prices) => fc.tuple(fc.constant(prices), fc.shuffledSubarray(prices, { minLength: prices.length }))),
        ([prices, shuffled]) => {
          expect(priceOf(shuffled)).toBe(priceOf(prices));
        },
      ),
    );
  });

  it('cannot be moved out of the honest range by one liar among three', () => {
    fc.assert(
      fc.property(aPrice, fc.integer({ min: 0, max: 100 }), fc.oneof(aPrice, broken), (base, bps, lie) => {
        const other = text(round(times(rational(base), fraction(BigInt(10_000 + bps), 10_000n)), 18, 'half-up'));
        const agreed = priceOf([base, other, lie]);
        if (agreed === undefined) return;
        // A lie within the limit may pull the median to an honest source, or half way to the lie when one of them drops out.
        const tolerance = times(rational(other), fraction(6n, 100n));
        expect(compare(rational(agreed), minus(rational(base), tolerance))).toBeGreaterThanOrEqual(0);
        expect(compare(rational(agreed), add(rational(other), tolerance))).toBeLessThanOrEqual(0);
        expect(compare(rational(agreed), ZERO)).toBeGreaterThan(0);
      }),
    );
  });
});

describe('a price that left the last one', () => {
  const steady = (usd: string, last: string, secondsBetween: number): boolean => {
    const at = new Date('2026-11-22T12:00:00Z');
    const before = new Date(at.getTime() - secondsBetween * 1_000);
    return isSteady({ usd: parseTrusted(usd), at }, { usd: parseTrusted(last), at: before }, { factor: 2, withinSeconds: 3_600 });
  };
  it.each([
    ['moves as markets do', '2100', '2000', 30, true],
    ['doubles', '4000', '2000', 30, true],
    ['more than doubles', '4000.01', '2000', 30, false],
    ['halves', '1000', '2000', 30, true],
    ['falls to less than half', '999.99', '2000', 30, false],
    ['slips by three places', '2', '2000', 3_600, false],
    ['has an hour to do so', '2', '2000', 3_601, true],
  ])('and %s', (_case, usd, last, secondsBetween, believed) => {
    expect(steady(usd, last, secondsBetween)).toBe(believed);
  });
});
