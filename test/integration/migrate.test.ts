import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { waitFor } from '#ops/dev/services/wait.ts';
import { isPassing } from '#shared/platform/database-problems.ts';
import { awaitSchema, migrate } from '#shared/platform/migrate.ts';
import { connect } from '#shared/platform/postgres.ts';
import { type FreshDatabase, freshDatabase } from '#test/harness/database.ts';

let database: FreshDatabase;
let folder: string;
beforeEach(async () => {
  database = await freshDatabase();
  folder = await mkdtemp(join(inject('services').directory, 'schema-'));
  await cp('shared/schema', folder, { recursive: true });
});
afterEach(async () => {
  await rm(folder, { recursive: true });
  await database.drop();
});

describe('the schema', () => {
  it('is brought up to date once by any number of processes at the same time', async () => {
    await writeFile(join(folder, '9001_extra.sql'), 'create table extra (id int);');
    const processes = Array.from({ length: 4 }, () => connect(database.url, { name: 'sluice-test', max: 2 }));
    const results = await Promise.all(processes.map((one) => migrate(one.sql, folder)));
    expect(results.map((result) => result.applied).filter((applied) => applied.length > 0)).toEqual([['9001_extra.sql']]);
    await Promise.all(processes.map((one) => one.end()));
  });

  it('stays as it was when a migration fails half-way', async () => {
    await writeFile(join(folder, '9001_extra.sql'), 'create table extra (id int); select 1/0;');
    await expect(migrate(database.sql, folder)).rejects.toMatchObject({ code: '22012', message: expect.stringMatching(/9001_extra\.sql.*division by zero/) });
    expect(await database.sql`select to_regclass('extra') as found`).toEqual([{ found: null }]);
    await writeFile(join(folder, '9001_extra.sql'), 'create table extra (id int);');
    expect(await migrate(database.sql, folder)).toEqual({ applied: ['9001_extra.sql'] });
  });

  it('may be newer than the build as long as it only adds, so that two releases share it while one replaces the other', async () => {
    await writeFile(join(folder, '9001_extra.sql'), 'create table extra (id int);');
    await migrate(database.sql, folder);
    expect(await migrate(database.sql, 'shared/schema')).toEqual({ applied: [] });
    await awaitSchema(database.sql, 'shared/schema', new AbortController().signal);
  });

  it('is refused when it says that it needs a newer build, by those who migrate and by those who wait', async () => {
    await writeFile(join(folder, '9001_extra.sql'), '-- needs-build: 9001\ncreate table extra (id int);');
    await writeFile(join(folder, '9002_more.sql'), 'create table more (id int);');
    await migrate(database.sql, folder);
    const newer = /newer than this build: it has 9001_extra\.sql/;
    await expect(migrate(database.sql, 'shared/schema')).rejects.toThrow(newer);
    await expect(awaitSchema(database.sql, 'shared/schema', new AbortController().signal)).rejects.toThrow(newer);
    await rm(join(folder, '9002_more.sql'));
    expect(await migrate(database.sql, folder)).toEqual({ applied: [] });
  });

  it('is refused when it holds an older migration that this build never had', async () => {
    await writeFile(join(folder, '0001_other.sql'), 'create table other (id int);');
    await migrate(database.sql, folder);
    await expect(migrate(database.sql, 'shared/schema')).rejects.toThrow(/0001_other\.sql, which this build knows nothing of/);
  });

  it('lets others pass while it waits for a table that somebody keeps, and goes on once it is free', async () => {
    await writeFile(join(folder, '9001_extra.sql'), 'alter table gateways add column extra int;');
    const own = connect(database.url, { name: 'sluice-test', max: 1, deadlines: 'none' });
    let migrating: Promise<{ applied: string[] }> | undefined;
    await database.transaction(async (tx) => {
      await tx`lock table gateways in access share mode`;
      migrating = migrate(own.sql, folder);
      const waits = async () => (await database.sql`select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%9001_extra%'`).length > 0;
      await waitFor(waits, { what: 'the migration to wait' });
      // Behind the migration; the table is still kept when this is answered.
      expect(await database.sql`select count(*)::int as n from gateways`).toEqual([{ n: 0 }]);
    });
    expect(await migrating).toEqual({ applied: ['9001_extra.sql'] });
    await own.end();
  });

  it('is tried again when a transaction beside it took two of its tables in the other order', async () => {
    await writeFile(join(folder, '9001_extra.sql'), 'alter table gateways add column extra int; alter table wallets add column extra int;');
    // It looks for a deadlock once: not before the other one asks for its second table, on a busy machine either.
    await database.sql`alter database ${database.sql(new URL(database.url).pathname.slice(1))} set deadlock_timeout = '3s'`;
    const own = connect(database.url, { name: 'sluice-test', max: 1, deadlines: 'none' });
    let migrating: Promise<{ applied: string[] }> | undefined;
    await database.transaction(async (tx) => {
      // Of the two the migration is the one that finds the deadlock.
      await tx`set local deadlock_timeout = '1h'`;
      await tx`lock table wallets in access share mode`;
      migrating = migrate(own.sql, folder);
      const waits = async () => (await database.sql`select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%9001_extra%'`).length > 0;
      await waitFor(waits, { what: 'the migration to wait', everyMs: 20 });
      await tx`lock table gateways in access share mode`;
    });
    expect(await migrating).toEqual({ applied: ['9001_extra.sql'] });
    await own.end();
  });

  it('that loses its connection fails of that, so that a process waits for the database and goes on', async () => {
    await writeFile(join(folder, '9001_extra.sql'), 'create table extra (id int); select pg_terminate_backend(pg_backend_pid());');
    const own = connect(database.url, { name: 'sluice-test', max: 1, deadlines: 'none' });
    expect(await migrate(own.sql, folder).catch(isPassing)).toBe(true);
    await writeFile(join(folder, '9001_extra.sql'), 'create table extra (id int);');
    expect(await migrate(own.sql, folder)).toEqual({ applied: ['9001_extra.sql'] });
    await own.end();
  });

  it('builds an index while others write, and builds it anew when the first try was killed', async () => {
    const { sql } = database;
    await sql.unsafe('create table extra (id int); insert into extra values (1), (1);');
    await expect(sql.unsafe('create unique index concurrently extra_id on extra (id)')).rejects.toThrow(/could not create unique index/);
    await sql`delete from extra`;
    await writeFile(join(folder, '9001_extra.sql'), '-- no-transaction\ncreate unique index concurrently if not exists extra_id on extra (id);');
    expect(await migrate(sql, folder)).toEqual({ applied: ['9001_extra.sql'] });
    expect(await sql`select indisvalid as valid from pg_index where indexrelid = 'extra_id'::regclass`).toEqual([{ valid: true }]);
    expect(await migrate(sql, folder)).toEqual({ applied: [] });
  });

  it('is refused when a migration was edited after it ran', async () => {
    await writeFile(join(folder, '0001_foundation.sql'), '-- something else');
    await expect(migrate(database.sql, folder)).rejects.toThrow(/0001_foundation\.sql was changed after it ran/);
  });

  it('gives gateways stored before there was a choice codes with the address alone, and leaves a choice as it is', async () => {
    const { sql } = database;
    const store = (name: string, settings: object) =>
      sql`insert into gateways (id, name, status, billing, settings) values (gen_random_uuid(), ${name}, 'VERIFIED', 'STANDARD', ${sql.json({ ...settings })})`;
    await store('a', { branding: { language: 'es' } });
    await store('b', { branding: null });
    await store('c', {});
    await store('d', { branding: { qrMode: 'URI' } });
    await sql.unsafe(await readFile('shared/schema/0026_qr_mode.sql', 'utf8'));
    expect(await sql`select settings -> 'branding' as branding from gateways order by name`).toEqual([
      { branding: { language: 'es', qrMode: 'SAFE' } },
      { branding: { qrMode: 'SAFE' } },
      { branding: { qrMode: 'SAFE' } },
      { branding: { qrMode: 'URI' } },
    ]);
  });
});
