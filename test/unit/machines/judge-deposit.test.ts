import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Coins, formatAmount, formatCents, parseTrusted, type Usd } from '#shared/core/money.ts';
import {
  type ConfirmedDeposit,
  isDust,
  isWithinGrace,
  type Judged,
  type JudgedPayment,
  type Judgement,
  judgeDeposit,
  type SelectedOffer,
} from '#state-machines/payment/judge-deposit.ts';
import { decimal, decimalsOfAsset, price } from '../core/arbitraries.ts';
import { compare, fraction, minus, over, type Rational, rational, round, text, times, ZERO } from '../core/rational.ts';

const coins = (value: string) => parseTrusted<'asset'>(value) as Coins;
const usd = (value: string) => parseTrusted<'usd'>(value) as Usd;
const DEADLINE = 1_000_000;

function anOffer(changes: Partial<SelectedOffer> = {}): SelectedOffer {
  return { id: 'offer-usdt', assetId: 'usdt', priceUsd: usd('1'), totalValue: coins('100'), selectedAt: 1, ...changes };
}

function aPayment(changes: Partial<JudgedPayment> = {}): JudgedPayment {
  return {
    openAmount: false,
    minimumUsd: null,
    checkAmountDeviation: true,
    tolerance: { kind: 'ABSOLUTE', over: 0n, under: 0n },
    expiresAt: DEADLINE,
    expired: false,
    decided: false,
    selected: [anOffer()],
    ...changes,
  };
}

function aDeposit(changes: Partial<ConfirmedDeposit> = {}): ConfirmedDeposit {
  return { assetId: 'usdt', received: coins('100'), firstSeenAt: 10, confirmedAt: 20, marketPriceUsd: usd('1'), byInquiry: false, ...changes };
}

function judged(payment: Partial<JudgedPayment>, deposit: Partial<ConfirmedDeposit>): Judgement {
  const judgement: Judged = judgeDeposit(aPayment(payment), aDeposit(deposit));
  if ('needs' in judgement) throw new Error('a price was asked for');
  return judgement;
}

const percent = (overPercent: string, underPercent: string) => ({ kind: 'PERCENTAGE' as const, over: usd(overPercent), under: usd(underPercent) });
const dollars = (overUsd: string, underUsd: string) => ({ kind: 'ABSOLUTE' as const, over: usd(overUsd), under: usd(underUsd) });

describe('of several offers that were selected', () => {
  const eth = anOffer({ id: 'offer-eth', assetId: 'eth', priceUsd: usd('2500'), totalValue: coins('0.04'), selectedAt: 5 });
  const btc = anOffer({ id: 'offer-btc', assetId: 'btc', priceUsd: usd('60000'), totalValue: coins('0.002'), selectedAt: 5 });
  const wrong = { assetId: 'dai', marketPriceUsd: usd('1') };

  test('the last one judges another asset, wherever it stands in the list', () => {
    expect(judged({ selected: [eth, anOffer({ selectedAt: 4 })] }, wrong).offerId).toBe('offer-eth');
    expect(judged({ selected: [anOffer({ selectedAt: 4 }), eth] }, wrong).offerId).toBe('offer-eth');
  });

  test('two of the same moment are told apart by their place: the later one judges', () => {
    expect(judged({ selected: [eth, btc] }, wrong).offerId).toBe('offer-btc');
    expect(judged({ selected: [btc, eth] }, wrong).offerId).toBe('offer-eth');
  });

  test('the one of the asset received judges before any that came later', () => {
    expect(judged({ selected: [anOffer(), eth, btc] }, {}).offerId).toBe('offer-usdt');
  });
});

