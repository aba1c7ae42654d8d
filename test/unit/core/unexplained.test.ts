import { describe, expect, it } from 'vitest';
import { type Explanation, explainBalance, narrow, nextProbe, type Window } from '#shared/core/unexplained.ts';

describe('a balance beside what was seen', () => {
  it.each<[string, bigint, bigint, Explanation]>([
    ['nothing and nothing', 0n, 0n, { is: 'explained' }],
    ['exactly what came', 7n, 7n, { is: 'explained' }],
    ['one unit more', 8n, 7n, { is: 'unexplained', rawAmount: 1n }],
    ['something where nothing was seen', 10n ** 30n, 0n, { is: 'unexplained', rawAmount: 10n ** 30n }],
    ['one unit less', 6n, 7n, { is: 'missing', rawAmount: 1n }],
    ['nothing where more left than came', 0n, -5n, { is: 'unexplained', rawAmount: 5n }],
  ])('%s', (_what, actual, seen, said) => {
    expect(explainBalance(actual, seen)).toEqual(said);
  });
});

describe('the block in which something came', () => {
  it.each([
    ['one block is left', { clean: 9, dirty: 10 }, undefined],
    ['two are left', { clean: 8, dirty: 10 }, 9],
    ['many are left', { clean: 0, dirty: 1_000 }, 500],
  ])('%s', (_what, window: Window, probe) => {
    expect(nextProbe(window)).toBe(probe);
  });

  it.each([1, 2, 37, 500, 999, 1_000])('is found in no more than ten questions: %i', (came) => {
    let window: Window = { clean: 0, dirty: 1_000 };
    let asked = 0;
    for (let probe = nextProbe(window); probe !== undefined; probe = nextProbe(window)) {
      window = narrow(window, probe, explainBalance(probe >= came ? 5n : 0n, 0n));
      asked += 1;
    }
    expect(window).toEqual({ clean: came - 1, dirty: came });
    expect(asked).toBeLessThanOrEqual(10);
  });
});
