import { describe, expect, it } from 'vitest';
import { judgeReading, scopesOf } from '#api/audit/judge-reading.ts';

const earlier = (shortSince: number | null, accepted = 0n) => ({ height: 100, shortSince, accepted });

describe('a reading of what our addresses hold', () => {
  it.each([
    ['nothing is missing', undefined, 100, 0n, 'matches', null],
    ['there is more than the books say', undefined, 100, 5n, 'matches', null],
    ['coins are missing for the first time', undefined, 100, -1n, 'suspect', 100],
    ['coins are missing where none were', earlier(null), 101, -1n, 'suspect', 101],
    ['the same block is read again', earlier(100), 100, -1n, 'suspect', 100],
    ['they are missing at a later block', earlier(100), 101, -1n, 'short', 100],
    ['another amount is missing at a later block', earlier(100), 102, -7n, 'short', 100],
    ['a rewind took the blocks back', earlier(100), 98, -1n, 'suspect', 98],
    ['they are back', earlier(100), 101, 0n, 'matches', null],
    ['what is missing was accepted', earlier(null, 10n), 101, -10n, 'matches', null],
    ['more is missing than was accepted', earlier(null, 10n), 101, -11n, 'suspect', 101],
  ] as const)('when %s', (_name, before, height, difference, verdict, shortSince) => {
    expect(judgeReading(before, { height, difference })).toEqual({ verdict, shortSince });
  });
});

describe('what is frozen where coins are missing', () => {
  const short = (assetId: string, networkName: string, native = false) => ({ assetId, networkName, native });
  it('is the token alone, its network where fees are paid in it or several are missing, and no other network', () => {
    expect(scopesOf([])).toEqual([]);
    expect(scopesOf([short('a', 'x'), short('b', 'y', true), short('c', 'z'), short('d', 'z')])).toEqual([
      { scope: 'asset:a', assetIds: ['a'] },
      { scope: 'network:y', assetIds: ['b'] },
      { scope: 'network:z', assetIds: ['c', 'd'] },
    ]);
  });
});
