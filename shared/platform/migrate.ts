import { setTimeout as pause } from 'node:timers/promises';
import type { MigrationError } from 'umzug';
import { type AppliedMigration, compareSchema, type MigrationFile, readMigrations } from './migration-files.ts';
import type { Reads, Sql } from './postgres.ts';

const LOCK = 7_582_001;
/** Whoever asks for a table behind a migration that waits for it waits too: it lets them pass after this long, and tries again. */
const LOCK_WAIT_MS = 3_000;
const LOCK_TRIES = 40;
const BETWEEN_TRIES_MS = 1_000;
/** `lock_not_available`, and `deadlock_detected`: whoever runs beside a migration takes tables in an order of its own. */
const NOT_NOW: readonly unknown[] = ['55P03', '40P01'];

/**
 * Brings the schema up to date from the numbered SQL files in `directory`; any number of processes may call it at once.
 * Takes one advisory lock for its whole run. Each migration is one transaction, so that one which fails or is killed leaves nothing
 * behind; the exception says so in its first lines and may be run again.
 * @throws when the schema cannot be shared with this build (compareSchema)
 */
export async function migrate(sql: Sql, directory: string): Promise<{ applied: string[] }> {
  const connection = await sql.reserve();
  try {
    while (!(await connection`select pg_try_advisory_lock(${LOCK}) as held`)[0]?.held) await pause(100);
    await connection`create table if not exists schema_migrations (
      name text primary key, checksum text not null, applied_at timestamptz not null default now())`;
    await connection`alter table schema_migrations add column if not exists needs_build int`;
    const files = await readMigrations(directory);
    compareSchema(files, await appliedMigrations(connection));
    // Whatever waits for the schema reads this file, and nearly nothing applies it: the library brings a command line of its own along.
    const { MigrationError, Umzug } = await import('umzug');
    const umzug = new Umzug<{ sql: typeof connection }>({
      context: { sql: connection },
      logger: undefined,
      migrations: files.map((file) => ({
        name: file.name,
        up: async ({ context }) => {
          if (file.alone) await runAlone(context.sql, file);
          else await runWhole(context.sql, file);
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
    const applied = await umzug.up().catch((error: unknown) => {
      throw error instanceof MigrationError ? unwrapped(error) : error;
    });
    return { applied: applied.map((one) => one.name) };
  } finally {
    // With the connection the lock is gone too; what went wrong is more worth telling.
    await connection`select pg_advisory_unlock(${LOCK})`.catch(() => undefined);
    connection.release();
  }
}

/** What a migration failed of, named after it: whether waiting helps is decided by its code, which the library's own error hides. */
function unwrapped(error: MigrationError): unknown {
  return error.cause instanceof Error ? Object.assign(error.cause, { message: error.message }) : error;
}

/** Waits until every migration in `directory` is applied; for processes that must not migrate themselves. */
export async function awaitSchema(sql: Sql, directory: string, signal: AbortSignal): Promise<void> {
  const files = await readMigrations(directory);
  while (!signal.aborted) {
    const [row] = await sql<{ found: string | null }[]>`select to_regclass('schema_migrations')::text as found`;
    if (row?.found && compareSchema(files, await appliedMigrations(sql)) === files.length) return;
    await pause(200, undefined, { signal });
  }
}

async function appliedMigrations(sql: Reads): Promise<AppliedMigration[]> {
  // A database that an earlier build made has no such column yet.
  return sql<AppliedMigration[]>`
    select name, checksum, (to_jsonb(m) ->> 'needs_build')::int as "needsBuild" from schema_migrations m order by name`;
}

/** One message of several statements is one transaction: what is refused has left nothing, and is tried again. @throws when a table stays locked for minutes */
async function runWhole(sql: Reads, file: MigrationFile): Promise<void> {
  await sql.unsafe(`set lock_timeout = ${LOCK_WAIT_MS}`);
  try {
    for (let tried = 1; ; tried++) {
      try {
        await sql.unsafe(`${file.text}\n;${noting(file)}`);
        return;
      } catch (error) {
        if (!NOT_NOW.includes((error as { code?: unknown }).code) || tried >= LOCK_TRIES) throw error;
      }
      await pause(BETWEEN_TRIES_MS);
    }
  } finally {
    await sql.unsafe('reset lock_timeout').catch(() => undefined);
  }
}

/** An index is built while others write; what a killed build left half-made is removed first. */
async function runAlone(sql: Reads, file: MigrationFile): Promise<void> {
  const halfMade = await sql<{ name: string }[]>`
    select c.oid::regclass::text as name from pg_index i join pg_class c on c.oid = i.indexrelid
    where not i.indisvalid and c.relnamespace = current_schema()::regnamespace`;
  for (const { name } of halfMade) await sql.unsafe(`drop index concurrently if exists ${name}`);
  await sql.unsafe(file.text);
  await sql.unsafe(noting(file));
}

function noting({ name, checksum, needsBuild }: MigrationFile): string {
  return `insert into schema_migrations (name, checksum, needs_build) values ('${name}', '${checksum}', ${needsBuild ?? 'null'});`;
}
