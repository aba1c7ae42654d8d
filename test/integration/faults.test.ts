import { afterAll, describe, expect, it } from 'vitest';
import { aRiver, type River } from '#test/faults/river.ts';
import { FAULT_ROWS } from '#test/faults/rows.ts';
import { RESTORE_ROWS } from '#test/faults/rows-of-restores.ts';
import { OUTAGE_ROWS } from '#test/faults/rows-of-outages.ts';
import { RIVER_ROWS } from '#test/faults/rows-of-the-river.ts';
import { TIME_ROWS } from '#test/faults/rows-of-time.ts';
import { BOOK_ROWS } from '#test/faults/rows-without-chain.ts';
import { aStage } from '#test/faults/stage.ts';
import { faultsPage } from '#test/faults/table.ts';
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

let shared: Promise<River> | undefined;
afterAll(async () => (await shared)?.stop());

describe.each([...RIVER_ROWS, ...OUTAGE_ROWS].map((row) => [row.row, row.name, row] as const))('%s %s', (_row, _name, { row, own, freezes, play }) => {
  it.each(seeds)('seed %i', async (seed) => {
    if (!own) shared ??= aRiver();
    const river = await (own ? aRiver() : (shared as Promise<River>));
    try {
      await play(river, randomFrom(seed * 1_000 + Number(row.slice(1))));
      await river.audit();
      if (!freezes) expect(await river.world.database.sql`select 1 from freezes`).toHaveLength(0);
      if (!own) await river.mend();
    } catch (error) {
      // What a failed scene left behind must not fail the next.
      if (!own) {
        shared = undefined;
        await river.stop();
      }
      throw error;
    } finally {
      if (own) await river.stop();
    }
  });
});

let books: Promise<Arena> | undefined;
afterAll(async () => (await books)?.stop());

describe.each([...BOOK_ROWS, ...TIME_ROWS].map((row) => [row.row, row.name, row] as const))('%s %s', (_row, _name, { row, play }) => {
  it.each(seeds)('seed %i', async (seed) => {
    books ??= anArena();
    const arena = await books;
    await play(arena, randomFrom(seed * 1_000 + Number(row.slice(1))));
    await arena.audit();
  });
});

describe.each([...FAULT_ROWS, ...RESTORE_ROWS].map((row) => [row.row, row.name, row] as const))('%s %s', (_row, _name, { row, families, poor, own, play }) => {
  it.each(seeds)('seed %i', async (seed) => {
    // Rows take turns in where they start, so that one round of them meets every family.
    const family = families[(seed + Number(row.slice(1))) % families.length] as TreasuryFamily;
    const alone = poor === true || own === true;
    const treasury = alone ? await aTreasuryOf(family, poor ? { fundingCoins: 0n } : {}) : await treasuryOf(family);
    try {
      await play(await aStage(treasury, randomFrom(seed * 1_000 + Number(row.slice(1)))));
      expect(await treasury.world.database.sql`select 1 from freezes`).toHaveLength(0);
    } catch (error) {
      // What a failed scene left behind must not fail the next.
      if (!alone) {
        open.delete(family);
        await treasury.stop();
      }
      throw error;
    } finally {
      if (alone) await treasury.stop();
    }
  });
});

it('the page about the matrix says what these rows do', async () => {
  const rowsOf = (file: string, rows: readonly { row: string; name: string }[]) => rows.map(({ row, name }) => ({ row, name, file: `test/faults/${file}.ts` }));
  const page = faultsPage([
    ...rowsOf('rows', FAULT_ROWS),
    ...rowsOf('rows-without-chain', BOOK_ROWS),
    ...rowsOf('rows-of-the-river', RIVER_ROWS),
    ...rowsOf('rows-of-outages', OUTAGE_ROWS),
    ...rowsOf('rows-of-restores', RESTORE_ROWS),
    ...rowsOf('rows-of-time', TIME_ROWS),
  ]);
  for (let row = 1; row <= 48; row++) expect(page).toContain(`| F${row} |`);
  await expect(page, 'npx vitest run test/integration/faults.test.ts -t "page about" -u').toMatchFileSnapshot('../../ops/runbooks/faults.md');
});
