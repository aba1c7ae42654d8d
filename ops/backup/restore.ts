import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '#shared/platform/migrate.ts';
import { describeMigration } from '#shared/platform/migration-files.ts';
import { connect, type Reads, type Tx } from '#shared/platform/postgres.ts';
import { type Manifest, readManifest, readRows } from './manifest.ts';
import { listSelfReferences, listTables } from './tables.ts';

/** Checks that every row of a backup is as it was written. @throws Error naming the first table that is not */
export async function verifyBackup(folder: string): Promise<Manifest> {
  const manifest = await readManifest(folder);
  for (const table of manifest.tables) await readRows(folder, table, async () => undefined);
  return manifest;
}

/**
 * Fills an empty database with a backup: the schema it is of, made by the migrations of this build, then every row, all or nothing. Rows
 * that refer to others find them, or it fails. The service notices that the database is another one, and dispatches nothing on a
 * network before the books match its chain.
 * @throws Error when the database holds a table, the backup is damaged, or this build does not know its schema
 */
export async function restoreBackup(databaseUrl: string, folder: string, schemaDirectory: string): Promise<Manifest> {
  const manifest = await verifyBackup(folder);
  const database = connect(databaseUrl, { name: 'sluice-restore', max: 2, deadlines: 'none' });
  try {
    await refuseFilled(database.sql);
    const schema = await mkdtemp(join(tmpdir(), 'sluice-restore-'));
    try {
      await copySchema(manifest, schemaDirectory, schema);
      await migrate(database.sql, schema);
    } finally {
      await rm(schema, { recursive: true, force: true });
    }
    await database.transaction((tx) => fill(tx, folder, manifest));
    await database.sql`analyze`;
    return manifest;
  } finally {
    await database.end();
  }
}

async function refuseFilled(sql: Reads): Promise<void> {
  const [found] = await sql<{ name: string }[]>`
    select relname as name from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('r', 'v', 'm', 'S') limit 1`;
  if (found !== undefined) throw new Error(`the database is not empty: it has ${found.name}; restore into a new one`);
}

/** Copies the migrations the backup was made after into `folder`, and no later one: those run when the service starts. */
async function copySchema(manifest: Manifest, schemaDirectory: string, folder: string): Promise<void> {
  for (const { name, checksum } of manifest.migrations) {
    const text = await readFile(join(schemaDirectory, name), 'utf8').catch(() => undefined);
    if (text === undefined)
      throw new Error(`the backup is of a newer schema: this build has no ${name}; use the build that made it (${manifest.version}) or a later one`);
    if (describeMigration(name, text).checksum !== checksum) throw new Error(`migration ${name} of this build is not the one the backup was made after`);
    await copyFile(join(schemaDirectory, name), join(folder, name));
  }
}

async function fill(tx: Tx, folder: string, manifest: Manifest): Promise<void> {
  const there = await listTables(tx);
  const missing = there.filter(({ name }) => !manifest.tables.some((table) => table.name === name));
  if (missing.length > 0) throw new Error(`the backup has nothing of ${missing.map(({ name }) => name).join(', ')}`);
  // What triggers guard is history being changed; here it is written the first time. What rows refer to is checked all the same.
  for (const { name } of there) await tx`alter table ${tx(name)} disable trigger user`;
  // Rows of one table are in no order: one may refer to another that comes later.
  const within = await listSelfReferences(tx);
  for (const { table, name } of within) await tx`alter table ${tx(table)} alter constraint ${tx(name)} deferrable initially deferred`;
  await tx`truncate ${tx.unsafe(there.map(({ name }) => `"${name}"`).join(', '))}`;
  for (const table of manifest.tables) {
    await readRows(folder, table, async (lines) => {
      await tx`
        insert into ${tx(table.name)} (${tx(table.columns)}) overriding system value
        select ${tx(table.columns)} from json_populate_recordset(null::${tx(table.name)}, ${`[${lines.join(',')}]`}::text::json)`;
    });
  }
  for (const { name, lastValue } of manifest.sequences) if (lastValue !== null) await tx`select setval(${name}::regclass, ${lastValue})`;
  // What is checked at the end of a transaction is checked here, before the tables may be changed again.
  await tx`set constraints all immediate`;
  for (const { table, name } of within) await tx`alter table ${tx(table)} alter constraint ${tx(name)} not deferrable`;
  for (const { name } of there) await tx`alter table ${tx(name)} enable trigger user`;
  for (const { name, rows } of manifest.tables) {
    const [counted] = await tx<[{ rows: number }]>`select count(*)::int as rows from ${tx(name)}`;
    if (counted.rows !== rows) throw new Error(`${name} has ${counted.rows} rows after the restore, and the backup ${rows}`);
  }
}
