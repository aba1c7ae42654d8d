import { afterAll, describe, expect, it } from 'vitest';
import { FAULT_ROWS } from '#test/faults/rows.ts';
import { BOOK_ROWS } from '#test/faults/rows-without-chain.ts';
import { aStage } from '#test/faults/stage.ts';
import { aTreasuryOf, type Treasury, type TreasuryFamily } from '#test/fixtures/treasury.ts';
import type { CommonChain } from '#test/harness/chain.ts';
import { times } from '#test/harness/counts.ts';
import { type Arena, anArena } from '#test/races/arena.ts';
import { randomFrom } from '#test/simulation/random.ts';

/** `npm run faults` asks for twenty seeds of each row; `npm test` plays each once. */
const SEEDS = Number(process.env.SLUICE_FAULT_SEEDS ?? times(20));
const seeds = Array.from({ length: SEEDS }, (_, at) => at + 1);

const open = new Map<string, Promise<Treasury<CommonChain>>>();
const treasuryOf = (family: TreasuryFamily): Promise<Treasury<CommonChain>> => {
  const opened = open.get(family) ?? aTreasuryOf(family);
  open.set(family, opened);
  return opened;
};
afterAll(async () => {
  for (const treasury of open.values()) await (await treasury).stop();
});

let books: Promise<Arena> | undefined;
afterAll(async () => (await books)?.stop());

describe.each(BOOK_ROWS.map((row) => [row.row, row.name, row] as const))('%s %s', (_row, _name, { row, play }) => {
  it.each(seeds)('seed %i', async (seed) => {
    books ??= anArena();
    const arena = await books;
    await play(arena, randomFrom(seed * 1_000 + Number(row.slice(1))));
    await arena.audit();
  });
});

describe.each(FAULT_ROWS.map((row) => [row.row, row.name, row] as const))('%s %s', (_row, _name, { row, families, poor, play }) => {
  it.each(seeds)('seed %i', async (seed) => {
    // Rows take turns in where they start, so that one round of them meets every family.
    const family = families[(seed + Number(row.slice(1))) % families.length] as TreasuryFamily;
    const treasury = poor ? await aTreasuryOf(family, { fundingCoins: 0n }) : await treasuryOf(family);
    try {
      await play(await aStage(treasury, randomFrom(seed * 1_000 + Number(row.slice(1)))));
      expect(await treasury.deps.db.sql`select 1 from freezes`).toHaveLength(0);
    } catch (error) {
      // What a failed scene left behind must not fail the next.
      if (!poor) {
        open.delete(family);
        await treasury.stop();
      }
      throw error;
    } finally {
      if (poor) await treasury.stop();
    }
  });
});
