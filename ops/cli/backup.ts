import { join } from 'node:path';
import { createBackup } from '#ops/backup/create.ts';
import type { Manifest } from '#ops/backup/manifest.ts';
import { restoreBackup, verifyBackup } from '#ops/backup/restore.ts';
import { DEV_FILE, readDevFile } from '#ops/dev/dev-file.ts';
import { type Command, type Options, type Result, textOption, UnreachableError } from './command.ts';

const DATABASE = {
  type: 'string',
  help: 'URL of the database with the login that owns it; DATABASE_OWNER_URL, DATABASE_URL, or what npm start runs, unless given',
} as const;

export const backupCommands: readonly Command[] = [
  {
    name: 'backup create',
    args: '<folder>',
    summary: 'write everything the database holds into an empty folder, while the service runs',
    options: { database: DATABASE },
    arity: [1, 1],
    run: async (_context, [folder], options) => said('backed up', await createBackup(await databaseOf(options), folder as string)),
  },
  {
    name: 'backup verify',
    args: '<folder>',
    summary: 'check that every row of a backup is as it was written',
    arity: [1, 1],
    run: async (_context, [folder]) => said('intact', await verifyBackup(folder as string)),
  },
  {
    name: 'backup restore',
    args: '<folder>',
    summary: 'fill an empty database with a backup; the service must not run on it yet',
    options: { database: { ...DATABASE, help: 'URL of the empty database; DATABASE_OWNER_URL or DATABASE_URL unless given' } },
    arity: [1, 1],
    async run(_context, [folder], options) {
      const url = textOption(options, 'database') ?? process.env.DATABASE_OWNER_URL ?? process.env.DATABASE_URL;
      if (url === undefined) throw new UnreachableError('which database? set DATABASE_URL or --database to an empty one');
      return said('restored', await restoreBackup(url, folder as string, process.env.SLUICE_SCHEMA_DIR ?? join(process.cwd(), 'shared/schema')));
    },
  },
];

async function databaseOf(options: Options): Promise<string> {
  const given = textOption(options, 'database') ?? process.env.DATABASE_OWNER_URL ?? process.env.DATABASE_URL;
  if (given !== undefined) return given;
  const dev = await readDevFile(join(process.cwd(), DEV_FILE)).catch(() => undefined);
  if (dev === undefined) throw new UnreachableError('which database? set DATABASE_URL or --database');
  return dev.databaseUrl;
}

function said(what: string, { takenAt, tables, migrations }: Manifest): Result {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  const data = { takenAt, tables: tables.length, rows, schema: migrations.at(-1)?.name ?? null };
  return { data, text: `${what}: ${rows} rows of ${tables.length} tables, as of ${takenAt} (schema ${data.schema})` };
}
