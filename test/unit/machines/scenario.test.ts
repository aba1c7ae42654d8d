import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { amount, type Coins, formatAmount, ONE, parseTrusted, toUnits, usdToCoins } from '#shared/core/money.ts';
import { type JudgedPayment, type Judgement, judgeDeposit } from '#state-machines/payment/judge-deposit.ts';
import { SCENARIOS, type DepositScenario, type ScenarioTerms, scenarioAmount } from '#state-machines/payment/scenario.ts';

interface Terms {
  asked?: string;
  priceUsd?: string;
  decimals?: number;
  dustFloor?: string;
  over?: string;
  under?: string;
  kind?: 'ABSOLUTE' | 'PERCENTAGE';
  checked?: boolean;
}

/** A payment with one selected offer, as the scenario sees it. */
function termsOf({
  asked = '100',
  priceUsd = '1',
  decimals = 6,
  dustFloor = '0.01',
  over = '0',
  under = '0',
  kind = 'ABSOLUTE',
  checked = true,
}: Terms): ScenarioTerms {
  const totalValue = parseTrusted<'asset'>(asked);
  const payment: JudgedPayment = {
    openAmount: false,
    minimumUsd: null,
    checkAmountDeviation: checked,
    tolerance: { kind, over: parseTrusted<'usd'>(over), under: parseTrusted<'usd'>(under) },
    expiresAt: 2_000,
    expired: false,
    decided: false,
    selected: [{ id: 'offer', assetId: 'asset', priceUsd: parseTrusted<'usd'>(priceUsd), totalValue, selectedAt: 0 }],
  };
  const judge = (received: Coins): Judgement => {
    const judged = judgeDeposit(payment, { assetId: 'asset', received, firstSeenAt: 1_000, confirmedAt: 1_000, marketPriceUsd: null, byInquiry: false });
    if ('needs' in judged) throw new Error('a locked price needs no market');
    return judged;
  };
  return { decimals, dustFloor: parseTrusted<'asset'>(dustFloor), asked: totalValue, judge };
}

function played(scenario: DepositScenario, terms: Terms): [string, string] | undefined {
  const all = termsOf(terms);
  const coins = scenarioAmount(scenario, all);
  return coins === undefined ? undefined : [formatAmount(coins), all.judge(coins).verdict];
}

describe('the amount of a scenario', () => {
  it.each([
    ['success', {}, ['100', 'SUCCESS']],
    ['seen_then_confirmed', {}, ['100', 'SUCCESS']],
    ['late_capture', {}, ['100', 'SUCCESS']],
    ['wrong_asset', {}, ['100', 'SUCCESS']],
    ['underpaid', {}, ['90', 'MISMATCH']],
    ['underpaid', { under: '10' }, ['50', 'MISMATCH']],
    ['underpaid', { under: '60' }, ['10', 'MISMATCH']],
    ['underpaid', { under: '95' }, ['0.1', 'MISMATCH']],
    ['underpaid', { under: '100' }, ['90', 'ACCEPTABLE']],
    ['underpaid', { checked: false }, ['90', 'SUCCESS']],
    ['underpaid', { asked: '0.01' }, undefined],
    ['underpaid', { asked: '0.01', dustFloor: '0' }, ['0.001', 'MISMATCH']],
    ['underpaid', { asked: '1', decimals: 0, dustFloor: '0' }, undefined],
    ['overpaid', {}, ['110', 'MISMATCH']],
    ['overpaid', { over: '10' }, ['120', 'MISMATCH']],
    ['overpaid', { over: '10', kind: 'PERCENTAGE' }, ['120', 'MISMATCH']],
    ['overpaid', { asked: '0.01' }, ['0.02', 'MISMATCH']],
    ['overpaid', { asked: '1', decimals: 0, priceUsd: '30000' }, ['2', 'MISMATCH']],
    ['overpaid', { checked: false }, ['110', 'SUCCESS']],
    ['acceptable', { under: '1' }, ['99', 'ACCEPTABLE']],
    ['acceptable', { over: '1' }, ['101', 'ACCEPTABLE']],
    ['acceptable', { under: '1', over: '5' }, ['99', 'ACCEPTABLE']],
    ['acceptable', { under: '2.5', kind: 'PERCENTAGE', priceUsd: '2' }, ['97.5', 'ACCEPTABLE']],
    ['acceptable', { under: '5000' }, ['10', 'ACCEPTABLE']],
    ['acceptable', {}, undefined],
    ['acceptable', { under: '-1', over: '-1' }, undefined],
    ['acceptable', { under: '0.004' }, undefined],
    ['acceptable', { under: '1', checked: false }, undefined],
    ['acceptable', { under: '1', decimals: 0, priceUsd: '30000', asked: '3' }, undefined],
  ] as [DepositScenario, Terms, [string, string] | undefined][])('%s with %o', (scenario, terms, expected) =>
    expect(played(scenario, terms)).toEqual(expected),
  );

  it('is always payable, and deviates to the side that its name says', () => {
    const cents = fc.bigInt({ min: 1n, max: 10n ** 9n });
    const anyTerms = fc.record({
      cents,
      price: fc.bigInt({ min: 10n ** 10n, max: 10n ** 23n }),
      decimals: fc.integer({ min: 0, max: 18 }),
      over: fc.bigInt({ min: -100n, max: 10n ** 6n }),
      under: fc.bigInt({ min: -100n, max: 10n ** 6n }),
      kind: fc.constantFrom('ABSOLUTE' as const, 'PERCENTAGE' as const),
      checked: fc.boolean(),
    });
    fc.assert(
      fc.property(
        anyTerms,
        fc.constantFrom(...SCENARIOS.filter((one) => one !== 'expired')),
        ({ cents, price, decimals, over, under, kind, checked }, scenario) => {
          const priceUsd = amount<'usd'>(price);
          const asked = usdToCoins(amount(cents * 10n ** 16n), priceUsd, decimals, 'up');
          const tolerance = (one: bigint): string => formatAmount(one * 10n ** 16n);
          const terms = termsOf({
            asked: formatAmount(asked),
            priceUsd: formatAmount(priceUsd),
            decimals,
            dustFloor: '0',
            over: tolerance(over),
            under: tolerance(under),
            kind,
            checked,
          });
          const coins = scenarioAmount(scenario, terms);
          if (coins === undefined) return ['acceptable', 'underpaid'].includes(scenario);
          const { verdict } = terms.judge(coins);
          const sides: Record<DepositScenario, boolean> = {
            success: coins === asked,
            seen_then_confirmed: coins === asked,
            late_capture: coins === asked,
            wrong_asset: coins === asked,
            acceptable: verdict === 'ACCEPTABLE',
            underpaid: coins < asked,
            overpaid: coins > asked && (verdict === 'MISMATCH' || !checked),
          };
          return coins > 0n && coins < ONE * 10n ** 40n && toUnits(coins, decimals) !== undefined && sides[scenario];
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
