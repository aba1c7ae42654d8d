import { randomUUID } from 'node:crypto';
import { CHECKS } from '#api/audit/checks.ts';
import { runAudit } from '#api/audit/run-audit.ts';
import { type Changed, readChanged, readHorizon } from '#api/store/audit-marks.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { connect, type Database, type Tx } from '#shared/platform/postgres.ts';
import { type Bench, type Figures, type Found, ratio, rounded, type Size } from './bench.ts';
import { writeHistory } from './history.ts';
import { BOUNDS, QUESTIONS } from './questions.ts';
import { MOST_ASKERS } from '#shared/platform/together.ts';
import { setLogging, type Stage } from './stage.ts';
import { readStatements, type Statement } from './statements.ts';
import type { Subject } from './subject.ts';

/** Payments of each history, ascending. `SLUICE_BENCH_PAYMENTS=10000,200000,2000000` for others: the last takes half an hour. */
const SIZES: Record<Size, number[]> = { tiny: [1_500, 3_000], full: [10_000, 50_000, 200_000] };
/** What a statement may read more of a longer history: a page more of each index it goes down, and what a page is filled to. */
const PAGES_MORE = 48;
const TIMES_MORE = 1.5;
/** What is asked about many at once, each of which is a page further down. */
const OF_MANY = / of one moment( |$)/;

/** What one statement read. */
interface Read {
  rows: number;
  buffers: number;
  ms: number;
}

/** What looks at everything by rights, once a night, begins so. */
const NIGHTLY = 'night: audit';
/** Which statements read more the longer a deployment has been at work; none should. */
export const growth: Bench = {
  what: 'rows and pages that every statement reads in a short and in a long history: none may grow with it',
  async run(stage, size) {
    const found: Found = { figures: {}, ratios: {}, goals: [], proofs: {} };
    const sizes = process.env.SLUICE_BENCH_PAYMENTS?.split(',').map(Number) ?? SIZES[size];
    const reads = new Map<number, Map<string, Read>>();
    for (const payments of sizes) {
      const { url } = await stage.database();
      const database = connect(url, { name: 'sluice-bench-growth', max: 1, deadlines: 'none' });
      try {
        stage.say(`${payments} payments are written`);
        await database.transaction((tx) => writeHistory(tx, payments));
        await database.sql.unsafe('vacuum (analyze, parallel 0)');
        const violated = (await runAudit(database.sql)).filter(({ rows }) => rows.length > 0);
        for (const { check, rows } of violated) stage.say(`${check}: ${JSON.stringify(rows.slice(0, 2))}`);
        found.proofs[`${payments}: audit is clean`] = violated.length === 0;
        reads.set(payments, await readAll(stage, await subjectOf(database, url)));
      } finally {
        await database.end();
      }
    }
    // The last two: windows that were not full in a history before them are full in both, and tables that were read whole, being short, are long.
    const [few = 0, many = 0] = sizes.slice(-2);
    const growing: string[] = [];
    const beyond: string[] = [];
    for (const [name, most] of reads.get(many) ?? []) {
      const least = reads.get(few)?.get(name);
      const bound = BOUNDS[name.replace(/ \(\d+\)$/, '')];
      if (bound !== undefined && (most.rows > bound.rows || most.buffers > bound.pages)) beyond.push(name);
      // A question that asks more often of a longer history grows as well.
      const pagesMore = PAGES_MORE + (OF_MANY.test(name) ? MOST_ASKERS : 0);
      const more = least === undefined || most.buffers > TIMES_MORE * least.buffers + pagesMore;
      const grows = bound === undefined && !name.startsWith(NIGHTLY) && more;
      if (grows) growing.push(name);
      found.figures[name] = figuresOf(
        sizes.map((payments) => [payments, reads.get(payments)?.get(name)]),
        { grows, times: ratio(most.buffers, (least ?? most).buffers) },
      );
    }
    found.goals.push({ goal: 'statements that grow with history: none', measured: growing.length, met: growing.length === 0, limit: growing.join(', ') });
    found.goals.push({ goal: 'statements beyond the bound they have: none', measured: beyond.length, met: beyond.length === 0, limit: beyond.join(', ') });
    stage.say(tableOf(found.figures));
    return found;
  },
};