describe('a fixed amount of 100 USD', () => {
  const bounds: [string, JudgedPayment['tolerance'], string, string, string][] = [
    // Inside, at and outside each bound, in dollars.
    ['no tolerance', dollars('0', '0'), '100', 'SUCCESS', '0.00'],
    ['no tolerance', dollars('0', '0'), '100.01', 'MISMATCH', '0.01'],
    ['no tolerance', dollars('0', '0'), '99.99', 'MISMATCH', '-0.01'],
    ['no tolerance, half a cent over', dollars('0', '0'), '100.005', 'MISMATCH', '0.01'],
    ['no tolerance, less than half a cent over', dollars('0', '0'), '100.004999', 'SUCCESS', '0.00'],
    ['no tolerance, half a cent under rounds up to all of it', dollars('0', '0'), '99.995', 'SUCCESS', '0.00'],
    ['no tolerance, more than half a cent under', dollars('0', '0'), '99.994999', 'MISMATCH', '-0.01'],
    ['2 dollars over', dollars('2', '0'), '101.99', 'ACCEPTABLE', '1.99'],
    ['2 dollars over', dollars('2', '0'), '102', 'ACCEPTABLE', '2.00'],
    ['2 dollars over', dollars('2', '0'), '102.004999', 'ACCEPTABLE', '2.00'],
    ['2 dollars over', dollars('2', '0'), '102.005', 'MISMATCH', '2.01'],
    ['2 dollars over', dollars('2', '0'), '102.01', 'MISMATCH', '2.01'],
    ['2 dollars over, none under', dollars('2', '0'), '99.99', 'MISMATCH', '-0.01'],
    ['3 dollars under', dollars('0', '3'), '97.01', 'ACCEPTABLE', '-2.99'],
    ['3 dollars under', dollars('0', '3'), '97', 'ACCEPTABLE', '-3.00'],
    ['3 dollars under', dollars('0', '3'), '96.99', 'MISMATCH', '-3.01'],
    ['3 dollars under, none over', dollars('0', '3'), '100.01', 'MISMATCH', '0.01'],
    // In percent of what was expected.
    ['1 % under', percent('0', '1'), '99', 'ACCEPTABLE', '-1.00'],
    ['1 % under', percent('0', '1'), '98.99', 'MISMATCH', '-1.01'],
    ['1 % under', percent('0', '1'), '98.995', 'ACCEPTABLE', '-1.00'],
    ['1 % over', percent('1', '0'), '101', 'ACCEPTABLE', '1.00'],
    ['1 % over', percent('1', '0'), '101.01', 'MISMATCH', '1.01'],
    ['0.005 % over is half a cent, which is a cent', percent('0.005', '0'), '100.01', 'ACCEPTABLE', '0.01'],
    ['0.0049 % over is nothing', percent('0.0049', '0'), '100.01', 'MISMATCH', '0.01'],
    ['150 % under', percent('0', '150'), '0.01', 'ACCEPTABLE', '-99.99'],
    // At or below zero there is no tolerance.
    ['a negative tolerance', dollars('-5', '-5'), '100.01', 'MISMATCH', '0.01'],
    ['a negative tolerance', dollars('-5', '-5'), '99.99', 'MISMATCH', '-0.01'],
    ['a tolerance that rounds to nothing', dollars('0.004', '0.004'), '99.99', 'MISMATCH', '-0.01'],
    ['a tolerance that rounds to a cent', dollars('0.005', '0.005'), '99.99', 'ACCEPTABLE', '-0.01'],
    ['a tolerance of everything', dollars('0', '100'), '0.000001', 'ACCEPTABLE', '-100.00'],
  ];
  test.each(bounds.map(([name, tolerance, received, verdict, deviation]) => ({ name, tolerance, received, verdict, deviation })))(
    'with $name, paid $received, is $verdict by $deviation',
    ({ tolerance, received, verdict, deviation }) => {
      const result = judged({ tolerance }, { received: coins(received) });
      expect([result.verdict, formatCents(result.deviationUsd as Usd)]).toEqual([verdict, deviation]);
    },
  );

  test.each(['0.000001', '99.99', '100', '100.01', '5000'])('is SUCCESS at %s when deviations are not checked, and the deviation is still told', (received) => {
    const result = judged({ checkAmountDeviation: false }, { received: coins(received) });
    expect(result.verdict).toBe('SUCCESS');
    expect(compare(rational(formatAmount(result.deviationUsd as Usd)), round(minus(rational(received), rational('100')), 2, 'half-up'))).toBe(0);
  });
});

