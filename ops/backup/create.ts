import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { connect, type Tx } from '#shared/platform/postgres.ts';
import { VERSION } from '#shared/platform/version.ts';
import { type BackedUpTable, MANIFEST, type Manifest, rowsFile } from './manifest.ts';
import { listTables } from './tables.ts';

const ROWS_AT_ONCE = 2_000;

/**
 * Writes everything a database holds at one moment into an empty folder that only its owner reads, while the service runs. It needs no
 * program of Postgres, so any machine that reaches the database can make it. The manifest comes last: without it nothing is complete.
 * @throws Error when the folder holds something
 */
export async function createBackup(databaseUrl: string, folder: string): Promise<Manifest> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if ((await readdir(folder)).length > 0) throw new Error(`${folder} is not empty`);
  const database = connect(databaseUrl, { name: 'sluice-backup', max: 1, deadlines: 'none' });
  try {
    const manifest = await database.snapshot(async (tx) => {
      return writeTables(tx, folder);
    });
    await writeDurably(join(folder, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`);
    return manifest;
  } finally {
    await database.end();
  }
}

async function writeTables(tx: Tx, folder: string): Promise<Manifest> {
  const [now] = await tx<[{ takenAt: string }]>`select to_json(now()) #>> '{}' as "takenAt"`;
  const migrations = await tx<{ name: string; checksum: string }[]>`select name, checksum from schema_migrations order by name`;
  const tables: BackedUpTable[] = [];
  for (const { name, columns } of await listTables(tx)) tables.push({ name, columns, ...(await writeRows(tx, folder, { name, columns })) });
  // Last: they are of no snapshot, and what they gave meanwhile must not be given again.
  const sequences = await tx<{ name: string; lastValue: number | null }[]>`
    select sequencename as name, last_value from pg_sequences where schemaname = current_schema() order by 1`;
  return { format: 1, takenAt: now.takenAt, version: VERSION, migrations: [...migrations], tables, sequences: [...sequences] };
}

async function writeRows(tx: Tx, folder: string, table: { name: string; columns: string[] }): Promise<{ rows: number; sha256: string }> {
  const sum = createHash('sha256');
  let rows = 0;
  await tx`declare backup_rows no scroll cursor for select row_to_json(t)::text as row from (select ${tx(table.columns)} from ${tx(table.name)}) t`;
  const zip = createGzip();
  const written = pipeline(zip, createWriteStream(rowsFile(folder, table.name), { mode: 0o600, flush: true }));
  for (;;) {
    const part = await tx<{ row: string }[]>`fetch ${tx.unsafe(String(ROWS_AT_ONCE))} from backup_rows`;
    if (part.length === 0) break;
    rows += part.length;
    const text = part.map(({ row }) => `${row}\n`).join('');
    sum.update(text);
    if (!zip.write(text)) await once(zip, 'drain');
  }
  zip.end();
  await written;
  await tx`close backup_rows`;
  return { rows, sha256: sum.digest('hex') };
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(`${path}.part`, 'w', 0o600);
  await file.writeFile(text);
  await file.sync();
  await file.close();
  await rename(`${path}.part`, path);
}
