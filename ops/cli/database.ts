import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { instanceDirectory, readDevFile } from '#ops/dev/dev-file.ts';
import { DATABASE_ROLES, type DatabaseRole } from '#shared/platform/database-rights.ts';
import { applyRoles, grantRights, inspectRights, isSound, type Login, type Right, type RightsReport } from '#shared/platform/database-roles.ts';
import { migrate } from '#shared/platform/migrate.ts';
import { packageRoot } from '#shared/platform/package-root.ts';
import { connect, type Database } from '#shared/platform/postgres.ts';
import { type Command, type Options, textOption, UnreachableError, UsageError } from './command.ts';

export const DATABASE = {
  type: 'string',
  help: 'URL of the database with the login that owns its tables; DATABASE_OWNER_URL, DATABASE_URL, or what npm start runs, unless given',
} as const;

const SCHEMA_DIRECTORY = process.env.SLUICE_SCHEMA_DIR ?? join(packageRoot(), 'shared/schema');

export const databaseCommands: readonly Command[] = [
  {
    name: 'db migrate',
    args: '',
    summary: 'bring the schema up to date, and give the roles their rights on what is new; what an api with DATABASE_OWNER_URL does when it starts',
    options: { database: DATABASE },
    arity: [0, 0],
    run: (_context, _args, options) =>
      within(options, async (db) => {
        const { applied } = await migrate(db.sql, SCHEMA_DIRECTORY);
        const granted = await db.transaction((tx) => grantRights(tx, { revoke: false }));
        const text = applied.length === 0 ? 'the schema is up to date' : `applied ${applied.join(', ')}`;
        return { data: { applied, granted }, text: granted === 0 ? text : `${text}; granted ${granted} rights` };
      }),
  },
  {
    name: 'db roles',
    args: '',
    summary: 'compare the rights of every database role with what its processes need; exit code 1 when something is missing or too much',
    options: { database: DATABASE },
    arity: [0, 0],
    run: (_context, _args, options) =>
      within(options, async (db) => {
        const report = await inspectRights(db.sql);
        return { data: report, text: describe(report), good: isSound(report) };
      }),
  },
  {
    name: 'db roles apply',
    args: '[login=role+role …]',
    summary: 'make the roles, give each exactly its rights, and make logins: api=http+worker signer=signer eth=indexer:ethereum',
    options: {
      database: DATABASE,
      migrate: { type: 'boolean', help: 'bring the schema up to date first, and make it where there is none: for a job before a release' },
      passwords: { type: 'string', help: 'folder of passwords, one file per login; those of new logins are made and written there. Printed once without it' },
    },
    arity: [0, 40],
    run: (_context, args, options) =>
      within(options, async (db) => {
        if (options.migrate === true) await migrate(db.sql, SCHEMA_DIRECTORY);
        const folder = textOption(options, 'passwords');
        const made: { login: string; password: string }[] = [];
        const logins: Login[] = [];
        for (const word of args) {
          const login = parseLogin(word);
          const known = await passwordOf(login.name, folder);
          const password = known ?? ((await exists(db, login.name)) ? '' : randomBytes(24).toString('hex'));
          if (known === undefined && password !== '') {
            if (folder === undefined) made.push({ login: login.name, password });
            else await keep(folder, login.name, password);
          }
          // An empty one that is given is none: who had the one before gets in no more.
          logins.push({ ...login, ...(known === '' ? { password: null } : password !== '' && { password }) });
        }
        const { changed } = await applyRoles(db, logins);
        const report = await inspectRights(db.sql);
        const lines = [
          `${changed} rights changed, ${logins.length} logins in place`,
          ...made.map(({ login, password }) => `${login}: password ${password} (shown this once)`),
          ...(isSound(report) ? [] : [describe(report)]),
        ];
        // Tables of a later release are said and no failure: a deployment that goes back runs this before everything else.
        const good = isSound({ ...report, unknownTables: [] });
        return { data: { changed, logins: logins.map(({ name }) => name), made, report }, text: lines.join('\n'), good };
      }),
  },
];

/** Reads `name=role+role`, an indexer's with the networks that are its own: `eth=indexer:ethereum+base`. @throws UsageError */
function parseLogin(word: string): Login {
  const [, name, text, networks] = /^([a-z_][a-z0-9_]{0,62})=([a-z+]+)(?::([a-z0-9_+-]+))?$/.exec(word) ?? [];
  const roles = text?.split('+') ?? [];
  if (name === undefined || !roles.every((role): role is DatabaseRole => (DATABASE_ROLES as readonly string[]).includes(role)))
    throw new UsageError(`${word}: a login is written name=role+role, of the roles ${DATABASE_ROLES.join(', ')}`);
  if (networks !== undefined && text !== 'indexer') throw new UsageError(`${word}: only an indexer has networks of its own`);
  return { name, roles, networks: networks?.split('+') ?? [] };
}

/** From `SLUICE_PASSWORD_<LOGIN>`, or the folder's file; undefined when there is neither. An empty one is none: nobody gets in with it. */
async function passwordOf(login: string, folder: string | undefined): Promise<string | undefined> {
  const given = process.env[`SLUICE_PASSWORD_${login.toUpperCase()}`];
  if (given !== undefined) return given;
  if (folder === undefined) return undefined;
  return readFile(join(folder, login), 'utf8').then(
    (text) => text.trim(),
    () => undefined,
  );
}

async function keep(folder: string, login: string, password: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(join(folder, login), `${password}\n`, { mode: 0o600, flag: 'wx' });
}

async function exists(db: Database, login: string): Promise<boolean> {
  return (await db.sql`select 1 from pg_roles where rolname = ${login} and rolcanlogin`).length > 0;
}

function describe(report: RightsReport): string {
  if (isSound(report)) return 'every role has exactly the rights it needs';
  const rights = (list: readonly Right[]): string[] =>
    list.map(({ role, privilege, name, column }) => `  ${role}: ${privilege} on ${name}${column === null ? '' : ` (${column})`}`);
  const part = (title: string, lines: readonly string[]): string[] => (lines.length === 0 ? [] : [title, ...lines]);
  return [
    ...part(
      'these roles do not exist:',
      report.absentRoles.map((name) => `  ${name}`),
    ),
    ...(report.absentRoles.length === DATABASE_ROLES.length ? [] : part('missing:', rights(report.missing))),
    ...part('too much:', rights(report.surplus)),
    ...part(
      'logins that are more than members:',
      report.tooStrong.map(({ login, why }) => `  ${login} ${why}`),
    ),
    ...part(
      'tables of another release, or of somebody else:',
      report.unknownTables.map((name) => `  ${name}`),
    ),
    ...(report.temporaryTables ? ['everybody may make temporary tables'] : []),
    'put it right: sluice db roles apply',
  ].join('\n');
}

/** Does something with the database as whoever owns its tables, or as whoever `--database` says. */
export async function within<T>(options: Options, work: (db: Database) => Promise<T>): Promise<T> {
  const url = textOption(options, 'database') ?? process.env.DATABASE_OWNER_URL ?? process.env.DATABASE_URL ?? (await developmentUrl());
  const db = connect(url, { name: 'sluice-cli', max: 1, deadlines: 'none' });
  try {
    return await work(db);
  } finally {
    await db.end();
  }
}

async function developmentUrl(): Promise<string> {
  const dev = await readDevFile(instanceDirectory(process.env, process.cwd())).catch(() => undefined);
  if (dev === undefined) throw new UnreachableError('which database? set DATABASE_OWNER_URL, DATABASE_URL or --database');
  return dev.databaseUrl;
}
