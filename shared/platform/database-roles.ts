import { pbkdf2, randomBytes, createHash, createHmac } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { APPEND_ONLY, DATABASE_ROLES, type DatabaseRole, SEQUENCE_RIGHTS, UNREADABLE, WORKING_RIGHTS } from './database-rights.ts';
import type { Logger } from './logger.ts';
import type { Database, Reads } from './postgres.ts';

/** Name of a role in Postgres, which all databases of a cluster share. */
export function roleName(role: DatabaseRole): string {
  return `sluice_${role}`;
}

const ROLE_NAMES: readonly string[] = DATABASE_ROLES.map(roleName);

/** One thing that a role may do with a table or a sequence; with one column of it when `column` is there. */
export interface Right {
  role: string;
  /** `table` or `sequence`. */
  kind: string;
  name: string;
  /** As Postgres calls it: SELECT, INSERT, UPDATE, DELETE, USAGE. */
  privilege: string;
  column: string | null;
}

/** What a database holds: names of tables with their columns, and of sequences. */
export interface Catalogue {
  tables: ReadonlyMap<string, readonly string[]>;
  sequences: ReadonlySet<string>;
}

/** What is wrong with the rights in a database. */
export interface RightsReport {
  /** Roles that do not exist in the cluster. */
  absentRoles: string[];
  /** Rights that a process needs and has not. */
  missing: Right[];
  /** Rights that nobody needs: a role of ours, or everybody, has them. */
  surplus: Right[];
  /** Tables about which nothing is said here: made by a later release, or by somebody else. */
  unknownTables: string[];
  /** Logins of ours that are more than members of roles: what they own, or may besides. */
  tooStrong: { login: string; why: string }[];
  /** Whether everybody may make temporary tables, which stand before the real ones in what triggers read. */
  temporaryTables: boolean;
}

/** Reads what a role of `WORKING_RIGHTS` says in words: `insert update(a b) delete`. @throws Error on a word it does not know */
export function parseWrites(text: string): { insert: boolean; remove: boolean; update: string[] } {
  const match = /^(insert\b)?\s*(?:update\(([^)]*)\))?\s*(delete)?$/.exec(text.trim().replace(/\s+/g, ' '));
  if (match === null) throw new Error(`rights: ${text}`);
  return { insert: match[1] !== undefined, update: match[2]?.split(' ') ?? [], remove: match[3] !== undefined };
}

/** Every right that a role is to have in a database of these tables; what a database does not have yet, or not any more, is left out. */
function wantedRights({ tables, sequences }: Catalogue): Right[] {
  const rights: Right[] = [];
  const add = (role: DatabaseRole, name: string, privilege: string, column: string | null = null): void => {
    const columns = tables.get(name);
    if (columns !== undefined && (column === null || columns.includes(column))) rights.push({ role: roleName(role), kind: 'table', name, privilege, column });
  };
  for (const role of ['http', 'worker', 'signer', 'indexer', 'console'] as const) {
    const { reads, writes } = WORKING_RIGHTS[role];
    for (const table of reads) add(role, table, 'SELECT');
    for (const [table, words] of Object.entries(writes)) {
      const { insert, update, remove } = parseWrites(words);
      if (insert) add(role, table, 'INSERT');
      if (remove) add(role, table, 'DELETE');
      for (const column of update) add(role, table, 'UPDATE', column);
    }
  }
  for (const role of ['console', 'readonly'] as const)
    for (const [table, columns] of tables) {
      if (!isKnown(table) || (role === 'console' && WORKING_RIGHTS.console.reads.includes(table))) continue;
      const hidden = UNREADABLE[table];
      if (hidden === undefined) add(role, table, 'SELECT');
      else for (const column of columns) if (!hidden.includes(column)) add(role, table, 'SELECT', column);
    }
  for (const [name, roles] of Object.entries(SEQUENCE_RIGHTS))
    if (sequences.has(name))
      for (const role of roles)
        for (const privilege of ['USAGE', 'UPDATE']) rights.push({ role: roleName(role), kind: 'sequence', name, privilege, column: null });
  return rights;
}

