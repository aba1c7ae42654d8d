import { expect, it } from 'vitest';
import { fuzzReceipts } from '#test/fixtures/walked-blocks.ts';
import { FULL } from '#test/harness/counts.ts';

const COUNT = Number(process.env.SLUICE_WALKS ?? (FULL ? 1_000_000 : 20_000));

it(`a walk over receipts believes what reading each of them believes: ${COUNT} changed replies of recorded blocks`, { timeout: 10 * COUNT + 60_000 }, () => {
  // A failure names the seed of the one reply that it met: fuzzReceipts(seed, 1).
  const { walked } = fuzzReceipts(Number(process.env.SLUICE_FUZZ ?? 1), COUNT);
  expect(walked).toBeGreaterThan(COUNT / 20);
});
