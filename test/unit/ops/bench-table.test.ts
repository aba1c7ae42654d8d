import { expect, it } from 'vitest';
import type { Found } from '#ops/bench/bench.ts';
import { tableOf } from '#ops/bench/table.ts';

const backfill: Found = {
  figures: { 'evm on anvil': { blocksPerSecond: 1_234, bareBlocksPerSecond: 2_468 } },
  ratios: { 'evm on anvil ÷ bare loop': 0.5 },
  goals: [{ goal: 'P3: everything on anvil ≥ 0.80 of the bare loop', measured: 0.5, met: false }],
  proofs: {},
};

it('a report becomes the rows of the benches that ran, with what was not measured told as such', () => {
  const [head, line, anvil, ...others] = tableOf({ results: { backfill } }).trimEnd().split('\n');
  expect([head, line]).toEqual(['| bench | measured | ratio | goal |', '|---|---|---|---|']);
  expect(anvil).toBe('| EVM on anvil, everything read | 1,234 blocks/s against 2,468 | 0.5 | at least 0.80: missed |');
  expect(others[0]).toBe('| EVM from memory, everything read | – blocks/s against – | – | none |');
  expect(others).toHaveLength(4);
});