const KNOWN = new Set([...Object.values(WORKING_RIGHTS).flatMap(({ reads, writes }) => [...reads, ...Object.keys(writes)]), ...APPEND_ONLY, 'indexer_logins']);

/** Whether this release knows the table; one of a later release keeps whatever rights that one gave. */
function isKnown(table: string): boolean {
  return KNOWN.has(table);
}

/** The tables, columns and sequences of the schema in use. Locks nothing. */
export async function readCatalogue(sql: Reads): Promise<Catalogue> {
  const columns = await sql<{ name: string; columns: string[] }[]>`
    select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') group by c.relname order by c.relname`;
  const sequences = await sql<{ name: string }[]>`
    select relname as name from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'S'`;
  return { tables: new Map(columns.map((one) => [one.name, one.columns])), sequences: new Set(sequences.map((one) => one.name)) };
}

/** What roles of ours, and everybody, were granted. Locks nothing. */
async function readRights(sql: Reads): Promise<Right[]> {
  return sql<Right[]>`
    with granted as (
      select c.relname, c.relkind, null::name as attname, g.* from pg_class c, aclexplode(c.relacl) g
      where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p', 'S')
      union all
      select c.relname, c.relkind, a.attname, g.* from pg_class c join pg_attribute a on a.attrelid = c.oid and not a.attisdropped, aclexplode(a.attacl) g
      where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p'))
    select coalesce(r.rolname, 'public')::text as role, case when g.relkind = 'S' then 'sequence' else 'table' end as kind, g.relname::text as name,
      g.privilege_type as privilege, g.attname::text as column
    from granted g left join pg_roles r on r.oid = g.grantee
    where g.grantee = 0 or r.rolname = any(${[...ROLE_NAMES]})`;
}

/** Compares what is granted in a database with what is wanted. Needs no rights of its own, and locks nothing. */
export async function inspectRights(sql: Reads): Promise<RightsReport> {
  const catalogue = await readCatalogue(sql);
  const [wanted, granted] = [wantedRights(catalogue), await readRights(sql)];
  const [have, want] = [new Set(granted.map(keyOf)), new Set(wanted.map(keyOf))];
  const existing = await sql<{ name: string }[]>`select rolname::text as name from pg_roles where rolname = any(${[...ROLE_NAMES]})`;
  const [database] = await sql<[{ temporary: boolean }]>`
    select exists (
      select 1 from pg_database d, aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) g
      where d.datname = current_database() and g.grantee = 0 and g.privilege_type = 'TEMPORARY') as temporary`;
  return {
    absentRoles: ROLE_NAMES.filter((name) => !existing.some((one) => one.name === name)),
    missing: wanted.filter((right) => !have.has(keyOf(right))),
    surplus: granted.filter((right) => !want.has(keyOf(right)) && (right.kind === 'sequence' || isKnown(right.name))),
    unknownTables: [...catalogue.tables.keys()].filter((name) => !isKnown(name)),
    tooStrong: await listTooStrong(sql),
    temporaryTables: database.temporary,
  };
}

export function isSound(report: RightsReport): boolean {
  return Object.values(report).every((part) => part === false || (Array.isArray(part) && part.length === 0));
}

