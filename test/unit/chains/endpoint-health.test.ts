import { describe, expect, it } from 'vitest';
import type { Trouble } from '#shared/chains/chain.ts';
import {
  afterFailure,
  afterHead,
  afterSuccess,
  takeTrial,
  type Health,
  inOrder,
  isLagging,
  paceOf,
  reportedStandingOf,
  standingOf,
  UNTRIED,
} from '#shared/chains/endpoint-health.ts';

const pace = paceOf(12);
const at = (height: number, atMs = 0): Health => ({ ...UNTRIED, head: { height, atMs } });
const failed = (times: number, trouble: Trouble = 'down', nowMs = 0): Health => {
  let health = UNTRIED;
  for (let i = 0; i < times; i++) health = afterFailure(health, trouble, nowMs);
  return health;
};

describe('a circuit', () => {
  it.each<[Trouble, number, number]>([
    ['down', 2, 0],
    ['down', 3, 1_000],
    ['slow', 4, 2_000],
    ['untrusted', 5, 4_000],
    ['busy', 6, 8_000],
    ['down', 9, 60_000],
    ['down', 400, 60_000],
    ['refused', 400, 0],
  ])('after %s %i times in a row is open for %i ms', (trouble, times, openMs) => {
    expect(failed(times, trouble).openUntilMs).toBe(openMs);
  });

  it('closes with the first answer', () => {
    expect(afterSuccess(failed(9), 40)).toMatchObject({ failures: 0, openUntilMs: 0, lastTrouble: null, latencyMs: 40 });
  });

  it('lets one question through when its time is over, and no second one beside it', () => {
    const health = failed(3);
    expect(standingOf([health], 0, pace, 999)).toBe('failing');
    expect(standingOf([health], 0, pace, 1_000)).toBe('well');
    expect(reportedStandingOf([health], 0, pace, 1_000)).toBe('failing');
    expect(reportedStandingOf([afterSuccess(health, 1)], 0, pace, 1_000)).toBe('well');
    expect(standingOf([takeTrial(health, 1_000)], 0, pace, 1_001)).toBe('failing');
    expect(takeTrial(UNTRIED, 5)).toBe(UNTRIED);
  });

  it('is quiet for as long as the endpoint asked, however few its failures', () => {
    const health = afterFailure(UNTRIED, 'busy', 1_000, 5_000);
    expect(standingOf([health], 0, pace, 5_999)).toBe('quiet');
    expect(standingOf([health], 0, pace, 6_000)).toBe('well');
  });
});

describe('lagging', () => {
  it.each([
    ['three blocks behind is no lag', [at(97), at(100)], false],
    ['four are', [at(96), at(100)], true],
    ['ahead is no lag', [at(104), at(100)], false],
    ['nothing is known of its head', [UNTRIED, at(100)], false],
    ['the other told its head a minute later, five blocks of which are time', [at(92, 0), at(100, 60_000)], false],
    ['and one more is not', [at(91, 0), at(100, 60_000)], true],
    ['the other serves another chain', [at(10), { ...at(100), foreign: 'another chain' }], false],
  ])('%s', (_name, all, lagging) => {
    expect(isLagging(all, 0, pace, 60_000)).toBe(lagging);
  });

  it('a head that nobody told for a minute proves nothing', () => {
    expect(isLagging([at(10, 0), at(100, 0)], 0, pace, 60_001)).toBe(false);
  });

  it('a head on another branch is lagging until it is seen on the one that is followed', () => {
    const astray = afterHead(UNTRIED, { height: 100, hash: '0xb' }, '0xa', 0);
    expect(standingOf([astray], 0, pace, 0)).toBe('lagging');
    expect(standingOf([afterHead(astray, { height: 101, hash: '0xc' }, undefined, 1)], 0, pace, 1)).toBe('well');
    expect(standingOf([afterHead(UNTRIED, { height: 100, hash: '0xa' }, '0xa', 0)], 0, pace, 0)).toBe('well');
  });

  it.each([
    [12, 3],
    [2, 5],
    [0.45, 23],
    [0.25, 40],
  ])('at a block every %s s begins beyond %i blocks', (blockSeconds, blocks) => {
    expect(paceOf(blockSeconds).lagBlocks).toBe(blocks);
  });
});

describe('the order to ask in', () => {
  it('is the configured one while all are well', () => {
    expect(inOrder([UNTRIED, at(100), at(101)], pace, 0)).toEqual([0, 1, 2]);
  });

  it('has those that lag behind those that are well, and those that fail last, the one that is due first', () => {
    const all = [failed(5), at(10), at(100), failed(4)];
    expect(inOrder(all, pace, 0)).toEqual([2, 1, 3, 0]);
  });

  it('leaves out who serves another chain or asked for quiet', () => {
    const all = [{ ...UNTRIED, foreign: 'another chain' }, afterFailure(UNTRIED, 'busy', 0, 9_000), UNTRIED];
    expect(inOrder(all, pace, 0)).toEqual([2]);
    expect(inOrder(all, pace, 9_000)).toEqual([1, 2]);
  });

  it('comes back to the preferred one as soon as its circuit may be tried', () => {
    const all = [failed(3), UNTRIED];
    expect(inOrder(all, pace, 500)).toEqual([1, 0]);
    expect(inOrder(all, pace, 1_000)).toEqual([0, 1]);
  });
});
