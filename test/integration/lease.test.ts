import { afterAll, beforeAll, expect, it } from 'vitest';
import { isNewestEpoch } from '#api/store/leases.ts';
import { createCaution, readLeft } from '#indexer/caution.ts';
import { acquireLease, readAbsentHolder, takePulse, whileHeld } from '#indexer/lease.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { createLogger } from '#shared/platform/logger.ts';
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

it('a lease is kept by whoever is connected, and free as soon as its holder has no session any more, also for an indexer with the least rights', async () => {
  const id = '1a2b3c4d-0000-4000-8000-000000000000';
  const holder = `a host:1:${id}`;
  await db.sql`update indexer_leases set expires_at = clock_timestamp()`;
  const alive = connect(urlFor(db.url, ['indexer']), { name: `sluice-indexer ${id.slice(0, 8)} 2026-01-02T03:04:05Z`, max: 1 });
  const epoch = (await acquireLease(alive.sql, NETWORK, holder)) as number;
  expect(await readAbsentHolder(indexer.sql, NETWORK)).toBeNull();
  expect(await acquireLease(indexer.sql, NETWORK, 'next')).toBeUndefined();
  await alive.end();
  const gone = await waitFor(() => readAbsentHolder(indexer.sql, NETWORK), { what: 'its session to be over' });
  expect(gone).toBe(holder);
  // Whoever took it since is not the one that was seen to be gone.
  expect(await acquireLease(indexer.sql, NETWORK, 'next', 'a host:1:another')).toBeUndefined();
  expect(await acquireLease(indexer.sql, NETWORK, 'next', gone)).toBe(epoch + 1);
  expect(await readAbsentHolder(indexer.sql, NETWORK)).toBeNull();
  const late = await takePulse(indexer.sql, { networkId: NETWORK, holder, epoch }, { publishedHeight: 9, caughtUpSecondsAgo: 0 });
  expect(late.held).toBe(false);
  expect(await db.sql`select holder, published_height from indexer_leases`).toEqual([{ holder: 'next', publishedHeight: null }]);
});

it('one pulse tells all that Postgres wants of an indexer', async () => {
  const [row] = await db.sql<[{ epoch: number }]>`update indexer_leases set holder = 'pulse', expires_at = clock_timestamp() returning epoch`;
  const lease = { networkId: NETWORK, holder: 'pulse', epoch: row.epoch };
  const pulse = () => takePulse(indexer.sql, lease, { publishedHeight: 7, caughtUpSecondsAgo: 0 });
  const nothing = { held: true, appliedSeq: 0, unacked: [], rewind: null, rescan: false, now: expect.any(Date) };
  expect(await pulse()).toEqual(nothing);
  expect(await db.sql`select published_height, expires_at > clock_timestamp() as held from indexer_leases`).toEqual([{ publishedHeight: 7, held: true }]);
  await db.sql`insert into watches (network_id, address) values (${NETWORK}, 'one')`;
  await db.sql`insert into rewind_requests (network_id, epoch, reason) values (${NETWORK}, ${row.epoch}, 'lost')`;
  await db.sql`insert into rescans (id, network_id, from_height, to_height, next_height) values (${NETWORK}, ${NETWORK}, 1, 2, 1)`;
  await db.sql`
    insert into chain_tips (network_id, height, hash, block_time, safe_height, final_height, head_height, epoch, seq)
    values (${NETWORK}, 5, 'x', now(), 5, 5, 5, ${row.epoch}, 12)`;
  expect(await pulse()).toEqual({ held: true, appliedSeq: 12, unacked: ['one'], rewind: 'lost', rescan: true, now: expect.any(Date) });
  const note = JSON.stringify({ from: 8, to: 8, deaths: 0, by: 'pulse' });
  await db.sql`update indexer_leases set expires_at = clock_timestamp()`;
  expect(await takePulse(indexer.sql, lease, { publishedHeight: 8, caughtUpSecondsAgo: 0 }, note)).toEqual({ ...(await pulse()), now: expect.any(Date) });
  expect(await db.sql`select reading, expires_at > clock_timestamp() as held from indexer_leases`).toEqual([{ reading: JSON.parse(note), held: true }]);
  const late = await takePulse(indexer.sql, { ...lease, epoch: lease.epoch - 1 }, { publishedHeight: 9, caughtUpSecondsAgo: 0 }, '{}');
  expect([late.held, await db.sql`select reading from indexer_leases`]).toEqual([false, [{ reading: JSON.parse(note) }]]);
  await db.sql`update indexer_leases set reading = null`;
  await db.sql`update chain_tips set epoch = epoch - 1`;
  await db.sql`update watches set acked_epoch = 1`;
  await db.sql`update rescans set finished_at = now()`;
  await db.sql`delete from rewind_requests`;
  expect(await pulse()).toEqual(nothing);
  await db.sql`update indexer_leases set expires_at = clock_timestamp()`;
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

it('what is about to be read is there for the next process, and its session forgets nothing else', async () => {
  const own = connect(urlFor(db.url, ['indexer']), { name: 'indexer', max: 1 });
  try {
    await db.sql`update indexer_leases set expires_at = clock_timestamp()`;
    const epoch = (await acquireLease(own.sql, NETWORK, 'reader')) as number;
    const deps = { sql: own.sql, log: createLogger({ component: 'test', level: 'silent' }), holder: 'reader' };
    for (const purpose of ['following', 'rescanning'] as const) {
      await createCaution(deps, { networkId: NETWORK, epoch }, purpose, null).begin({ from: 7, to: 9 });
      expect((await readLeft(indexer.sql, NETWORK, 'next'))[purpose]).toEqual({ from: 7, to: 9, deaths: 1 });
      // The same connection: there is one only.
      expect(await own.sql`select current_setting('synchronous_commit') as setting`).toEqual([{ setting: 'on' }]);
    }
  } finally {
    await own.end();
  }
});
