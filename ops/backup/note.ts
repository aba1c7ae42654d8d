import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from '#shared/platform/postgres.ts';
import { MANIFEST, type Manifest } from './manifest.ts';

/**
 * Writes down in the database that this backup of it is complete, so that `sluice doctor` knows its age.
 * @throws whatever Postgres says: the backup itself is complete all the same
 */
export async function noteCreated(databaseUrl: string, folder: string, manifest: Manifest): Promise<void> {
  const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0);
  const sum = await manifestSum(folder);
  await withDatabase(databaseUrl, async (sql) => {
    await sql`
      insert into backups (manifest_sha256, taken_at, rows) values (${sum}, ${manifest.takenAt}::text::timestamptz, ${rows})
      on conflict (manifest_sha256) do nothing`;
  });
}

/** Writes down that it was read and is intact. False when the database knows of no such backup of itself. @throws whatever Postgres says */
export async function noteVerified(databaseUrl: string, folder: string): Promise<boolean> {
  const sum = await manifestSum(folder);
  let known = false;
  await withDatabase(databaseUrl, async (sql) => {
    known = (await sql`update backups set verified_at = now() where manifest_sha256 = ${sum} returning 1`).length === 1;
  });
  return known;
}

async function manifestSum(folder: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(join(folder, MANIFEST)))
    .digest('hex');
}

async function withDatabase(url: string, work: (sql: ReturnType<typeof connect>['sql']) => Promise<void>): Promise<void> {
  const database = connect(url, { name: 'sluice-backup', max: 1 });
  try {
    await work(database.sql);
  } finally {
    await database.end();
  }
}