async function listTooStrong(sql: Reads): Promise<RightsReport['tooStrong']> {
  return sql<{ login: string; why: string }[]>`
    with ours as (
      select distinct l.oid, l.rolname, l.rolsuper, l.rolcreaterole, l.rolcreatedb, l.rolbypassrls, l.rolreplication
      from pg_roles l join pg_auth_members m on m.member = l.oid join pg_roles g on g.oid = m.roleid
      where g.rolname = any(${[...ROLE_NAMES]}) and l.rolcanlogin and coalesce((to_jsonb(m) ->> 'inherit_option')::boolean, true))
    select o.rolname::text as login, w.why from ours o cross join lateral (
      select 'is a superuser' as why where o.rolsuper
      union all select 'may make roles' where o.rolcreaterole
      union all select 'may make databases' where o.rolcreatedb
      union all select 'is not asked by policies' where o.rolbypassrls
      union all select 'may replicate' where o.rolreplication
      union all select 'owns ' || c.relname from pg_class c where c.relowner = o.oid and c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')
      union all select 'is a member of ' || g.rolname from pg_auth_members m join pg_roles g on g.oid = m.roleid
        where m.member = o.oid and coalesce((to_jsonb(m) ->> 'inherit_option')::boolean, true) and g.rolname <> all(${[...ROLE_NAMES]})
      union all select 'was granted ' || g.privilege_type || ' on ' || c.relname from pg_class c, aclexplode(c.relacl) g
        where g.grantee = o.oid and c.relowner <> o.oid and c.relnamespace = current_schema()::regnamespace) w
    order by 1, 2`;
}

/** One process at a time puts the rights of a database right. */
const LOCK = 7_582_003;

/**
 * Makes the roles and these logins, and puts all their rights right: after it `inspectRights` finds nothing. Any number may, for any
 * databases of a cluster, and it may be done again at any time; whoever works meanwhile keeps working.
 * @throws Error when whoever is connected owns not the tables, or may not make roles (CREATEROLE; a superuser is not needed)
 */
export async function applyRoles(db: Pick<Database, 'sql' | 'transaction'>, logins: readonly Login[]): Promise<{ changed: number }> {
  for (const { name } of logins) await refuseTaken(db.sql, name);
  for (const name of [...ROLE_NAMES, ...logins.map((login) => login.name)]) await ensureRole(db.sql, name);
  return db.transaction(async (tx) => {
    const changed = await grantRights(tx, { revoke: true });
    for (const login of logins) await applyLogin(tx, login);
    return { changed };
  });
}

/** @throws Error when the name belongs to whoever owns the tables, or to a role of ours */
async function refuseTaken(sql: Reads, name: string): Promise<void> {
  if (ROLE_NAMES.includes(name)) throw new Error(`${name} is a role that logins are members of: give the login another name`);
  const [owner] = await sql<{ name: string }[]>`select pg_get_userbyid(relowner)::text as name from pg_class where oid = to_regclass('schema_migrations')`;
  if (owner === undefined) throw new Error('the database has no schema yet: sluice db migrate');
  if (owner.name === name) throw new Error(`${name} owns the tables, and may do everything: give the process a login of its own`);
}

/** Makes a role unless it is there. */
async function ensureRole(sql: Reads, name: string): Promise<void> {
  if ((await sql`select 1 from pg_roles where rolname = ${name}`).length > 0) return;
  try {
    await sql.unsafe(`create role ${quoted(name)} nologin`);
  } catch (error) {
    // Another process made it meanwhile.
    if (!['42710', '23505'].includes(String((error as { code?: unknown }).code))) throw error;
  }
}

/**
 * Grants what is missing, and takes away what is too much only when told to: a release beside this one may need it. Does nothing where
 * the roles do not exist. Takes an advisory lock of the database until the end of `sql`'s transaction.
 * Answers how many rights it changed.
 * @throws when the login does not own the tables
 */
export async function grantRights(tx: Reads, { revoke }: { revoke: boolean }): Promise<number> {
  await tx`select pg_advisory_xact_lock(${LOCK})`;
  const report = await inspectRights(tx);
  if (report.absentRoles.length > 0) return 0;
  const [here] = await tx<[{ schema: string; database: string; outside: string[] }]>`
    select current_schema() as schema, current_database() as database,
      array(select n from unnest(${[...ROLE_NAMES]}::text[]) n where not has_schema_privilege(n, current_schema(), 'USAGE')) as outside`;
  if (here.outside.length > 0) await tx.unsafe(`grant usage on schema ${quoted(here.schema)} to ${here.outside.map(quoted).join(', ')}`);
  for (const statement of statementsFor(report.missing, 'grant', 'to')) await tx.unsafe(statement);
  if (!revoke) return report.missing.length;
  for (const statement of statementsFor(report.surplus, 'revoke', 'from')) await tx.unsafe(statement);
  await tx.unsafe(`revoke create on schema ${quoted(here.schema)} from public`);
  await tx.unsafe(`revoke temporary on database ${quoted(here.database)} from public`);
  return report.missing.length + report.surplus.length;
}

