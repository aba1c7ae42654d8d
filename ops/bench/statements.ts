import { randomInt, randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { plainEnvironment, run } from '#ops/dev/services/child.ts';
import { onPath } from '#ops/dev/services/on-path.ts';
import { connect, type Sql } from '#shared/platform/postgres.ts';

/** A statement as a request had it run: its text with $1…, and what was bound. */
export interface Statement {
  text: string;
  /** Null for a null; everything else in Postgres' own words. */
  values: (string | null)[];
}

const ENTRY = /^\d{4}-\d\d-\d\d \S+ \S+ \[(\d+)\] (\w+): {2}(.*)$/;
const RUN = /^(?:duration: [\d.]+ ms {2})?(?:execute [^:]*|statement): (.*)$/s;

/**
 * What Postgres logged of the statements of one request (`log_min_duration_statement = 0`), in order; those about the
 * connection itself are left out, and what notes requests about once a second, which are those of many.
 */
export function readStatements(log: readonly string[]): Statement[] {
  const found: (Statement & { pid: string })[] = [];
  let current: (Statement & { pid: string }) | undefined;
  for (const { pid, severity, message } of entriesOf(log)) {
    if (severity === 'DETAIL') {
      // What was bound is told with the binding as well, which is none of ours.
      if (current !== undefined) current.values = readValues(message);
      continue;
    }
    const text = severity === 'LOG' ? RUN.exec(message)?.[1] : undefined;
    current = text === undefined || /pg_catalog\.pg_type/.test(text) ? undefined : { pid, text, values: [] };
    if (current !== undefined) found.push(current);
  }
  return withoutNotes(found).map(({ text, values }) => ({ text, values }));
}

const NOTES_REQUESTS = /\binsert into requests \(/;

/** Leaves out the transactions that note requests, each of one connection from its beginning to its end. */
function withoutNotes<S extends Statement & { pid: string }>(found: readonly S[]): S[] {
  const left = new Set<S>();
  for (const pid of new Set(found.map((one) => one.pid))) {
    let transaction: S[] = [];
    for (const one of found.filter((statement) => statement.pid === pid)) {
      if (/^\s*begin\b/i.test(one.text)) transaction = [];
      transaction.push(one);
      if (!/^\s*(commit|rollback)\b/i.test(one.text)) continue;
      if (transaction.some(({ text }) => NOTES_REQUESTS.test(text))) for (const statement of transaction) left.add(statement);
      transaction = [];
    }
  }
  return found.filter((one) => !left.has(one));
}

function entriesOf(log: readonly string[]): { pid: string; severity: string; message: string }[] {
  const entries: { pid: string; severity: string; message: string }[] = [];
  for (const line of log) {
    const [, pid, severity, message] = ENTRY.exec(line) ?? [];
    if (pid !== undefined && severity !== undefined && message !== undefined) entries.push({ pid, severity, message });
    else if (entries.length > 0) (entries.at(-1) as { message: string }).message += `\n${line.replace(/^\t/, '')}`;
  }
  return entries;
}

/** `$1 = 'a''b', $2 = NULL` */
function readValues(text: string): (string | null)[] {
  return [...text.matchAll(/\$\d+ = (?:NULL|'((?:[^']|'')*)')/g)].map((match) => match[1]?.replaceAll("''", "'") ?? null);
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
/** The ids in a document; each begins a piece. */
const IDS = /([0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})/;
/** How the benches begin an Idempotency-Key, so that it is not taken for an id. */
const KEY = /^order-/;
const BYTES = /^\\x[0-9a-f]+$/;

/** In an order of their own: reads that go out at the same time are logged in any. */
function inOrder(statements: readonly Statement[]): Statement[] {
  return statements.toSorted((a, b) => a.text.localeCompare(b.text));
}

/** Whether two requests of a kind ran the same statements, whatever their values. */
export function ranTheSame(first: readonly Statement[], second: readonly Statement[]): boolean {
  const others = inOrder(second);
  return first.length === others.length && inOrder(first).every(({ text }, i) => text === others[i]?.text);
}

/**
 * Ids and keys that are new with each request: those that the second of two requests of a kind does not have. What stands
 * for them is another random value each time, the same one wherever it stands.
 */
export function freshValues(first: readonly Statement[], second: readonly Statement[]): string[] {
  const [one, other] = [inOrder(first), inOrder(second)];
  const piecesOf = (statements: Statement[]) => statements.flatMap(({ values }) => values.flatMap((value) => [value, ...(value?.split(IDS) ?? [])]));
  const seen = new Set(piecesOf(other));
  const isFresh = (value: string | null): value is string => value !== null && !seen.has(value) && (UUID.test(value) || BYTES.test(value) || KEY.test(value));
  return [...new Set(piecesOf(one).filter(isFresh))];
}

/** What one request has Postgres do. */
export interface Requested {
  statements: readonly Statement[];
  /** Values that are new with each request. */
  fresh: readonly string[];
  /** The body it was answered with. */
  answer: string;
}

export interface Replayed {
  perSecond: number;
  by: 'pgbench' | 'driver';
}

/** After which nothing done is a fault, and not a busy machine. */
const LONGEST_SECONDS = 60;

/** Runs the statements as fast as Postgres takes them, prepared: by pgbench, or through the service's own driver where there is no pgbench. */
export async function replay(url: string, requested: Requested, options: { clients: number; seconds: number; directory: string }): Promise<Replayed> {
  const pgbench = await onPath(['pgbench']);
  if (pgbench === undefined) return replayByDriver(url, requested, options);
  const file = join(options.directory, `pgbench-${randomUUID()}.sql`);
  await writeFile(file, scriptOf(requested));
  const { clients, seconds, directory } = options;
  const args = ['-n', '-M', 'prepared', '-c', String(clients), '-j', '2', '-T', String(seconds), '-f', file, url];
  const output = await run({ name: 'pgbench', command: pgbench, args, cwd: directory, env: plainEnvironment() });
  const tps = Number(/tps = ([\d.]+) \(without/.exec(output)?.[1]);
  // Where so much else runs that not one was done in that time, more time is what it takes.
  if (/actually processed: 0$/m.test(output) && !/aborted/.test(output) && seconds < LONGEST_SECONDS)
    return replay(url, requested, { ...options, seconds: 4 * seconds });
  if (!(tps > 0) || /aborted/.test(output)) throw new Error(`pgbench: ${output}`);
  return { perSecond: tps, by: 'pgbench' };
}

/** A pgbench script: one random number per fresh value, everything else as it was. */
function scriptOf({ statements, fresh }: Requested): string {
  const sets = fresh.map((_, i) => `\\set fresh${i} random(1, 9223372036854775807)`);
  return `${[...sets, ...statements.map((one) => `${inlined(one, fresh, (at) => `:fresh${at}`)};`)].join('\n')}\n`;
}

/** One line of SQL with every value in it; `placeholder` writes the random number that a fresh value is made of. */
export function inlined({ text, values }: Statement, fresh: readonly string[], placeholder: (at: number) => string): string {
  return text
    .split('\n')
    .map((line) => line.trim())
    .join(' ')
    .replace(/\$(\d+)/g, (_, place: string) => {
      const value = values[Number(place) - 1] ?? null;
      if (value === null) return 'null';
      const at = fresh.indexOf(value);
      const pieces = value.split(IDS);
      const digestOf = (position: number): string => `md5((${placeholder(position)})::bigint::text)`;
      if (at < 0 && !pieces.some((piece) => fresh.includes(piece))) return literal(value);
      if (at < 0) {
        const written = pieces.map((piece) => (fresh.includes(piece) ? `${digestOf(fresh.indexOf(piece))}::uuid::text` : literal(piece)));
        return `(${written.join(' || ')})`;
      }
      const digest = digestOf(at);
      if (UUID.test(value)) return `${digest}::uuid`;
      return KEY.test(value) ? `'order-' || ${digest}` : `decode(${digest} || ${digest}, 'hex')`;
    });
}

/** Without a colon in it: pgbench would take what follows for one of its variables. */
function literal(value: string): string {
  return `E'${value.replaceAll('\\', '\\\\').replaceAll("'", "''").replaceAll(':', '\\x3a')}'`;
}

/** What runs the statements of one request on a connection, one after the other and prepared, with new values each time. */
export function runnerOf({ statements, fresh }: Requested): (sql: Sql) => Promise<void> {
  const prepared = statements.map((one) => {
    const used: number[] = [];
    const text = inlined(one, fresh, (at) => {
      if (!used.includes(at)) used.push(at);
      return `$${used.indexOf(at) + 1}`;
    });
    return { text, used };
  });
  return async (sql) => {
    const numbers = fresh.map(() => randomInt(2 ** 47));
    for (const { text, used } of prepared)
      await sql.unsafe(
        text,
        used.map((at) => numbers[at] as number),
        { prepare: true },
      );
  };
}

/** The same statements through the driver of the service, on as many connections, with nothing around them. */
export async function replayByDriver(url: string, requested: Requested, { clients, seconds }: { clients: number; seconds: number }): Promise<Replayed> {
  const runOne = runnerOf(requested);
  const connections = Array.from({ length: clients }, () => connect(url, { name: 'sluice-bench-replay', max: 1 }));
  let done = 0;
  const started = performance.now();
  const until = started + seconds * 1_000;
  try {
    await Promise.all(
      connections.map(async ({ sql }) => {
        while (performance.now() < until) {
          await runOne(sql);
          done += 1;
        }
      }),
    );
  } finally {
    await Promise.all(connections.map((one) => one.end()));
  }
  return { perSecond: done / ((performance.now() - started) / 1_000), by: 'driver' };
}
