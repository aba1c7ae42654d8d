import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '#shared/platform/postgres.ts';
import { aService, type Service } from '#test/contract/service.ts';
import { type Books, someBooks } from '#test/fixtures/books.ts';
import { aParkingWorld, type ParkingWorld } from '#test/fixtures/parking.ts';
import { aTreasury, type Treasury } from '#test/fixtures/treasury.ts';
import { APPEND_ONLY } from '#shared/platform/database-rights.ts';
import { roleName } from '#shared/platform/database-roles.ts';
import { type InProcess, inProcess } from '#test/harness/in-process.ts';
import { anIndexerWorld, type IndexerWorld } from './indexer-world.ts';

// Product code that runs as the owner of the tables shows nothing about a deployment, where no process is.

interface Harnesses {
  world: InProcess;
  books: Books;
  treasury: Treasury;
  parking: ParkingWorld;
  service: Service;
  indexing: IndexerWorld;
  apart: Database;
}

let open: Harnesses;
beforeAll(async () => {
  const [world, books, treasury, parking, service, indexing] = await Promise.all([
    inProcess(),
    someBooks(),
    aTreasury(),
    aParkingWorld(),
    aService(),
    anIndexerWorld(),
  ]);
  open = { world, books, treasury, parking, service, indexing, apart: world.deps.db.apart({ name: 'sluice-test', max: 1 }) };
});
afterAll(async () => {
  const { world, books, treasury, parking, service, indexing, apart } = open;
  await apart.end();
  await Promise.all([world.stop(), books.drop(), treasury.stop(), parking.stop(), service.stop(), indexing.stop()]);
});

const EVERY_ROLE = ['http', 'signer', 'worker'];
const HARNESSES: Record<string, { db(): Database; roles: readonly string[] }> = {
  'the use cases in this process': { db: () => open.world.deps.db, roles: EVERY_ROLE },
  'the books': { db: () => open.books.deps.db, roles: EVERY_ROLE },
  'the treasury': { db: () => open.treasury.deps.db, roles: EVERY_ROLE },
  'shops that park cashouts': { db: () => open.parking.deps.db, roles: EVERY_ROLE },
  'the http side of the contract': { db: () => open.service.deps.db, roles: ['http'] },
  'the jobs of the contract': { db: () => open.service.worker.db, roles: ['worker'] },
  'the consumer of an indexer': { db: () => open.indexing.deps.db, roles: ['worker'] },
  'connections of its own that product code opens': { db: () => open.apart, roles: EVERY_ROLE },
};

describe.each(Object.entries(HARNESSES))('%s', (_name, { db, roles }) => {
  it('may do what its processes may, and owns nothing', async () => {
    const { sql } = db();
    const [login] = await sql<[{ roles: string[]; owner: boolean; superuser: boolean; creates: boolean }]>`
      select array(select g.rolname::text from pg_auth_members m join pg_roles g on g.oid = m.roleid join pg_roles l on l.oid = m.member
          where l.rolname = current_user order by 1) as roles,
        pg_has_role(current_user, (select tableowner from pg_tables where tablename = 'payments'), 'member') as owner,
        (select rolsuper from pg_roles where rolname = current_user) as superuser,
        has_schema_privilege(current_schema(), 'CREATE') or has_database_privilege(current_database(), 'TEMPORARY') as creates`;
    expect(login).toEqual({ roles: roles.map((role) => roleName(role as 'http')), owner: false, superuser: false, creates: false });
    const changeable = await sql<{ name: string }[]>`
      select name from unnest(${[...APPEND_ONLY]}::text[]) name where has_table_privilege(name, 'UPDATE, DELETE, TRUNCATE') or has_any_column_privilege(name, 'UPDATE')`;
    expect(changeable).toEqual([]);
  });
});

it('what a test arranges by hand is arranged by the owner, on a connection that no product code is given', async () => {
  const [owner] = await open.world.database.sql<[{ owns: boolean }]>`select tableowner = current_user as owns from pg_tables where tablename = 'payments'`;
  expect(owner.owns).toBe(true);
  expect(open.world.deps.db).not.toBe(open.world.database);
  expect(open.world.deps.config.DATABASE_URL).not.toBe(open.world.database.url);
});