describe('the figures of a judgement', () => {
  test('show a tolerance at or below zero as none', () => {
    expect(judged({ tolerance: dollars('-5', '0') }, {})).toMatchObject({ overUsd: 0n, underUsd: 0n });
    expect(judged({ tolerance: percent('2', '-5') }, {})).toMatchObject({ overUsd: usd('2'), underUsd: 0n });
  });

  test('are rounded to cents once: a value a hair below half a cent is not lifted over it by an earlier rounding', () => {
    const result = judged({}, { assetId: 'dai', received: coins('0.5'), marketPriceUsd: usd('200.009999999999999999') });
    expect(result).toMatchObject({ verdict: 'SUCCESS', receivedUsd: usd('100'), deviationUsd: 0n });
  });
});

describe('the exact totalValue', () => {
  test('is SUCCESS before any arithmetic, even where a coin is worth so much that its last unit is dollars', () => {
    const offer = anOffer({ assetId: 'rock', priceUsd: usd('60000.013'), totalValue: coins('3') });
    const result = judged({ selected: [offer] }, { assetId: 'rock', received: coins('3'), marketPriceUsd: usd('1') });
    expect(result).toMatchObject({ verdict: 'SUCCESS', exact: true, deviationUsd: 0n, priceKind: 'locked' });
  });

  test('is not exact by one unit', () => {
    expect(judged({}, { received: coins('100.000001') })).toMatchObject({ exact: false, verdict: 'SUCCESS' });
  });

  test('at a price of the market, after the deadline, is valued like any other amount', () => {
    const result = judged({ expired: true }, { firstSeenAt: DEADLINE, marketPriceUsd: usd('0.9') });
    expect(result).toMatchObject({ verdict: 'MISMATCH', exact: false, priceKind: 'market', deviationUsd: usd('-10') });
  });
});

describe('which offer judges', () => {
  const eth = anOffer({ id: 'offer-eth', assetId: 'eth', priceUsd: usd('2500'), totalValue: coins('0.04'), selectedAt: 2 });

  test('is the one of the asset that arrived, if it was selected, not the last one selected', () => {
    expect(judged({ selected: [anOffer(), eth] }, { received: coins('100') })).toMatchObject({
      offerId: 'offer-usdt',
      verdict: 'SUCCESS',
      expectedAmount: coins('100'),
    });
    expect(judged({ selected: [anOffer(), eth] }, { assetId: 'eth', received: coins('0.04'), marketPriceUsd: null })).toMatchObject({
      offerId: 'offer-eth',
      verdict: 'SUCCESS',
      expectedAmount: coins('0.04'),
    });
  });

  test('is the last one selected for a wrong asset, which is valued at its own market price', () => {
    const result = judged(
      { selected: [eth, anOffer()], tolerance: dollars('0', '1') },
      { assetId: 'dai', received: coins('99.5'), marketPriceUsd: usd('1.001') },
    );
    expect(result).toMatchObject({
      offerId: 'offer-eth',
      verdict: 'ACCEPTABLE',
      priceKind: 'market',
      priceUsd: usd('1.001'),
      deviationUsd: usd('-0.40'),
      receivedAmountUsd: usd('99.60'),
      exact: false,
    });
  });

  test('counts its customer-borne fees as expected: totalValue, not the principal', () => {
    expect(judged({ selected: [anOffer({ totalValue: coins('101.5') })] }, { received: coins('100') })).toMatchObject({
      verdict: 'MISMATCH',
      deviationUsd: usd('-1.50'),
    });
  });

  test('is nobody when nothing was selected, which cannot happen', () => {
    expect(() => judgeDeposit(aPayment({ selected: [] }), aDeposit())).toThrow();
  });
});

