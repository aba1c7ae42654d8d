import { describe, expect, test } from 'vitest';
import { confirmations, forCoinbase, isFinal, matureHeight, resolveRule, resolveTier } from '#shared/core/finality.ts';
import { parseTrusted } from '#shared/core/money.ts';
import { FINALITY } from '#shared/core/policy.ts';

const heights = { height: 20, safeHeight: 15, finalHeight: 10 };

describe('a block', () => {
  test('counts as its own first confirmation, and has none above the tip', () => {
    expect([confirmations(heights, 20), confirmations(heights, 9), confirmations(heights, 21), confirmations(heights, 99)]).toEqual([1, 12, 0, 0]);
  });

  test.each([
    [{ blocks: 12 }, 9, true],
    [{ blocks: 12 }, 10, false],
    [{ blocks: 1 }, 20, true],
    [{ blocks: 1 }, 21, false],
    [{ tag: 'safe' as const }, 15, true],
    [{ tag: 'safe' as const }, 16, false],
    [{ tag: 'finalized' as const }, 10, true],
    [{ tag: 'finalized' as const }, 11, false],
  ])('under %j at height %i is final: %s', (rule, height, expected) => {
    expect(isFinal(rule, heights, height)).toBe(expected);
  });
});

describe('the rule a payment resolves at', () => {
  const usd = (value: string) => parseTrusted<'usd'>(value);
  test.each([
    ['0', { blocks: 1 }],
    ['1000', { blocks: 1 }],
    ['1000.000000000000000001', { blocks: 2 }],
    ['50000', { blocks: 2 }],
    ['50000.01', { blocks: 6 }],
  ])('of %s dollars on Bitcoin', (value, rule) => {
    expect(resolveRule(FINALITY.bitcoin, usd(value))).toEqual(rule);
  });

  test('above every tier is the maturity rule', () => {
    expect(resolveRule({ resolve: [{ upToUsd: '10', rule: { blocks: 1 } }], mature: { blocks: 9 } }, usd('11'))).toEqual({ blocks: 9 });
  });
});

test('funds never mature before the payment they came with could resolve', () => {
  for (const { resolve, mature } of Object.values(FINALITY)) {
    const deepest = { height: 1_000, safeHeight: 900, finalHeight: 800 };
    const all = Array.from({ length: 1_001 }, (_, height) => height).filter((height) => isFinal(mature, deepest, height));
    for (const { rule } of resolve) expect(all.filter((height) => !isFinal(rule, deepest, height))).toEqual([]);
  }
});

describe('funds on Bitcoin', () => {
  const usd = (value: string) => parseTrusted<'usd'>(value);
  test.each([
    ['1000', 2],
    ['50000', 3],
    ['50000.01', 7],
  ])('of %s dollars mature with %i confirmations', (value, needed) => {
    const { mature } = FINALITY.bitcoin;
    if (!('blocks' in mature)) throw new Error('Bitcoin counts blocks');
    const height = 500;
    const from = matureHeight(FINALITY.bitcoin, resolveTier(FINALITY.bitcoin, usd(value)), height);
    const finalAt = (confirmations: number) => height + confirmations - 1 - mature.blocks + 1;
    expect([from <= finalAt(needed - 1), from <= finalAt(needed)]).toEqual([false, true]);
  });

  test('mature where their block is final by the network, when neither says a count of its own', () => {
    expect(matureHeight(FINALITY.ethereum, resolveTier(FINALITY.ethereum, usd('1')), 500)).toBe(500);
    expect(matureHeight(FINALITY.local, resolveTier(FINALITY.local, usd('1')), 500)).toBe(500);
  });

  test('that were made in a block need 100 of them, whatever they are worth', () => {
    expect([forCoinbase({ blocks: 1 }), forCoinbase({ blocks: 120 }), forCoinbase({ tag: 'finalized' })]).toEqual([
      { blocks: 100 },
      { blocks: 120 },
      { tag: 'finalized' },
    ]);
  });
});