function figuresOf(bySize: [number, Read | undefined][], rest: Figures): Figures {
  const all = bySize.flatMap(([payments, read]) =>
    read === undefined ? [] : Object.entries(read).map(([what, value]) => [`${what} of ${payments}`, rounded(value)]),
  );
  return { ...Object.fromEntries(all), ...rest };
}

/** What reads most comes first. */
function tableOf(figures: Record<string, Figures>): string {
  const rows = Object.entries(figures).map(([name, read]) => [name, ...Object.values(read).map(String)]);
  const [names = []] = Object.values(figures).map((read) => Object.keys(read));
  return [['statement', ...names], ['', ...names].map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

async function subjectOf(database: Database, url: string): Promise<Subject> {
  const { sql } = database;
  const networks = Object.fromEntries((await sql<{ name: string; id: string }[]>`select name, id from networks`).map(({ name, id }) => [name, id]));
  const [row] = await sql<[Omit<Subject, 'database' | 'url' | 'networks' | 'kept'>]>`
    select p.gateway_id, d.payment_id, d.id as credit_id, d.txid, x.address, d.asset_id as usdt, d.height,
      (select id from settlements order by created_at desc limit 1) as settlement_id
    from deposits d join payments p on p.id = d.payment_id join deposit_addresses x on x.id = d.address_id
    where d.network_id = ${networks.ethereum as string} and d.state = 'credited' and d.kind = 'token' and p.gateway_id = (select id from gateways where name = 'shop 1')
    order by d.height desc limit 1`;
  const kept = await sql<Subject['kept'][number][]>`
    select distinct on (part) gateway_id, operation, key, resource_id as payment_id
    from (select *, ntile(${MOST_ASKERS}) over (order by created_at) as part from idempotency_keys) k order by part, created_at`;
  return { database, url, networks: networks as Subject['networks'], ...row, kept };
}

/** What each statement reads, by its name; those of a question that asks more than once are numbered. */
async function readAll(stage: Stage, subject: Subject): Promise<Map<string, Read>> {
  const reads = new Map<string, Read>();
  const changed = await aMinuteOfChanges(subject.database);
  for (const { name, query, ofChanged } of CHECKS) {
    const whole = { text: typeof query === 'string' ? query : query({ staticAllowed: true }), values: [] };
    reads.set(`audit ${name}`, await explainOne(subject.database, ofChanged === undefined ? whole : { text: ofChanged(changed), values: [] }));
    if (ofChanged !== undefined) reads.set(`${NIGHTLY} ${name}`, await explainOne(subject.database, whole));
  }
  for (const [name, ask] of Object.entries(QUESTIONS)) {
    const read = await explain(subject.database, await record(stage, subject, ask));
    for (const [at, one] of read.entries()) reads.set(read.length === 1 ? name : `${name} (${at + 1})`, one);
  }
  return reads;
}

/** What the audit of a minute looks at in which a hundred payments, some cashouts and their payouts were written; the same in every history. */
async function aMinuteOfChanges({ sql, transaction }: Database): Promise<Changed> {
  const { since } = await readHorizon(sql);
  const latest = `select id from payments where status <> 'PENDING' order by created_at desc limit 100`;
  for (const statement of [
    `update payments set language = language where id in (${latest})`,
    `update deposits set path = path where payment_id in (${latest})`,
    `update credits set pool = pool where payment_id in (${latest})`,
    'update settlements set wait_reason = wait_reason where id in (select id from settlements order by created_at desc limit 4)',
    'update payouts set failure = failure where id in (select id from payouts order by created_at desc limit 50)',
    ...[false, true].map((canonical) => `update sightings set canonical = ${canonical} where id in (select id from sightings order by id desc limit 50)`),
    ...[1, -1].map((by) => `update ledger_accounts set balance = balance + ${by} where kind in ('available', 'chain', 'networkFee')`),
  ])
    await sql.unsafe(statement);
  const changed = await transaction((tx) => readChanged(tx, since));
  if (changed === undefined) throw new Error('a minute of changes is more than the audit names');
  return changed;
}

/** The statements that a question asks, with what was bound: by Postgres' own log, so that none of them is written twice. */
async function record(stage: Stage, subject: Subject, ask: (subject: Subject) => Promise<unknown>): Promise<Statement[]> {
  const database = connect(subject.url, { name: 'sluice-bench-recorded', max: 1, deadlines: 'none' });
  try {
    await setLogging(subject.url, true);
    const from = stage.postgresLog.length;
    const end = randomUUID();
    await ask({ ...subject, database });
    await database.sql.unsafe(`select '${end}'`);
    await waitFor(async () => stage.postgresLog.slice(from).some((line) => line.includes(end)), { what: 'the log of Postgres', everyMs: 20 });
    return readStatements(stage.postgresLog.slice(from)).filter(({ text }) => /^[\s(]*(select|with|insert|update|delete)\b/i.test(text) && !text.includes(end));
  } finally {
    await setLogging(subject.url, false);
    await database.end();
  }
}

interface Plan {
  'Plan Rows': number;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: Plan[];
}

/** What a statement that writes says. */
const WRITES = /\b(insert into|update|delete from)\b/i;

async function explainOne(database: Database, statement: Statement): Promise<Read> {
  const [read] = await explain(database, [statement]);
  return read as Read;
}

/**
 * Runs the statements of a question once more, one after the other, and takes back what they did. Of each it returns the rows that its scans came upon,
 * those filtered out with them, and the pages it read; what triggers read for one that writes counts as well.
 */
async function explain(database: Database, statements: readonly Statement[]): Promise<Read[]> {
  const reads: Read[] = [];
  const undone = new Error('taken back');
  try {
    await database.transaction(async (tx) => {
      reads.length = 0;
      // Workers of a parallel plan read what a plan without them does; on what machine this runs is not to matter.
      await tx.unsafe("set local max_parallel_workers_per_gather = 0; set local jit = off; set local plan_cache_mode = 'force_custom_plan'");
      for (const statement of statements) {
        await tx.unsafe(`prepare growth as ${statement.text}`);
        reads.push(await (WRITES.test(statement.text) ? readOfWriting(tx, executed(statement)) : readOf(tx, executed(statement))));
        await tx.unsafe('deallocate growth');
      }
      throw undone;
    });
  } catch (error) {
    if (error !== undone) throw error;
  }
  return reads;
}

function executed({ values }: Statement): string {
  const literals = values.map((value) => (value === null ? 'null' : `'${value.replaceAll("'", "''")}'`));
  return `execute growth${literals.length === 0 ? '' : ` (${literals.join(', ')})`}`;
}

async function readOf(tx: Tx, statement: string): Promise<Read> {
  const [row] = await tx.unsafe<[Record<string, [{ Plan: Plan; 'Execution Time': number }]>]>(`explain (analyze, buffers, format json) ${statement}`);
  const [top] = Object.values(row)[0] as [{ Plan: Plan; 'Execution Time': number }];
  return { rows: scanned(top.Plan), buffers: top.Plan['Shared Hit Blocks'] + top.Plan['Shared Read Blocks'], ms: top['Execution Time'] };
}

/** A plan says nothing of what triggers read, but what calls a function has read what the function did. */
async function readOfWriting(tx: Tx, statement: string): Promise<Read> {
  await tx.unsafe('savepoint before');
  const { rows, ms } = await readOf(tx, statement);
  await tx.unsafe('rollback to savepoint before');
  const quoted = `'${statement.replaceAll("'", "''")}'`;
  await tx.unsafe(`create or replace function pg_temp.growth() returns void language plpgsql as $growth$ begin execute ${quoted}; end $growth$`);
  const { buffers } = await readOf(tx, 'select pg_temp.growth()');
  return { rows, buffers, ms };
}

function scanned(plan: Plan): number {
  const below = plan.Plans ?? [];
  const own = below.length === 0 ? (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops'] : 0;
  return below.reduce((sum, one) => sum + scanned(one), own);
}
