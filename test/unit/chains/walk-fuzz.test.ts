import { expect, it } from 'vitest';
import { fuzzReceipts, fuzzTraces } from '#test/fixtures/walked-blocks.ts';
import { fuzzBlocks } from '#test/fixtures/walked-bitcoin.ts';
import { fuzzContracts, fuzzTron } from '#test/fixtures/walked-tron.ts';
import { FULL } from '#test/harness/counts.ts';

const COUNT = Number(process.env.SLUICE_WALKS ?? (FULL ? 1_000_000 : 20_000));

it(`a walk over receipts believes what reading each of them believes: ${COUNT} changed replies of recorded blocks`, { timeout: 10 * COUNT + 60_000 }, () => {
  // A failure names the seed of the one reply that it met: fuzzReceipts(seed, 1).
  const { walked } = fuzzReceipts(Number(process.env.SLUICE_FUZZ ?? 1), COUNT);
  expect(walked).toBeGreaterThan(COUNT / 20);
});

/** Traces take several times as long to read as receipts do. */
const TRACES = Math.ceil(COUNT / 4);

it(`and a walk over traces what reading each of them believes: ${TRACES} changed replies`, { timeout: 40 * TRACES + 60_000 }, () => {
  const { walked } = fuzzTraces(Number(process.env.SLUICE_FUZZ ?? 1), TRACES);
  expect(walked).toBeGreaterThan(TRACES / 20);
});

/** Each is made anew, with its proofs. */
const BLOCKS = Math.ceil(COUNT / 4);

it(`and a walk over blocks of Bitcoin what reading each transaction believes: ${BLOCKS} changed blocks`, { timeout: 40 * BLOCKS + 60_000 }, () => {
  const { walked } = fuzzBlocks(Number(process.env.SLUICE_FUZZ ?? 1), BLOCKS);
  expect(walked).toBeGreaterThan(BLOCKS / 20);
});

/** A block of TRON is read as a whole, with its outcomes. */
const TRON = Math.ceil(COUNT / 10);

it(`and a walk over TRON blocks what reading all of them believes: ${TRON} changed replies`, { timeout: 60 * TRON + 60_000 }, async () => {
  const { walked } = await fuzzTron(Number(process.env.SLUICE_FUZZ ?? 1), TRON);
  expect(walked).toBeGreaterThan(TRON / 20);
  expect(fuzzContracts(Number(process.env.SLUICE_FUZZ ?? 1), 10 * TRON)).toBeGreaterThan(TRON);
});
