import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadWatches } from '#indexer/truth.ts';
import { createWatchlist } from '#indexer/watchlist.ts';
import { type FreshDatabase, freshDatabase } from '#test/harness/database.ts';

let database: FreshDatabase;

beforeAll(async () => {
  database = await freshDatabase();
});
afterAll(() => database.drop());

const addressOf = (i: number): string => `0x${i.toString(16).padStart(40, '0')}`;

/** A network whose watches are numbered `from` and following. */
async function aNetwork(from: number, count: number): Promise<string> {
  const id = randomUUID();
  await database.sql`insert into networks (id, name, family, chain_id, genesis_hash, native_symbol) values (${id}, ${id}, 'evm', ${id}, ${id}, 'ETH')`;
  await database.sql`
    insert into watches (network_id, address, acked_epoch, watched_from)
    select ${id}, '0x' || lpad(to_hex(i), 40, '0'), 1, 0 from generate_series(${from}::int, ${from + count - 1}::int) as i`;
  return id;
}

/** What an indexer that starts now watches; `between` happens after each stretch. */
async function load(networkId: string, between: () => Promise<unknown> = async () => undefined): Promise<{ has(address: string): boolean; size: number }> {
  const list = createWatchlist();
  // One after the other: two that change the same rows at once would lock them in no order.
  let happened: Promise<unknown> = Promise.resolve();
  const { snapshot } = database.as('indexer');
  await loadWatches(
    // Each statement waits for what happened after the one before.
    (work) =>
      snapshot((tx) =>
        work(
          new Proxy(tx, {
            apply: async (target, that, args) => {
              await happened;
              return Reflect.apply(target, that, args) as unknown;
            },
          }),
        ),
      ),
    networkId,
    (addresses) => {
      list.addAll(addresses);
      happened = happened.then(between);
    },
  );
  await happened;
  return list;
}

it('loads every watch of its own network and none of another', async () => {
  const [ours, theirs] = [await aNetwork(1, 5_000), await aNetwork(50_001, 100)];
  const list = await load(ours);
  expect(list.size).toBe(5_000);
  for (let i = 1; i <= 5_000; i++) expect(list.has(addressOf(i))).toBe(true);
  expect((await load(theirs)).size).toBe(100);
  expect((await load(randomUUID())).size).toBe(0);
});

it('misses none that an acknowledgement moves to a stretch that was already read', async () => {
  await database.sql`delete from watches`;
  // What is deleted leaves room in the first pages for the rows that are moved.
  const gone = await aNetwork(1_000_001, 45_000);
  const ours = await aNetwork(100_001, 45_000);
  await database.sql`delete from watches where network_id = ${gone}`;
  await database.sql`vacuum watches`;
  let moved = 0;
  const list = await load(ours, async () => {
    moved += (await database.sql`update watches set acked_epoch = acked_epoch + 1 where network_id = ${ours} returning 1`).length;
  });
  expect(moved).toBeGreaterThan(0);
  expect(list.size).toBe(45_000);
});

it('loads a watch that ran out moments ago, which a transaction begun before may prolong without asking for a word', async () => {
  await database.sql`delete from watches`;
  const ours = await aNetwork(1, 4);
  const until = async (i: number, minutes: number): Promise<void> =>
    void (await database.sql`update watches set watch_until = sluice_now() + make_interval(mins => ${minutes}) where address = ${addressOf(i)}`);
  await until(1, 60);
  await until(2, -1);
  await until(3, -61);
  const list = await load(ours);
  expect([1, 2, 3, 4].map((i) => list.has(addressOf(i)))).toEqual([true, true, false, true]);
});

it('asks the clock once for each stretch, however many watches end', async () => {
  await database.sql`delete from watches`;
  const ours = await aNetwork(1, 2_000);
  await database.sql`update watches set watch_until = now() + interval '1 day' where network_id = ${ours}`;
  const { snapshot } = database.as('indexer');
  let looks: number | undefined;
  await loadWatches(
    (work) =>
      snapshot(async (tx) => {
        const done = await work(tx);
        [{ looks }] = await tx<[{ looks: number }]>`select (seq_scan + idx_scan)::int as looks from pg_stat_xact_user_tables where relname = 'clock_offset'`;
        return done;
      }),
    ours,
    () => undefined,
  );
  // Two thousand rows lie in one stretch, or at the end of one and the beginning of the next.
  expect(looks).toBeLessThanOrEqual(2);
});