/** One statement per role and object. */
function statementsFor(rights: readonly Right[], verb: 'grant' | 'revoke', preposition: 'to' | 'from'): string[] {
  const groups = new Map<string, Right[]>();
  for (const right of rights) {
    const key = JSON.stringify([right.role, right.kind, right.name]);
    groups.set(key, [...(groups.get(key) ?? []), right]);
  }
  return [...groups.values()].map((group) => {
    const { role, kind, name } = group[0] as Right;
    const whole = group.filter(({ column }) => column === null).map(({ privilege }) => privilege);
    const byPrivilege = new Map<string, string[]>();
    for (const { privilege, column } of group) if (column !== null) byPrivilege.set(privilege, [...(byPrivilege.get(privilege) ?? []), quoted(column)]);
    const columns = [...byPrivilege].map(([privilege, names]) => `${privilege} (${names.join(', ')})`);
    const what = [...whole, ...columns].join(', ');
    return `${verb} ${what} on ${kind} ${quoted(name)} ${preposition} ${role === 'public' ? 'public' : quoted(role)}`;
  });
}

/** A login to be made: what it is a member of and, for an indexer, which networks are its own. */
export interface Login {
  name: string;
  roles: readonly DatabaseRole[];
  /** Every network when empty. */
  networks: readonly string[];
  /** Set when given; null takes away the one that is there, which a login keeps otherwise. */
  password?: string | null;
}

const SCRAM_ROUNDS = 4_096;

