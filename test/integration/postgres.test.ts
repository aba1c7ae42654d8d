import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freshDatabase, type FreshDatabase } from '#test/harness/database.ts';

describe('the database client', () => {
  let db: FreshDatabase;
  beforeAll(async () => {
    db = await freshDatabase();
    await db.sql`create table noted (n int)`;
  });
  afterAll(() => db.drop());

  it('begins transactions behind any number of queued statements, and leaves none open that swallows what comes next', async () => {
    await Promise.all(Array.from({ length: 100 }, () => db.sql`select pg_sleep(0.01)`));
    // More than the driver sends ahead on all its connections together.
    const queued = Array.from({ length: 1_000 }, () => db.sql`select 1`.execute());
    const transactions = Array.from({ length: 30 }, (_, n) => db.transaction((tx) => tx`insert into noted values (${n})`));
    await Promise.all([...queued, ...transactions]);
    await Promise.all(Array.from({ length: 30 }, (_, n) => db.sql`insert into noted values (${n})`));
    expect(await db.sql`select count(*) as count from noted`).toEqual([{ count: 60 }]);
    expect(await db.sql`select pid from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`).toEqual([]);
  });
});
