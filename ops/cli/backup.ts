import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readInterchange, writeInterchange } from '#api/signer/journal/interchange.ts';
import { JournalFile } from '#api/signer/journal/journal-file.ts';
import { journalPath } from '#api/signer/journal/signer-journal.ts';
import { createBackup } from '#ops/backup/create.ts';
import type { Manifest } from '#ops/backup/manifest.ts';
import { restoreBackup, verifyBackup } from '#ops/backup/restore.ts';
import { instanceDirectory, readDevFile } from '#ops/dev/dev-file.ts';
import { packageRoot } from '#shared/platform/package-root.ts';
import { type Command, type Options, type Result, textOption, UnreachableError, UsageError } from './command.ts';

/** What a backup keeps of the signer's journal. */
const JOURNAL_FILE = 'signer-journal.jsonl';
const DATABASE = {
  type: 'string',
  help: 'URL of the database with the login that owns it; DATABASE_OWNER_URL, DATABASE_URL, or what npm start runs, unless given',
} as const;

export const backupCommands: readonly Command[] = [
  {
    name: 'backup create',
    args: '<folder>',
    summary: 'write everything the database holds into an empty folder, while the service runs',
    options: {
      database: DATABASE,
      journal: { type: 'string', help: 'folder of the signer’s journal, which is kept too; SLUICE_SIGNER_JOURNAL, or what npm start uses, unless given' },
    },
    arity: [1, 1],
    async run(_context, [folder = ''], options) {
      const journal = await journalOf(options);
      const manifest = await createBackup(await databaseOf(options), folder);
      // After the rows: a journal that knows more than the database is safe, the other way round it is not.
      const kept = journal === undefined ? undefined : await exportJournal(journal, join(folder, JOURNAL_FILE));
      const { data, text } = said('backed up', manifest);
      if (kept === undefined) return { data, text: `${text}\nthe signer's journal is not here: sluice signer journal export, on its host` };
      return { data: { ...(data as object), journal: kept }, text: `${text}\nwith the signer's journal: ${kept.seq} signatures` };
    },
  },
  {
    name: 'backup verify',
    args: '<folder>',
    summary: 'check that every row of a backup is as it was written',
    arity: [1, 1],
    async run(_context, [folder = '']) {
      const { data, text } = said('intact', await verifyBackup(folder));
      if (!existsSync(join(folder, JOURNAL_FILE))) return { data, text };
      const { head } = readInterchange(join(folder, JOURNAL_FILE));
      return { data: { ...(data as object), journal: head }, text: `${text}\nand ${head.seq} signatures of the signer's journal` };
    },
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
      return said('restored', await restoreBackup(url, folder as string, process.env.SLUICE_SCHEMA_DIR ?? join(packageRoot(), 'shared/schema')));
    },
  },
];

/** Folder of the journal that is on this machine; undefined when it is elsewhere. @throws UsageError when it is named and not there */
async function journalOf(options: Options): Promise<string | undefined> {
  const named = textOption(options, 'journal');
  if (named !== undefined && !existsSync(journalPath(named))) throw new UsageError(`--journal: there is no journal in ${named}`);
  const dev = await readDevFile(instanceDirectory(process.env, process.cwd())).catch(() => undefined);
  const folder = named ?? process.env.SLUICE_SIGNER_JOURNAL ?? (dev === undefined ? undefined : join(instanceDirectory(process.env, process.cwd()), 'journal'));
  return folder !== undefined && existsSync(journalPath(folder)) ? folder : undefined;
}

async function exportJournal(folder: string, path: string): Promise<{ id: string; seq: number; hash: string }> {
  const file = JournalFile.open(journalPath(folder), { write: false });
  try {
    return await writeInterchange(file, path);
  } finally {
    file.close();
  }
}

async function databaseOf(options: Options): Promise<string> {
  const given = textOption(options, 'database') ?? process.env.DATABASE_OWNER_URL ?? process.env.DATABASE_URL;
  if (given !== undefined) return given;
  const dev = await readDevFile(instanceDirectory(process.env, process.cwd())).catch(() => undefined);
  if (dev === undefined) throw new UnreachableError('which database? set DATABASE_URL or --database');
  return dev.databaseUrl;
}

function said(what: string, { takenAt, tables, migrations }: Manifest): Result {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  const data = { takenAt, tables: tables.length, rows, schema: migrations.at(-1)?.name ?? null };
  return { data, text: `${what}: ${rows} rows of ${tables.length} tables, as of ${takenAt} (schema ${data.schema})` };
}