describe('time', () => {
  test.each([
    ['a moment before the deadline', DEADLINE - 1, 'locked', 'SUCCESS'],
    ['at the deadline', DEADLINE, 'market', 'MISMATCH'],
    ['after the deadline', DEADLINE + 1, 'market', 'MISMATCH'],
  ] as const)('a deposit first seen %s is valued at the %s price', (_, firstSeenAt, priceKind, verdict) => {
    expect(judged({}, { firstSeenAt, confirmedAt: DEADLINE + 9_999, marketPriceUsd: usd('0.5') })).toMatchObject({ priceKind, verdict });
  });

  test.each([
    ['on the day after the deadline, to the second', 86_400_000, 'locked'],
    ['later than that', 86_400_001, 'market'],
  ])('a deposit that waited in the mempool before the deadline and was mined %s is valued as such', (_, after, priceKind) => {
    const minedAt = DEADLINE + after;
    expect(judged({}, { firstSeenAt: DEADLINE - 1, minedAt, confirmedAt: minedAt + 1, marketPriceUsd: usd('0.5') })).toMatchObject({ priceKind });
  });

  test.each([
    ['confirmed in time', { confirmedAt: DEADLINE - 1 }, {}, 'standard'],
    ['confirmed at the deadline', { confirmedAt: DEADLINE }, {}, 'late_confirmation'],
    ['seen in time and confirmed late', { confirmedAt: DEADLINE + 1 }, {}, 'late_confirmation'],
    ['seen in time and found after expiry', { confirmedAt: DEADLINE + 1 }, { expired: true }, 'late_capture'],
    ['seen after expiry', { firstSeenAt: DEADLINE + 5, confirmedAt: DEADLINE + 9 }, { expired: true }, 'late_capture'],
    ['further to one that decided, seen in time and confirmed late', { confirmedAt: DEADLINE + 1 }, { decided: true }, 'late_confirmation'],
    ['further to one that decided, first seen at the deadline', { firstSeenAt: DEADLINE, confirmedAt: DEADLINE + 9 }, { decided: true }, 'late_capture'],
    ['brought in by an inquiry', { byInquiry: true }, {}, 'manual_inquiry'],
    ['brought in by an inquiry after expiry', { byInquiry: true, firstSeenAt: DEADLINE + 5, confirmedAt: DEADLINE + 9 }, { expired: true }, 'manual_inquiry'],
  ] as const)('a deposit %s took the path that says so', (_, deposit, payment, path) => {
    expect(judged(payment, deposit).path).toBe(path);
  });

  test('grace ends with its last millisecond', () => {
    expect([
      isWithinGrace(DEADLINE + 60_000, DEADLINE, 60),
      isWithinGrace(DEADLINE + 60_001, DEADLINE, 60),
      isWithinGrace(DEADLINE, DEADLINE, 0),
      isWithinGrace(DEADLINE + 1, DEADLINE, 0),
      isWithinGrace(0, DEADLINE, 0),
    ]).toEqual([true, false, true, false, true]);
  });
});

describe('without a fresh market price', () => {
  const late = { firstSeenAt: DEADLINE, confirmedAt: DEADLINE, marketPriceUsd: null };

  test('a deposit in a selected asset is judged all the same, and only its market value is missing', () => {
    expect(judged({}, { marketPriceUsd: null })).toMatchObject({ verdict: 'SUCCESS', receivedAmountUsd: null });
  });

  test.each<[string, Partial<JudgedPayment>, Partial<ConfirmedDeposit>]>([
    ['a wrong asset', {}, { assetId: 'dai', marketPriceUsd: null }],
    ['a late deposit', { expired: true }, late],
    ['an open amount', { openAmount: true, minimumUsd: usd('1') }, { marketPriceUsd: null }],
    ['a wrong asset whose deviation is not even checked', { checkAmountDeviation: false }, { assetId: 'dai', marketPriceUsd: null }],
  ])('%s waits for one', (_, payment, deposit) => {
    expect(judgeDeposit(aPayment(payment), aDeposit(deposit))).toEqual({ needs: 'marketPrice' });
  });
});

