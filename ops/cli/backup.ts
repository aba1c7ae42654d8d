import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readInterchange, writeInterchange } from '#api/signer/journal/interchange.ts';
import { JournalFile } from '#api/signer/journal/journal-file.ts';
import { journalPath } from '#api/signer/journal/signer-journal.ts';
import { createBackup } from '#ops/backup/create.ts';
import type { Manifest } from '#ops/backup/manifest.ts';
import { noteCreated, noteVerified } from '#ops/backup/note.ts';
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
      const database = await databaseOf(options);
      const manifest = await createBackup(database, folder);
      // After the rows: a journal that knows more than the database is safe, the other way round it is not.
      const kept = journal === undefined ? undefined : await exportJournal(journal, join(folder, JOURNAL_FILE));
      const made = said('backed up', manifest);
      const note = await noteCreated(database, folder, manifest).then(
        () => '',
        (error: Error) => `\nsluice doctor will not know of it: it could not be noted in the database (${error.message})`,
      );
      const { data, text } = { data: { ...(made.data as object), noted: note === '' }, text: made.text + note };
      if (kept === undefined) return { data, text: `${text}\nthe signer's journal is not here: sluice signer journal export, on its host` };
      return { data: { ...data, journal: kept }, text: `${text}\nwith the signer's journal: ${kept.seq} signatures` };
    },
  },
  {
    name: 'backup verify',
    args: '<folder>',
    summary: 'check that every row of a backup is as it was written, and note it where its database is in reach',
    options: { database: { ...DATABASE, help: 'URL of the database it was made of, for the note; where create finds it unless given' } },
    arity: [1, 1],
    async run(_context, [folder = ''], options) {
      const intact = said('intact', await verifyBackup(folder));
      const { noted, why } = await noteIntact(folder, options);
      const { data, text } = { data: { ...(intact.data as object), noted }, text: `${intact.text}${why}` };
      if (!existsSync(join(folder, JOURNAL_FILE))) return { data, text };
      const { head } = readInterchange(join(folder, JOURNAL_FILE));
      return { data: { ...data, journal: head }, text: `${text}\nand ${head.seq} signatures of the signer's journal` };
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

/** Notes that a backup is intact. A backup is checked where it is kept, and its database need not be in reach of that place. */
async function noteIntact(folder: string, options: Options): Promise<{ noted: boolean; why: string }> {
  try {
    const noted = await noteVerified(await databaseOf(options), folder);
    return { noted, why: noted ? '' : '\nnot noted: the database that was asked made no such backup, or was restored from an older one' };
  } catch (error) {
    return { noted: false, why: `\nnot noted for sluice doctor: ${(error as Error).message}` };
  }
}

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
