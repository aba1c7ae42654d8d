import { describe, expect, it } from 'vitest';
import { planNext } from '#indexer/plan.ts';
import { finalHeightOf } from '#shared/core/finality.ts';
import { createTrail, type Last } from '#indexer/trail.ts';
import type { Head } from '#shared/chains/chain.ts';

const block = (height: number, branch = 'a'): Last => ({ height, hash: `${branch}${height}`, time: height });
const headAt = (height: number, branch = 'a', parent = branch): Head => ({
  latest: { ...block(height, branch), parentHash: `${parent}${height - 1}` },
  safeHeight: null,
  finalizedHeight: null,
});
const trailTo = (height: number) =>
  createTrail(
    block(height),
    [height - 1, height - 2, height - 3].map((h) => block(h)),
  );

describe('what is read next', () => {
  it.each([
    ['nothing was published yet: the final block', createTrail(undefined, []), headAt(20), 18, { step: 'begin', height: 18 }],
    ['nothing is final yet: the first block there is', createTrail(undefined, []), headAt(0), -1, { step: 'begin', height: 0 }],
    ['the head is published: nothing', trailTo(20), headAt(20), 18, { step: 'caught-up' }],
    ['the head follows: it, by the hash it told', trailTo(19), headAt(20), 18, { step: 'block', height: 20, hash: 'a20' }],
    ['a gap above final: the next block', trailTo(17), headAt(20), 18, { step: 'block', height: 18, hash: undefined }],
    ['a gap below final: a range', trailTo(10), headAt(40), 38, { step: 'range', from: 11, to: 38 }],
    ['a long gap below final: no more than one range', trailTo(10), headAt(900), 898, { step: 'range', from: 11, to: 110 }],
    ['the node is behind on the same chain: nothing', trailTo(20), headAt(18), 16, { step: 'behind' }],
    ['the node is far behind: nothing', trailTo(20), headAt(3), 1, { step: 'behind' }],
    ['another block of the same height: a fork', trailTo(20), headAt(20, 'b'), 18, { step: 'fork' }],
    ['a lower block of another branch: a fork', trailTo(20), headAt(19, 'b'), 17, { step: 'fork' }],
    ['a next block with another parent: a fork', trailTo(19), headAt(20, 'b'), 18, { step: 'fork' }],
  ])('%s', (_why, trail, head, final, plan) => {
    expect(planNext(trail, head, final, 100)).toEqual(plan);
  });
});

describe('the final height', () => {
  const tagged: Head = { ...headAt(100), safeHeight: 70, finalizedHeight: 40 };
  it.each([
    ['a block counts itself', { blocks: 1 }, 100],
    ['counting back from the head', { blocks: 12 }, 89],
    ['not before the first block', { blocks: 200 }, -1],
    ['the safe tag', { tag: 'safe' }, 70],
    ['the finalized tag', { tag: 'finalized' }, 40],
  ] as const)('%s', (_why, rule, height) => {
    expect(finalHeightOf(rule, tagged)).toBe(height);
  });

  it('is never counted where the node has no such tag', () => {
    expect(finalHeightOf({ tag: 'finalized' }, headAt(100))).toBe(-1);
  });
});

describe('the trail', () => {
  it('knows the blocks the consumer remembers and joins below a cut only with the next block', () => {
    const trail = trailTo(20);
    expect(trail.joined()).toBe(true);
    trail.cutTo(18);
    expect([trail.last()?.hash, trail.hashAt(19), trail.joined()]).toEqual(['a18', undefined, false]);
    trail.push(block(19, 'b'));
    expect([trail.last()?.hash, trail.hashAt(19), trail.joined()]).toEqual(['b19', 'b19', true]);
  });

  it('remembers a bounded number of blocks', () => {
    const trail = createTrail(block(0), []);
    for (let height = 1; height < 5_000; height++) trail.push(block(height));
    expect(trail.heights()).toHaveLength(1_024);
    expect(trail.heights()[0]).toBe(4_999);
  });
});