describe('an open amount', () => {
  const open = { openAmount: true, minimumUsd: usd('10'), tolerance: dollars('5', '5') };

  test.each([
    ['0.01', 'MISMATCH', '-9.99'],
    ['9.99', 'MISMATCH', '-0.01'],
    ['9.994999', 'MISMATCH', '-0.01'],
    ['9.995', 'SUCCESS', null],
    ['10', 'SUCCESS', null],
    ['10.01', 'SUCCESS', null],
    ['100000', 'SUCCESS', null],
  ])('of %s dollars against a minimum of 10 is %s, and tolerances do not matter', (received, verdict, deviation) => {
    const result = judged(open, { received: coins(received) });
    expect([result.verdict, result.deviationUsd === null ? null : formatCents(result.deviationUsd)]).toEqual([verdict, deviation]);
  });

  test('is worth what the market says at confirmation, whatever an offer said', () => {
    expect(judged(open, { received: coins('100'), marketPriceUsd: usd('0.05') })).toMatchObject({
      verdict: 'MISMATCH',
      priceKind: 'market',
      receivedUsd: usd('5'),
      deviationUsd: usd('-5'),
      receivedAmountUsd: usd('5'),
    });
  });

  test('is never excused by not checking deviations: the minimum is not a deviation', () => {
    expect(judged({ ...open, checkAmountDeviation: false }, { received: coins('1') }).verdict).toBe('MISMATCH');
  });

  test('without a minimum or a selected offer is SUCCESS', () => {
    expect(judged({ openAmount: true, minimumUsd: null, selected: [] }, { received: coins('0.000001') })).toMatchObject({ verdict: 'SUCCESS', offerId: null });
  });
});

describe('less than a cent expected', () => {
  const tiny = { selected: [anOffer({ priceUsd: usd('0.0001'), totalValue: coins('99') })], tolerance: dollars('50', '50') };

  test.each([
    ['99', 'SUCCESS'],
    ['98.999999', 'MISMATCH'],
    ['99.000001', 'MISMATCH'],
    ['1000000', 'MISMATCH'],
  ])('and %s coins received is %s: any difference counts, no tolerance does', (received, verdict) => {
    expect(judged(tiny, { received: coins(received), marketPriceUsd: usd('0.0001') }).verdict).toBe(verdict);
  });

  test('exactly a cent expected is judged in cents again', () => {
    expect(
      judged({ ...tiny, selected: [anOffer({ priceUsd: usd('0.0001'), totalValue: coins('100') })] }, { received: coins('101'), marketPriceUsd: null }).verdict,
    ).toBe('SUCCESS');
  });

  test('of a wrong asset only the very same value is enough', () => {
    const wrong = (received: string) => judged(tiny, { assetId: 'dai', received: coins(received), marketPriceUsd: usd('1') }).verdict;
    expect([wrong('0.0099'), wrong('0.00990001')]).toEqual(['SUCCESS', 'MISMATCH']);
  });

  test('is SUCCESS when deviations are not checked', () => {
    expect(judged({ ...tiny, checkAmountDeviation: false }, { received: coins('1') }).verdict).toBe('SUCCESS');
  });
});

describe('dust', () => {
  test('is below the floor, not at it', () => {
    expect([isDust(coins('0.99'), coins('1')), isDust(coins('1'), coins('1')), isDust(coins('0'), coins('0'))]).toEqual([true, false, false]);
  });
});

/** Decisions 3 for fixed amounts, in fractions. */
function oracle(c: Case): { verdict: string; deviation: Rational } {
  const own = c.assetId === 'own';
  const locked = own && c.inTime;
  const cents = (value: Rational) => round(value, 2, 'half-up');
  const total = rational(c.totalValue);
  const expected = times(total, rational(c.offerPrice));
  const received = rational(c.received);
  const value = times(received, rational(locked ? c.offerPrice : c.marketPrice));
  const exact = locked && compare(received, total) === 0;
  const deviation = exact ? ZERO : minus(cents(value), cents(expected));
  const tiny = compare(expected, rational('0.01')) < 0;
  const tolerance = (given: string) => {
    if (compare(rational(given), ZERO) <= 0 || tiny) return ZERO;
    return cents(c.kind === 'ABSOLUTE' ? rational(given) : over(times(expected, rational(given)), rational('100')));
  };
  if (exact || !c.check) return { verdict: 'SUCCESS', deviation };
  if (tiny) {
    const same = own ? compare(received, total) === 0 : compare(value, expected) === 0;
    return { verdict: same ? 'SUCCESS' : 'MISMATCH', deviation };
  }
  if (compare(deviation, ZERO) === 0) return { verdict: 'SUCCESS', deviation };
  const inside = compare(deviation, ZERO) > 0 ? compare(deviation, tolerance(c.over)) <= 0 : compare(minus(ZERO, deviation), tolerance(c.under)) <= 0;
  return { verdict: inside ? 'ACCEPTABLE' : 'MISMATCH', deviation };
}

