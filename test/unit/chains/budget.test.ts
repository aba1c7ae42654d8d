import { describe, expect, it } from 'vitest';
import { afterAnswer, afterRefusal, type Budget, freshBudget, isOwnNode, pauseBeforeTry, readRetryAfter, spend } from '#shared/chains/budget.ts';

const fresh = freshBudget(0, false);

/** Spends one call after another as early as each may go; answers when the last one went, in ms. */
function paced(budget: Budget, calls: number): number {
  let now = 0;
  let current = budget;
  for (let i = 0; i < calls; i++) {
    const taken = spend(current, 1, now);
    current = taken.budget;
    now += taken.waitMs;
  }
  return now;
}

describe('the budget of somebody else’s endpoint', () => {
  it('lets twenty calls go at once and then twenty a second', () => {
    expect(paced(fresh, 20)).toBe(0);
    // The first beyond the burst is waited for by the next one.
    expect(paced(fresh, 121)).toBeGreaterThanOrEqual(4_900);
    expect(paced(fresh, 121)).toBeLessThanOrEqual(5_200);
  });

  it('lets a batch go that is larger than what is left, and makes the next one wait for it', () => {
    const first = spend(fresh, 64, 0);
    expect(first.waitMs).toBe(0);
    expect(spend(first.budget, 1, 0).waitMs).toBe(2_200);
    expect(spend(first.budget, 1, 2_201).waitMs).toBe(0);
  });

  it('fills up to one second’s worth and no further', () => {
    const { budget } = spend(fresh, 20, 0);
    const later = spend(budget, 20, 3_600_000);
    expect(later).toMatchObject({ waitMs: 0, budget: { credit: 0 } });
  });

  it('grows by a twentieth after a second’s worth of answers in a row', () => {
    expect(afterAnswer(fresh, 19).ratePerSecond).toBe(20);
    expect(afterAnswer(afterAnswer(fresh, 19), 1)).toMatchObject({ ratePerSecond: 21, streak: 0 });
  });

  it('shrinks by a twentieth when it is told to ask less, and begins to count anew', () => {
    expect(afterRefusal(afterAnswer(fresh, 19), 0, 0)).toMatchObject({ ratePerSecond: 19, streak: 0 });
  });

  it('stays within one call a second and two thousand', () => {
    let budget = fresh;
    for (let i = 0; i < 500; i++) budget = afterRefusal(budget, 0, 0);
    expect(budget.ratePerSecond).toBe(1);
    for (let i = 0; i < 500; i++) budget = afterAnswer(budget, 5_000);
    expect(budget.ratePerSecond).toBe(2_000);
  });

  it('is quiet for as long as the endpoint asked, and a shorter wish does not shorten that', () => {
    const quiet = afterRefusal(afterRefusal(fresh, 1_000, 30_000), 2_000, 100);
    expect(spend(quiet, 1, 2_000).waitMs).toBe(29_000);
    expect(spend(quiet, 1, 31_000).waitMs).toBe(0);
  });

  it('makes nobody wait when its clock stands still or was told backwards', () => {
    expect(spend({ ...fresh, atMs: 1_000 }, 1, 0).waitMs).toBe(0);
  });
});

describe('the budget of one’s own node', () => {
  it('is endless until the node itself says that it is not', () => {
    let own = freshBudget(0, true);
    for (let i = 0; i < 1_000; i++) {
      const taken = spend(own, 64, 0);
      expect(taken.waitMs).toBe(0);
      own = afterAnswer(taken.budget, 64);
    }
    const told = afterRefusal(own, 0, 500);
    expect(told.ratePerSecond).toBe(1_900);
    expect(spend(told, 1, 0).waitMs).toBe(500);
  });

  it.each([
    ['http://127.0.0.1:8545', true],
    ['http://localhost:8545', true],
    ['http://[::1]:8545', true],
    ['http://10.1.2.3:8545', true],
    ['http://172.16.0.1', true],
    ['http://172.32.0.1', false],
    ['http://192.168.1.1', true],
    ['http://[fd12:3456::1]:8545', true],
    ['http://geth:8545', true],
    ['http://geth.svc', true],
    ['http://node.internal', true],
    ['https://eth.example.org/v2/key', false],
    ['https://user:pass@rpc.example', false],
    ['http://8.8.8.8', false],
    ['http://[2606:4700::1]', false],
  ])('%s: %s', (url, own) => {
    expect(isOwnNode(url)).toBe(own);
  });
});

it.each([
  ['1', 1_000],
  ['0', 0],
  ['1.5', 1_500],
  ['Thu, 01 Jan 1970 00:00:09 GMT', 9_000],
  ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
  ['99999', 600_000],
  ['soon', undefined],
  ['-1', undefined],
  ['', undefined],
  [null, undefined],
  [undefined, undefined],
])('Retry-After %s is %s ms', (header, ms) => {
  expect(readRetryAfter(header, 0)).toBe(ms);
});

it('pauses 125 ms before the second try, and twice as long before each further one', () => {
  expect([1, 2, 3, 4].map((tried) => pauseBeforeTry(tried))).toEqual([125, 250, 500, 1_000]);
});
