import { describe, expect, it } from 'vitest';
import { compareSchema, describeMigration, readMigrations } from '#shared/platform/migration-files.ts';

/** What was released before there were rules. */
const BEFORE_RULES = 26;

/** What a build that knows nothing of a migration could stumble over, and what it does to those who write meanwhile (decision 0029). */
const HARMFUL: readonly [RegExp, string][] = [
  [/\bdrop\s+(table|column|view|function|type|domain)\b/, 'takes away what older builds use'],
  [/\brename\b/, 'renames what older builds use'],
  [/\balter\s+column\s+\w+\s+(set\s+data\s+)?type\b/, 'changes a type, and rewrites the table'],
  [/\balter\s+column\s+\w+\s+set\s+not\s+null\b/, 'refuses rows that older builds write'],
  [
    /\badd\s+column\s+(if\s+not\s+exists\s+)?\w+\s+[^,;]*\bnot\s+null\b(?![^,;]*\bdefault\b)(?<!\bdefault\b[^,;]*)/,
    'adds a column that older builds do not fill',
  ],
  [/\badd\s+(constraint|check|foreign\s+key|unique)\b/, 'refuses rows that older builds write'],
  [/\bcreate\s+unique\s+index\b/, 'refuses rows that older builds write'],
  [/\bcreate\s+index\s+(?!concurrently)/, 'keeps others from writing while it is built'],
];

/** Names of the tables a migration makes itself: nobody uses them yet. */
function ownTables(sql: string): string[] {
  return [...sql.matchAll(/\bcreate\s+table\s+(?:if\s+not\s+exists\s+)?(\w+)/g)].map(([, name]) => name as string);
}

/** What is wrong with a migration that claims to be harmless. */
function complaints(text: string): string[] {
  const { needsBuild } = describeMigration('0000_x.sql', text);
  if (needsBuild !== null || /^-- older builds: .{20,}/m.test(text)) return [];
  const sql = text
    .replace(/--[^\n]*/g, '')
    .replace(/'(?:[^']|'')*'/g, "''")
    .replace(/\$(\w*)\$.*?\$\1\$/gs, "''")
    .toLowerCase();
  const own = ownTables(sql);
  const touchesOwn = (statement: string): boolean => own.includes(/\b(?:alter\s+table|on)\s+(?:if\s+exists\s+)?(?:only\s+)?(\w+)/.exec(statement)?.[1] ?? '');
  return sql
    .split(';')
    .filter((statement) => !/^\s*create\s+table\b/.test(statement) && !touchesOwn(statement))
    .flatMap((statement) => HARMFUL.filter(([pattern]) => pattern.test(statement)).map(([, why]) => `${statement.trim().slice(0, 60)}: ${why}`));
}

describe('migrations', () => {
  it('only add, or name the build they need, or say why older builds are not hurt', async () => {
    const files = await readMigrations('shared/schema');
    expect(
      files.filter(({ name }) => Number(name.slice(0, 4)) > BEFORE_RULES).flatMap(({ name, text }) => complaints(text).map((one) => `${name}: ${one}`)),
    ).toEqual([]);
  });

  it('have numbers of their own, without a gap', async () => {
    const numbers = (await readMigrations('shared/schema')).map(({ name }) => Number(name.slice(0, 4)));
    expect(numbers).toEqual(numbers.map((_, at) => at + 1));
  });

  it.each([
    ['alter table payments drop column note;', 'takes away'],
    ['alter table payments rename column note to remark;', 'renames'],
    ['alter table payments alter column note type int;', 'changes a type'],
    ['alter table payments alter column note set not null;', 'refuses rows'],
    ['alter table payments add column note text not null;', 'do not fill'],
    ['alter table payments add constraint noted check (note is not null);', 'refuses rows'],
    ['create unique index noted on payments (note);', 'refuses rows'],
    ['create index noted on payments (note);', 'keeps others from writing'],
  ])('are told apart: %s', (text, why) => {
    expect(complaints(text)).toEqual([expect.stringContaining(why)]);
    expect(complaints(`-- needs-build: 0031\n${text}`)).toEqual([]);
    expect(complaints(`-- older builds: never write this table, as nobody does\n${text}`)).toEqual([]);
  });

  it.each([
    'alter table payments add column note text;',
    'alter table payments add column note text not null default 0;',
    'alter table payments add column noted boolean default false not null;',
    'create table notes (id int not null, unique (id)); create index notes_id on notes (id); alter table notes add constraint n check (id > 0);',
    '-- no-transaction\ncreate index concurrently if not exists noted on payments (note);',
    "comment on column payments.note is 'drop column, rename'; -- drop column",
  ])('are harmless when they only add: %s', (text) => {
    expect(complaints(text)).toEqual([]);
  });
});

describe('a schema', () => {
  const file = (name: string, text = 'select 1;') => describeMigration(name, text);
  const ran = (name: string, text?: string) => {
    const { checksum, needsBuild } = file(name, text);
    return { name, checksum, needsBuild };
  };

  it('counts as complete once every migration of this build ran, whatever newer builds added', () => {
    expect(compareSchema([file('0001_a.sql'), file('0002_b.sql')], [ran('0001_a.sql'), ran('0003_c.sql')])).toBe(1);
    expect(compareSchema([file('0001_a.sql')], [ran('0001_a.sql'), ran('0003_c.sql', '-- needs-build: 0001\n')])).toBe(1);
  });

  it('is refused by a build older than it needs', () => {
    expect(() => compareSchema([file('0001_a.sql')], [ran('0003_c.sql', '-- needs-build: 0002\n')])).toThrow('newer than this build: it has 0003_c.sql');
  });
});
