import { afterAll, beforeAll, expect, it } from 'vitest';
import { isNewestEpoch } from '#api/store/leases.ts';
import { acquireLease, whileHeld } from '#indexer/lease.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { connect, type Database } from '#shared/platform/postgres.ts';
import { type FreshDatabase, freshDatabase } from '#test/harness/database.ts';
import { urlFor } from '#test/harness/logins.ts';

const NETWORK = '3f6d0d5e-58a5-4b43-9a7b-0a6c3a1f7d11';

let db: FreshDatabase;
let indexer: Database;
let renewals = 0;
beforeAll(async () => {
  db = await freshDatabase();
  await db.sql`insert into networks (id, name, family, chain_id, native_symbol) values (${NETWORK}, 'ethereum', 'evm', '31337', 'ETH')`;
  indexer = connect(urlFor(db.url, ['indexer']), {
    name: 'indexer',
    observe: (work) => {
      if (work === 'update') renewals += 1;
    },
  });
});
afterAll(async () => {
  await indexer.end();
  await db.drop();
});

const ends = async (): Promise<Date> => ((await db.sql<{ at: Date }[]>`select expires_at as at from indexer_leases`)[0] as { at: Date }).at;

it('an indexer that takes longer to begin than a lease lasts keeps it, and learns when it was taken all the same', async () => {
  const epoch = (await acquireLease(indexer.sql, NETWORK, 'slow')) as number;
  const lease = { networkId: NETWORK, holder: 'slow', epoch };
  const { signal } = new AbortController();
  const first = await ends();
  const loaded = await whileHeld(indexer.sql, lease, { signal, work: () => waitFor(async () => (await ends()) > first && 'loaded', { what: 'a renewal' }) });
  expect(loaded).toBe('loaded');

  const robbed = whileHeld(indexer.sql, lease, {
    signal,
    work: async () => {
      await db.sql`update indexer_leases set holder = 'another', epoch = epoch + 1, expires_at = clock_timestamp()`;
      const before = renewals;
      await waitFor(() => renewals > before, { what: 'a renewal' });
    },
  });
  await expect(robbed).rejects.toThrow('another indexer holds the lease');
});

it('a new epoch begins after the message that is being applied, so that it never starts below a tip that is about to be final', async () => {
  const former = (await acquireLease(indexer.sql, NETWORK, 'another')) as number;
  const [next, order] = await db.as('worker').transaction(async (tx) => {
    expect(await isNewestEpoch(tx, NETWORK, former)).toBe(true);
    const told: string[] = [];
    const taking = acquireLease(indexer.sql, NETWORK, 'another').then((epoch) => {
      told.push('begun');
      return epoch as number;
    });
    const waits = () => db.sql`
      select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%indexer_leases%'`;
    await waitFor(async () => (await waits()).length > 0, { what: 'the new epoch to wait' });
    told.push('applied');
    return [{ taking }, told] as const;
  });
  expect(await next.taking).toBe(former + 1);
  expect(order).toEqual(['applied', 'begun']);
  expect(await db.as('worker').transaction((tx) => isNewestEpoch(tx, NETWORK, former))).toBe(false);
});
