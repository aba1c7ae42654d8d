import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { Umzug } from 'umzug';
import type { Reads, Sql } from './postgres.ts';

const LOCK = 7_582_001;

/**
 * Brings the schema up to date from the numbered SQL files in `directory`; any number of processes may call it at once.
 * Takes one advisory lock for its whole run.
 * @throws when the database holds a migration this build does not know (a newer schema), or one edited after it ran
 */
export async function migrate(sql: Sql, directory: string): Promise<{ applied: string[] }> {
  const connection = await sql.reserve();
  try {
    while (!(await connection`select pg_try_advisory_lock(${LOCK}) as held`)[0]?.held) await pause(100);
    await connection`create table if not exists schema_migrations (
      name text primary key, checksum text not null, applied_at timestamptz not null default now())`;
    const files = await readMigrations(directory);
    await refuseForeignHistory(connection, files);
    const umzug = new Umzug<{ sql: typeof connection }>({
      context: { sql: connection },
      logger: undefined,
      migrations: files.map((file) => ({
        name: file.name,
        up: async ({ context }) => {
          // One message of several statements is one transaction: a migration that fails leaves nothing behind.
          await context.sql.unsafe(`${file.text}\n;insert into schema_migrations (name, checksum) values ('${file.name}', '${file.checksum}');`);
        },
      })),
      storage: {
        executed: async ({ context }) => (await context.sql<{ name: string }[]>`select name from schema_migrations order by name`).map((row) => row.name),
        logMigration: async () => undefined,
        unlogMigration: async () => {
          throw new Error('migrations only go forward');
        },
      },
    });
    const applied = await umzug.up();
    return { applied: applied.map((one) => one.name) };
  } finally {
    await connection`select pg_advisory_unlock(${LOCK})`;
    connection.release();
  }
}

/** Waits until every migration in `directory` is applied; for processes that must not migrate themselves. */
export async function awaitSchema(sql: Sql, directory: string, signal: AbortSignal): Promise<void> {
  const files = await readMigrations(directory);
  while (!signal.aborted) {
    const [row] = await sql<{ found: string | null }[]>`select to_regclass('schema_migrations')::text as found`;
    if (row?.found) {
      const known = await refuseForeignHistory(sql, files);
      if (known === files.length) return;
    }
    await pause(200, undefined, { signal });
  }
}

interface MigrationFile {
  name: string;
  text: string;
  checksum: string;
}

async function readMigrations(directory: string): Promise<MigrationFile[]> {
  const names = (await readdir(directory)).filter((name) => /^\d{4}_[a-z0-9_]+\.sql$/.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(`${directory}/${name}`, 'utf8');
      return { name, text, checksum: createHash('sha256').update(text).digest('hex') };
    }),
  );
}

/** Compares what ran with what this build has; answers how many ran. */
async function refuseForeignHistory(sql: Reads, files: MigrationFile[]): Promise<number> {
  const rows = await sql<{ name: string; checksum: string }[]>`select name, checksum from schema_migrations`;
  const known = new Map(files.map((file) => [file.name, file.checksum]));
  for (const row of rows) {
    const checksum = known.get(row.name);
    if (checksum === undefined) throw new Error(`the database schema is newer than this build: it has ${row.name}; run a newer build`);
    if (checksum !== row.checksum) throw new Error(`migration ${row.name} was changed after it ran; add a new one instead`);
  }
  return rows.length;
}