interface Case {
  totalValue: string;
  offerPrice: string;
  marketPrice: string;
  received: string;
  assetId: 'own' | 'other';
  inTime: boolean;
  check: boolean;
  kind: 'ABSOLUTE' | 'PERCENTAGE';
  over: string;
  under: string;
}

/** Deposits crowd around what was expected and around both tolerances, where verdicts change. */
const cases: fc.Arbitrary<Case> = fc
  .record({
    totalUnits: fc.oneof(fc.bigInt({ min: 1n, max: 10_000n }), fc.bigInt({ min: 1n, max: 10n ** 24n })),
    decimals: decimalsOfAsset,
    offerPrice: price,
    marketPrice: price,
    aim: fc.constantFrom('expected' as const, 'over' as const, 'under' as const, 'anywhere' as const),
    nudgeUnits: fc.bigInt({ min: -3n, max: 3n }),
    nudgeCents: fc.bigInt({ min: -2n, max: 2n }),
    anywhere: fc.bigInt({ min: 0n, max: 10n ** 24n }),
    assetId: fc.constantFrom('own' as const, 'own' as const, 'other' as const),
    inTime: fc.boolean(),
    check: fc.constantFrom(true, true, true, false),
    kind: fc.constantFrom('ABSOLUTE' as const, 'PERCENTAGE' as const),
    over: fc.oneof(fc.constantFrom('0', '-1', '0.004', '0.005', '1', '2.5'), decimal({ digits: 2, places: 3 })),
    under: fc.oneof(fc.constantFrom('0', '-1', '0.004', '0.005', '1', '2.5'), decimal({ digits: 2, places: 3 })),
  })
  .map(({ totalUnits, decimals, aim, nudgeUnits, nudgeCents, anywhere, ...rest }) => {
    const unit = 10n ** BigInt(decimals);
    const totalValue = fraction(totalUnits, unit);
    const valuedAt = rational(rest.assetId === 'own' && rest.inTime ? rest.offerPrice : rest.marketPrice);
    const expected = times(totalValue, rational(rest.offerPrice));
    const side = aim === 'over' ? rational(rest.over) : aim === 'under' ? minus(ZERO, rational(rest.under)) : ZERO;
    const shift = rest.kind === 'ABSOLUTE' ? side : over(times(expected, side), rational('100'));
    const target = over(minus(expected, minus(fraction(nudgeCents, 200n), shift)), valuedAt);
    const units = aim === 'anywhere' ? anywhere : round(times(target, fraction(unit, 1n)), 0, 'half-up').n + nudgeUnits;
    const exactly = aim === 'expected' && nudgeCents === 0n ? totalUnits + nudgeUnits : units;
    return { ...rest, totalValue: text(totalValue), received: text(fraction(exactly < 0n ? 0n : exactly, unit)) };
  });

describe('every judgement of a fixed amount', () => {
  test('equals the one made in exact fractions, verdict and deviation', () => {
    fc.assert(
      fc.property(cases, (c) => {
        const result = judged(
          {
            checkAmountDeviation: c.check,
            expired: !c.inTime,
            tolerance: { kind: c.kind, over: usd(c.over), under: usd(c.under) },
            selected: [{ id: 'offer', assetId: 'own', priceUsd: usd(c.offerPrice), totalValue: coins(c.totalValue), selectedAt: 1 }],
          },
          { assetId: c.assetId, received: coins(c.received), firstSeenAt: c.inTime ? 0 : DEADLINE, marketPriceUsd: usd(c.marketPrice) },
        );
        const expected = oracle(c);
        expect({ verdict: result.verdict, deviation: formatAmount(result.deviationUsd as Usd) }).toEqual({
          verdict: expected.verdict,
          deviation: text(expected.deviation),
        });
      }),
    );
  });

  test('is drawn from all three verdicts, each often enough to mean something', () => {
    const counts = { SUCCESS: 0, ACCEPTABLE: 0, MISMATCH: 0 };
    for (const c of fc.sample(cases, { numRuns: 1_000, seed: 1 })) counts[oracle(c).verdict as keyof typeof counts] += 1;
    expect(Math.min(counts.SUCCESS, counts.ACCEPTABLE, counts.MISMATCH)).toBeGreaterThan(50);
  });
});

