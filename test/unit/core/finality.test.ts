import { describe, expect, test } from 'vitest';
import { confirmations, isFinal, resolveRule } from '#shared/core/finality.ts';
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
