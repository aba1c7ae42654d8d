import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Coins, parseTrusted, type Usd } from '#shared/core/money.ts';
import { judge, mostPeople, needsPrice, type Policy, type PolicyFacts } from '#state-machines/settlement/policies.ts';
import '../core/arbitraries.ts';

const usd = (text: string) => parseTrusted<'usd'>(text) as Usd;
const coins = (text: string) => parseTrusted<'asset'>(text) as Coins;
const facts = (over: Partial<PolicyFacts> = {}): PolicyFacts => ({
  amount: coins('100'),
  priceUsd: usd('1'),
  dayUsd: usd('0'),
  assetId: 'usdt',
  knownForDays: 30,
  initiator: 'key',
  route: 'GREEN',
  ...over,
});
const TWO: Policy['outcome'] = { kind: 'approve', people: 2 };

describe('policies', () => {
  test('the first that is about a cashout decides, and where none is, nothing does', () => {
    const policies: Policy[] = [
      { when: { assetIds: ['btc'] }, outcome: { kind: 'refuse' } },
      { when: { aboveUsd: usd('50') }, outcome: TWO },
      { when: {}, outcome: { kind: 'allow' } },
    ];
    expect(judge(policies, facts())).toEqual({ policy: 2, outcome: TWO });
    expect(judge(policies, facts({ amount: coins('50') }))).toEqual({ policy: 3, outcome: { kind: 'allow' } });
    expect(judge(policies, facts({ assetId: 'btc' }))).toEqual({ policy: 1, outcome: { kind: 'refuse' } });
    expect(judge(policies.slice(0, 2), facts({ amount: coins('1') }))).toBeNull();
    expect(judge([], facts())).toBeNull();
  });

  test.each<[string, Policy['when'], Partial<PolicyFacts>, Partial<PolicyFacts>]>([
    ['an amount', { aboveUsd: usd('100') }, { amount: coins('100.000000000000000001') }, { amount: coins('100') }],
    ['an amount at its price', { aboveUsd: usd('100') }, { priceUsd: usd('1.01') }, { priceUsd: usd('0.99') }],
    ['a day', { dayAboveUsd: usd('1000') }, { dayUsd: usd('900.01') }, { dayUsd: usd('900') }],
    ['an asset', { assetIds: ['eth', 'usdt'] }, {}, { assetId: 'btc' }],
    ['a known destination', { destination: 'known' }, { knownForDays: 0 }, { knownForDays: null }],
    ['an unknown one', { destination: 'unknown' }, { knownForDays: null }, { knownForDays: 0 }],
    ['the age of its entry', { youngerThanDays: 2 }, { knownForDays: 1 }, { knownForDays: 2 }],
    ['no entry at all, which is younger than any', { youngerThanDays: 2 }, { knownForDays: null }, { knownForDays: 3 }],
    ['who asks', { initiator: 'person' }, { initiator: 'person' }, { initiator: 'key' }],
    ['the route', { route: 'SMART' }, { route: 'SMART' }, { route: 'GREEN' }],
  ])('%s is a condition', (_what, when, fits, fitsNot) => {
    const policies: Policy[] = [{ when, outcome: TWO }];
    expect(judge(policies, facts(fits))).toEqual({ policy: 1, outcome: TWO });
    expect(judge(policies, facts(fitsNot))).toBeNull();
  });

  test('what has no price counts against the cashout: it is refused or held, and never let through', () => {
    for (const when of [{ aboveUsd: usd('1000000') }, { dayAboveUsd: usd('1000000') }]) {
      expect(judge([{ when, outcome: TWO }], facts({ priceUsd: undefined }))?.outcome).toEqual(TWO);
      expect(judge([{ when, outcome: { kind: 'refuse' } }], facts({ priceUsd: undefined }))?.outcome.kind).toBe('refuse');
      expect(judge([{ when, outcome: { kind: 'allow' } }], facts({ priceUsd: undefined }))).toBeNull();
      expect(needsPrice([{ when, outcome: TWO }])).toBe(true);
    }
    expect(judge([{ when: { dayAboveUsd: usd('1000000') }, outcome: TWO }], facts({ dayUsd: null }))?.outcome).toEqual(TWO);
    expect(needsPrice([{ when: { route: 'GREEN', youngerThanDays: 1 }, outcome: TWO }])).toBe(false);
  });

  test('without a price the strictest decides of those that might', () => {
    const refuse: Policy['outcome'] = { kind: 'refuse' };
    const one: Policy['outcome'] = { kind: 'approve', people: 1 };
    const allow: Policy['outcome'] = { kind: 'allow' };
    const unpriced = facts({ priceUsd: undefined });
    const above = (text: string, outcome: Policy['outcome']): Policy => ({ when: { aboveUsd: usd(text) }, outcome });
    // A small one would not have met the first, and would have been refused.
    expect(judge([above('100', one), { when: {}, outcome: refuse }], unpriced)).toEqual({ policy: 2, outcome: refuse });
    expect(judge([above('100', one), above('50', TWO), { when: {}, outcome: allow }], unpriced)).toEqual({ policy: 2, outcome: TWO });
    expect(judge([{ when: {}, outcome: one }, above('1', refuse)], unpriced)).toEqual({ policy: 1, outcome: one });
    // What none is about meets the cap.
    expect(judge([above('100', allow), { when: { route: 'SMART' }, outcome: refuse }], unpriced)).toBeNull();
  });

  test('the most people that any asks for is what keys are held against', () => {
    expect(mostPeople([])).toBe(0);
    expect(
      mostPeople([
        { when: {}, outcome: { kind: 'allow' } },
        { when: {}, outcome: { kind: 'approve', people: 3 } },
        { when: {}, outcome: TWO },
      ]),
    ).toBe(3);
  });

  const cents = fc.integer({ min: 0, max: 2_000_000 });
  const whens = fc.record(
    {
      aboveUsd: cents,
      dayAboveUsd: cents,
      destination: fc.constantFrom('known' as const, 'unknown' as const),
      youngerThanDays: fc.integer({ min: 1, max: 5 }),
    },
    { requiredKeys: [] },
  );
  const asked = fc.record({ amount: cents, price: fc.integer({ min: 1, max: 400 }), day: cents, known: fc.option(fc.integer({ min: 0, max: 6 })) });

  test('ask without a price for no less than at any', () => {
    const outcomes = fc.oneof(
      fc.constant<Policy['outcome']>({ kind: 'allow' }),
      fc.constant<Policy['outcome']>({ kind: 'refuse' }),
      fc.integer({ min: 1, max: 3 }).map((people): Policy['outcome'] => ({ kind: 'approve', people })),
    );
    const written = fc.record({ when: whens, outcome: outcomes });
    // Where none is about it, the cap may still ask for somebody.
    const strictness = (verdict: ReturnType<typeof judge>): number =>
      verdict === null ? 0.5 : verdict.outcome.kind === 'approve' ? verdict.outcome.people : verdict.outcome.kind === 'refuse' ? Number.POSITIVE_INFINITY : 0;
    fc.assert(
      fc.property(fc.array(written, { maxLength: 5 }), asked, fc.boolean(), (all, { amount, price, day, known }, daily) => {
        const policies = all.map(({ when: { aboveUsd, dayAboveUsd, ...when }, outcome }): Policy => {
          const amounts = {
            ...(aboveUsd !== undefined && { aboveUsd: usd(String(aboveUsd)) }),
            ...(dayAboveUsd !== undefined && { dayAboveUsd: usd(String(dayAboveUsd)) }),
          };
          return { when: { ...when, ...amounts }, outcome };
        });
        const priced = facts({ amount: coins(String(amount)), priceUsd: usd(String(price)), dayUsd: usd(String(day)), knownForDays: known });
        const unknown = daily ? { ...priced, dayUsd: null } : { ...priced, priceUsd: undefined };
        expect(strictness(judge(policies, unknown))).toBeGreaterThanOrEqual(strictness(judge(policies, priced)));
      }),
    );
  });

  test('compare exactly what a plain calculation in whole cents does', () => {
    const text = (value: number, places = 100) => `${Math.floor(value / places)}.${String(value % places).padStart(String(places).length - 1, '0')}`;
    fc.assert(
      fc.property(fc.array(whens, { maxLength: 4 }), asked, (all, { amount, price, day, known }) => {
        // Cents of a coin times cents of a dollar: ten thousandths of a dollar.
        const worth = BigInt(amount) * BigInt(price);
        const plain = all.findIndex(
          (when) =>
            (when.aboveUsd === undefined || worth > BigInt(when.aboveUsd) * 100n) &&
            (when.dayAboveUsd === undefined || worth + BigInt(day) * 100n > BigInt(when.dayAboveUsd) * 100n) &&
            (when.destination === undefined || (known === null ? 'unknown' : 'known') === when.destination) &&
            (when.youngerThanDays === undefined || known === null || known < when.youngerThanDays),
        );
        const policies = all.map(({ aboveUsd, dayAboveUsd, ...when }): Policy => {
          const amounts = {
            ...(aboveUsd !== undefined && { aboveUsd: usd(text(aboveUsd)) }),
            ...(dayAboveUsd !== undefined && { dayAboveUsd: usd(text(dayAboveUsd)) }),
          };
          return { when: { ...when, ...amounts }, outcome: TWO };
        });
        const judged = judge(policies, facts({ amount: coins(text(amount)), priceUsd: usd(text(price)), dayUsd: usd(text(day)), knownForDays: known }));
        expect(judged?.policy ?? null).toBe(plain === -1 ? null : plain + 1);
      }),
    );
  });
});
