import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { diagrams } from '#ops/diagrams.ts';
import { aml } from '#state-machines/aml/machine.ts';
import { payment } from '#state-machines/payment/machine.ts';
import { payout } from '#state-machines/payout/machine.ts';
import { settlement } from '#state-machines/settlement/machine.ts';

const FOLDERS = ['shared', 'state-machines', 'indexer', 'api', 'ops', 'test'] as const;

const read = (path: string): string => readFileSync(path, 'utf8');
const sources = (folder: string): { path: string; text: string }[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => ({ path: `${folder}/${name}`, text: read(`${folder}/${name}`) }));
/** Files outside test/ whose imports from xstate name `word`. */
const importersOf = (word: string): string[] =>
  FOLDERS.filter((folder) => folder !== 'test')
    .flatMap(sources)
    .filter(({ text }) =>
      [...text.matchAll(/import\s+(?!type)\{([^}]*)\}\s+from 'xstate'/g)].some((match) => (match[1] ?? '').split(',').some((name) => name.trim() === word)),
    )
    .map(({ path }) => path);
const schema = (): string =>
  readdirSync('shared/schema')
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => read(`shared/schema/${name}`))
    .join('\n');

describe('imports', () => {
  it('go one way between the rooms of the api: no two of its folders import each other, nor in a ring', () => {
    // The rules that worker and signer share stand below both.
    const roomOf = (path: string): string | undefined => /^api\/(payouts\/rules|[^/]+)\//.exec(path)?.[1];
    const goes = new Map<string, Set<string>>();
    for (const { path, text } of sources('api')) {
      const from = roomOf(path);
      for (const [, spec = ''] of text.matchAll(/from '(#api\/[^']+|\.\.?\/[^']+)'/g)) {
        const to = roomOf(spec.startsWith('#') ? spec.slice(1) : join(dirname(path), spec));
        if (from !== undefined && to !== undefined && to !== from) goes.set(from, (goes.get(from) ?? new Set()).add(to));
      }
    }
    const reaches = (from: string, seen = new Set<string>()): Set<string> => {
      for (const to of goes.get(from) ?? []) if (!seen.has(to)) reaches(to, seen.add(to));
      return seen;
    };
    expect(goes.size).toBeGreaterThan(15);
    expect([...goes.keys()].filter((room) => reaches(room).has(room)).sort()).toEqual([]);
  });

  it('of the signer’s name, of all that plans, only the rules, and the judgements that decision 0044 lists with a reason each', () => {
    const decision = readFileSync('ops/decisions/0044-what-signer-and-planner-share.md', 'utf8');
    const listed = [...decision.matchAll(/^\| `(api\/[^`]+)` \|/gm)].map(([, path]) => path as string);
    const planners = /^api\/(payouts|treasury|settlements|aml|payments|billing|gateways|operator|jobs|consumers|intents)\//;
    const shared = sources('api/signer')
      .flatMap(({ path, text }) =>
        [...text.matchAll(/from '(#api\/[^']+|\.\.?\/[^']+)'/g)].map(([, spec = '']) => (spec.startsWith('#') ? spec.slice(1) : join(dirname(path), spec))),
      )
      .filter((path) => planners.test(path) && !path.startsWith('api/payouts/rules/'));
    expect([...new Set(shared)].sort()).toEqual(listed.sort());
  });

  it('put a README in every top folder', () => {
    for (const folder of ['.', ...FOLDERS]) {
      const lines = read(`${folder}/README.md`).split('\n').length;
      if (folder !== '.') expect(lines, `${folder}/README.md is at most a screen`).toBeLessThan(60);
    }
  });
});

describe('machines', () => {
  it('are stepped in one place only', () => {
    for (const word of ['transition', 'initialTransition', 'getNextSnapshot', 'getInitialSnapshot']) {
      expect(importersOf(word)).toEqual(word === 'transition' ? ['state-machines/step.ts'] : []);
    }
  });

  it('become running actors in the indexer only', () => {
    expect(importersOf('createActor').filter((path) => !path.startsWith('indexer/'))).toEqual([]);
  });

  it('keep record machines free of time and of running children', () => {
    for (const { path, text } of ['payment', 'aml', 'settlement', 'payout'].map((name) => ({ path: name, text: read(`state-machines/${name}/machine.ts`) })))
      expect(text.match(/\b(invoke|after)\s*:/g), path).toBeNull();
  });

  it.each([
    ['payments', payment],
    ['settlements', settlement],
    ['payouts', payout],
  ])('have exactly the statuses the database accepts in %s', (table, record) => {
    const body = new RegExp(`create table ${table} \\((.*?)\\n\\);`, 's').exec(schema())?.[1] ?? '';
    const first = /\bstatus text not null check \(status in \(([^)]*)\)\)/.exec(body)?.[1] ?? '';
    // A later migration replaces the whole list.
    const later = [...schema().matchAll(new RegExp(`alter table ${table} add constraint ${table}_status_check\\s+check \\(status in \\(([^)]*)\\)\\)`, 'g'))];
    const list = later.at(-1)?.[1] ?? first;
    const accepted = [...list.matchAll(/'([A-Z_]+)'/g)].map((match) => match[1]);
    expect(Object.keys(record.machine.states).sort()).toEqual([...accepted].sort());
    expect([...record.statuses].sort()).toEqual([...accepted].sort());
  });

  it('have exactly the states the database accepts as what screening made of a payment', () => {
    const list = /\baml_state text check \(aml_state in \(([^)]*)\)\)/.exec(schema())?.[1] ?? '';
    const accepted = [...list.matchAll(/'([A-Z_]+)'/g)].map((match) => match[1]);
    expect(aml.statuses.filter((state) => state !== 'NONE').sort()).toEqual([...accepted].sort());
    expect(Object.keys(aml.machine.states).sort()).toEqual([...aml.statuses].sort());
  });

  it('have diagrams that are what the machines say now', () => {
    for (const { path, content } of diagrams()) expect(read(path), `${path} is stale: npm run diagrams`).toBe(content);
  });
});

describe('the schema', () => {
  it('says what every table and every column is for', () => {
    const text = schema();
    const missing: string[] = [];
    for (const [, table, body] of text.matchAll(/create table (\w+) \((.*?)\n\);/gs)) {
      if (!text.includes(`comment on table ${table} is`)) missing.push(`${table}`);
      for (const line of (body ?? '').split('\n')) {
        const column = /^ {2}([a-z_]+) [a-z]/.exec(line)?.[1];
        if (column === undefined || ['check', 'primary', 'unique', 'foreign', 'constraint', 'exclude'].includes(column)) continue;
        if (!text.includes(`comment on column ${table}.${column} is`)) missing.push(`${table}.${column}`);
      }
    }
    for (const [, table, changes] of text.matchAll(/alter table (\w+)\s+(add column [^;]*);/g))
      for (const [, column] of (changes ?? '').matchAll(/\badd column (\w+)/g))
        if (!text.includes(`comment on column ${table}.${column} is`)) missing.push(`${table}.${column}`);
    expect(missing).toEqual([]);
  });

  it('numbers its files without gaps', () => {
    const numbers = readdirSync('shared/schema')
      .filter((name) => name.endsWith('.sql'))
      .map((name) => Number(name.slice(0, 4)))
      .sort((a, b) => a - b);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  });
});

describe('what is committed beside its source', () => {
  it('documents every setting in .env.example', () => {
    const config = read('shared/platform/config.ts');
    const names = new Set([...config.matchAll(/^ {2}((?:SLUICE_[A-Z_]+|DATABASE_URL|REDIS_URL|NODE_ENV)):/gm)].map((match) => match[1] as string));
    expect(names.size).toBeGreaterThan(15);
    const example = read('.env.example');
    expect([...names].filter((name) => !new RegExp(`^#? ?${name}=`, 'm').test(example))).toEqual([]);
  });

  it('pins every dependency to one version', () => {
    const manifest = JSON.parse(read('package.json')) as Record<string, Record<string, string>>;
    const loose = ['dependencies', 'devDependencies', 'optionalDependencies'].flatMap((group) =>
      Object.entries(manifest[group] ?? {}).filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)),
    );
    expect(loose).toEqual([]);
  });
});
