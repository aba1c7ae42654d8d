import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
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
    await expect(migrate(database.sql, folder)).rejects.toThrow(/division by zero/);
    expect(await database.sql`select to_regclass('extra') as found`).toEqual([{ found: null }]);
    await writeFile(join(folder, '9001_extra.sql'), 'create table extra (id int);');
    expect(await migrate(database.sql, folder)).toEqual({ applied: ['9001_extra.sql'] });
  });

  it('is refused when it is newer than the build, by those who migrate and by those who wait', async () => {
    await writeFile(join(folder, '9001_extra.sql'), 'create table extra (id int);');
    await migrate(database.sql, folder);
    const newer = /newer than this build: it has 9001_extra\.sql/;
    await expect(migrate(database.sql, 'shared/schema')).rejects.toThrow(newer);
    await expect(awaitSchema(database.sql, 'shared/schema', new AbortController().signal)).rejects.toThrow(newer);
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