describe('the rule a judgement follows', () => {
  test.each<[string, Partial<JudgedPayment>, Partial<ConfirmedDeposit>, string]>([
    ['exact_total_value', { checkAmountDeviation: false }, {}, 'SUCCESS'],
    ['deviation_not_checked', { checkAmountDeviation: false }, { received: coins('1') }, 'SUCCESS'],
    ['no_deviation', {}, { received: coins('100.000001') }, 'SUCCESS'],
    ['within_over_tolerance', { tolerance: dollars('1', '0') }, { received: coins('101') }, 'ACCEPTABLE'],
    ['within_under_tolerance', { tolerance: dollars('0', '1') }, { received: coins('99') }, 'ACCEPTABLE'],
    ['outside_tolerance', { tolerance: dollars('1', '1') }, { received: coins('98') }, 'MISMATCH'],
    ['open_amount_minimum_met', { openAmount: true, minimumUsd: usd('100') }, {}, 'SUCCESS'],
    ['open_amount_below_minimum', { openAmount: true, minimumUsd: usd('101') }, {}, 'MISMATCH'],
  ])('%s is named, and leads to its verdict', (rule, payment, deposit, verdict) => {
    expect(judged(payment, deposit)).toMatchObject({ rule, verdict });
  });
});

describe('every judgement of an open amount', () => {
  const open = fc.record({
    units: fc.oneof(fc.bigInt({ min: 0n, max: 10_000n }), fc.bigInt({ min: 0n, max: 10n ** 24n })),
    decimals: decimalsOfAsset,
    marketPrice: price,
    minimum: decimal({ digits: 4, places: 2 }),
    atMinimum: fc.boolean(),
    nudge: fc.bigInt({ min: -3n, max: 3n }),
    over: decimal({ digits: 3, places: 2 }),
    under: decimal({ digits: 3, places: 2 }),
    selected: fc.boolean(),
    inTime: fc.boolean(),
    check: fc.boolean(),
  });

  test('equals the one made in exact fractions, whatever the tolerances, offers and times, and is never ACCEPTABLE', () => {
    fc.assert(
      fc.property(open, ({ units, decimals, marketPrice, minimum, atMinimum, nudge, inTime, ...given }) => {
        const unit = 10n ** BigInt(decimals);
        const near = round(times(over(rational(minimum), rational(marketPrice)), fraction(unit, 1n)), 0, 'half-up').n + nudge;
        const received = fraction(atMinimum ? (near < 0n ? 0n : near) : units, unit);
        const result = judged(
          {
            openAmount: true,
            minimumUsd: usd(minimum),
            checkAmountDeviation: given.check,
            expired: !inTime,
            tolerance: { kind: 'ABSOLUTE', over: usd(given.over), under: usd(given.under) },
            selected: given.selected ? [anOffer({ totalValue: coins('0') })] : [],
          },
          { received: coins(text(received)), firstSeenAt: inTime ? 0 : DEADLINE, marketPriceUsd: usd(marketPrice) },
        );
        const cents = round(times(received, rational(marketPrice)), 2, 'half-up');
        const short = minus(cents, rational(minimum));
        const met = compare(short, ZERO) >= 0;
        expect({
          verdict: result.verdict,
          deviation: result.deviationUsd === null ? null : formatAmount(result.deviationUsd),
          received: formatAmount(result.receivedUsd),
        }).toEqual({
          verdict: met ? 'SUCCESS' : 'MISMATCH',
          deviation: met ? null : text(short),
          received: text(cents),
        });
      }),
    );
  });
});