/** What Postgres stores of a password (RFC 5803): made here, so that no log of statements ever holds the password. */
async function verifierOf(password: string): Promise<string> {
  const salt = randomBytes(16);
  const salted = await promisify(pbkdf2)(password, salt, SCRAM_ROUNDS, 32, 'sha256');
  const keyed = (text: string): Buffer => createHmac('sha256', salted).update(text).digest();
  const stored = createHash('sha256').update(keyed('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${SCRAM_ROUNDS}:${salt.toString('base64')}$${stored}:${keyed('Server Key').toString('base64')}`;
}

/**
 * Makes a login, or brings one in line: exactly these roles, exactly these networks. Takes the locks of the rows it changes in the
 * catalogue, which all databases of the cluster share.
 */
async function applyLogin(tx: Reads, login: Login): Promise<void> {
  const { password: given } = login;
  const password = given === undefined ? '' : ` password ${given === null ? 'null' : `'${await verifierOf(given)}'`}`;
  await tx.unsafe(`alter role ${quoted(login.name)} login${password}`);
  const wanted = login.roles.map(roleName);
  const has = (
    await tx<{ name: string }[]>`
      select g.rolname::text as name from pg_auth_members m join pg_roles g on g.oid = m.roleid join pg_roles l on l.oid = m.member
      where l.rolname = ${login.name} and g.rolname = any(${[...ROLE_NAMES]})`
  ).map(({ name }) => name);
  for (const name of wanted) if (!has.includes(name)) await tx.unsafe(`grant ${quoted(name)} to ${quoted(login.name)}`);
  for (const name of has) if (!wanted.includes(name)) await tx.unsafe(`revoke ${quoted(name)} from ${quoted(login.name)}`);
  const [{ database }] = await tx<[{ database: string }]>`select current_database() as database`;
  await tx.unsafe(`grant connect on database ${quoted(database)} to ${quoted(login.name)}`);
  await tx`delete from indexer_logins where login = ${login.name} and network <> all(${[...login.networks]})`;
  await tx`insert into indexer_logins (login, network) select ${login.name}, unnest(${[...login.networks]}::text[]) on conflict do nothing`;
}

/** Whether whoever is connected may change the schema: owns what is there, or may make the first of it. Locks nothing. */
export async function mayMigrate(sql: Reads): Promise<boolean> {
  const [row] = await sql<[{ may: boolean }]>`
    select has_schema_privilege(current_schema(), 'CREATE') and coalesce(
      (select pg_has_role(relowner, 'USAGE') from pg_class where oid = to_regclass('schema_migrations')), true) as may`;
  return row.may;
}

/** Whether whoever is connected may bring networks, assets and wallets in line with the configuration. Locks nothing. */
export async function maySeed(sql: Reads): Promise<boolean> {
  const [row] = await sql<[{ may: boolean }]>`select has_table_privilege('networks', 'INSERT') as may`;
  return row.may;
}

/**
 * Why whoever is connected cannot do the work of these roles, as a line for people; null when nothing is missing. Locks nothing, and
 * costs a few milliseconds.
 */
export async function rightsProblem(sql: Reads, roles: readonly DatabaseRole[]): Promise<string | null> {
  const names = roles.map(roleName);
  const wanted = wantedRights(await readCatalogue(sql)).filter(({ role }) => names.includes(role));
  const of = <K extends keyof Right>(rights: readonly Right[], key: K): Right[K][] => rights.map((right) => right[key]);
  const [tables, columns, sequences] = [
    wanted.filter(({ kind, column }) => kind === 'table' && column === null),
    wanted.filter(({ column }) => column !== null),
    wanted.filter(({ kind }) => kind === 'sequence'),
  ];
  const lacking = await sql<{ what: string }[]>`
    select lower(w.privilege) || ' on ' || w.name as what from unnest(${of(tables, 'name')}::text[], ${of(tables, 'privilege')}::text[]) as w (name, privilege)
    where not has_table_privilege(quote_ident(w.name), w.privilege)
    union
    select case w.privilege when 'UPDATE' then 'change' else lower(w.privilege) end || ' of ' || w.name || '.' || w.col
    from unnest(${of(columns, 'name')}::text[], ${of(columns, 'column') as string[]}::text[], ${of(columns, 'privilege')}::text[]) as w (name, col, privilege)
    where not has_column_privilege(quote_ident(w.name), w.col, w.privilege)
    union
    select lower(w.privilege) || ' of ' || w.name from unnest(${of(sequences, 'name')}::text[], ${of(sequences, 'privilege')}::text[]) as w (name, privilege)
    where not has_sequence_privilege(quote_ident(w.name), w.privilege)
    order by 1`;
  if (lacking.length === 0) return null;
  const [{ login }] = await sql<[{ login: string }]>`select current_user::text as login`;
  const more = lacking.length > 3 ? ` and ${lacking.length - 3} more` : '';
  const shown = lacking.slice(0, 3).map(({ what }) => what);
  return `the database login ${login} lacks rights (${shown.join(', ')}${more}): run sluice db roles apply`;
}

const AGAIN_MS = 1_000;

/** Waits until whoever is connected may do the work of these roles, and says what is missing meanwhile: somebody has to grant it. */
export async function untilAllowed(
  sql: Reads,
  roles: readonly DatabaseRole[],
  { log, signal, waiting }: { log: Logger; signal: AbortSignal; waiting(problem: string): void },
): Promise<void> {
  for (let told: string | null = null; ; ) {
    const problem = await rightsProblem(sql, roles);
    if (problem === null) return;
    if (problem !== told) log.error({ roles }, problem);
    told = problem;
    waiting(problem);
    await pause(AGAIN_MS, undefined, { signal });
  }
}

function keyOf({ role, kind, name, privilege, column }: Right): string {
  return JSON.stringify([role, kind, name, privilege, column]);
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
