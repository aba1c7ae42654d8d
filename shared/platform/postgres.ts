import type postgres from 'postgres';
import { type Client, type Connection, connectionError } from './postgres-connection.ts';
import { openPool, type Pool, type PoolState } from './postgres-pool.ts';

/** Either of the two below; for reads that may run inside or outside a transaction. */
export type Reads = postgres.ISql<{ bigint: number }>;
/** Pooled connections, for single statements; tagged templates only, so that a value is never spliced into SQL. */
export type Sql = Reads & {
  /** One connection for several statements that are no transaction, until `release`. */
  reserve(): Promise<Reserved>;
};
export type Reserved = Reads & { release(): void };
/** Inside one transaction. Store functions take this, so that what they lock is visible in their signature. */
export type Tx = Reads & { readonly [inTransaction]: true };
declare const inTransaction: unique symbol;

/** What a statement does, for the metric; `transaction` is a whole one, from asking for a connection to its end. */
export type DatabaseWork = 'select' | 'insert' | 'update' | 'delete' | 'transaction' | 'other';

export interface Database {
  sql: Sql;
  /**
   * Runs `work` in one READ COMMITTED transaction and retries it, at most 5 times, when Postgres says it lost a
   * deadlock or a serialisation race, or that a table was changed meanwhile. `work` must therefore do nothing but SQL. A connection that is lost during COMMIT
   * leaves open whether it happened: read again by its natural key before doing anything else (reliability D5).
   */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** The same of reads that all see the books at one moment: REPEATABLE READ, in which nothing is to be written. */
  snapshot<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** The same database for somebody who would rather fail, with POOL_EXHAUSTED, than wait longer than that for a free connection. */
  waitingAtMost(milliseconds: number): Database;
  pool(): PoolState;
  /** Connections of its own to the same database, for somebody with other needs; whoever asks for them ends them. */
  apart(options: ConnectOptions): Database;
  end(): Promise<void>;
}

export interface ConnectOptions {
  /** Shown by the server in `pg_stat_activity`. */
  name: string;
  /** Transactions at once; half as many single statements go beside them. */
  max?: number;
  /**
   * How long a statement may take: `short` is 12 s, and 4 s of them for a lock; `long` is 2 minutes, for what reads whole tables; `patient`
   * an hour, for what reads all that ever was;
   * `none` is for migrations. Whoever has `none` also waits for ever for a server that froze.
   */
  deadlines?: 'short' | 'long' | 'patient' | 'none';
  /**
   * How old a connection may be that is lent once more, about, milliseconds; half an hour. The server keeps every statement ever prepared on it,
   * and lists of different lengths are different statements. Infinity for who holds locks of a session.
   */
  lifetimeMs?: number;
  /** Told when a statement or a transaction has ended, well or not. The wait for a connection counts. */
  observe?(work: DatabaseWork, seconds: number): void;
}

const DEADLINES = {
  // Longer than what a duplicate waits for the reply to its Idempotency-Key (POLICY.idempotencyWaitMs).
  short: { statement: 12_000, lock: 4_000, pause: 15_000 },
  long: { statement: 120_000, lock: 10_000, pause: 60_000 },
  patient: { statement: 3_600_000, lock: 10_000, pause: 60_000 },
  none: { statement: 0, lock: 0, pause: 0 },
};
const LIFETIME_MS = 1_800_000;
/** The server is a standby, or lets nobody write. */
const READ_ONLY = '25006';
const RETRIABLE = new Set(['40001', '40P01']);
/** How Postgres fails a statement that was prepared before a newer release added a column. */
const STALE = { code: '0A000', routine: 'RevalidateCachedQuery' };
const ATTEMPTS = 5;
const WORK = /^\s*(select|insert|update|delete)\b/i;

/**
 * Opens two pools: one for single statements, and one of `max` connections for transactions alone, so that a transaction that
 * also asks outside of itself always finds a connection. Returns at once; connections open when they are needed.
 * int8 columns arrive as safe integers (heights, counters); numeric columns as exact decimal text.
 */
export function connect(url: string, options: ConnectOptions): Database {
  const max = options.max ?? 10;
  const common = { name: options.name, deadlines: DEADLINES[options.deadlines ?? 'short'], lifetimeMs: options.lifetimeMs ?? LIFETIME_MS };
  const statements = openPool(url, { ...common, max: Math.ceil(max / 2), onlyTransactionsWrite: false });
  const transactions = openPool(url, { ...common, max, onlyTransactionsWrite: true });
  const observe = options.observe ?? (() => undefined);

  const inTransaction = <T>(beginning: string, atMostMs: number | undefined, work: (tx: Tx) => Promise<T>): Promise<T> =>
    timed(observe, () => retry(() => transact(transactions, observe, { beginning, atMostMs }, work)));
  const view = (atMostMs: number | undefined): Database => ({
    sql: Object.assign(steer(statements.client, runAlone(statements, observe, atMostMs)), { reserve: () => reserve(statements, observe, atMostMs) }),
    transaction: (work) => inTransaction(BEGIN_WRITING, atMostMs, work),
    snapshot: (work) => inTransaction(BEGIN_SNAPSHOT, atMostMs, work),
    waitingAtMost: (milliseconds) => view(milliseconds),
    apart: (other) => connect(url, other),
    pool() {
      const [one, other] = [statements.state(), transactions.state()];
      return { idle: one.idle + other.idle, active: one.active + other.active, waiting: one.waiting + other.waiting };
    },
    end: async () => {
      await Promise.all([statements.end(), transactions.end()]);
    },
  });
  return view(undefined);
}

type Observe = NonNullable<ConnectOptions['observe']>;

/** Runs the statement that `build` makes with a connection's own client; `text` is how it begins. */
type Run = <T>(text: string | undefined, build: (own: Client) => PromiseLike<T>) => Promise<T>;

/**
 * The driver's way of making statements, with `run` in place of its own way of running them. What is made here is only a fragment of
 * other statements until somebody waits for it; then the same is made once more, by the client of the connection that runs it.
 */
function steer(client: Client, run: Run): Reads {
  const lazy = (text: string | undefined, build: (maker: Client) => Promise<unknown>): Promise<unknown> => {
    let running: Promise<unknown> | undefined;
    const start = (): Promise<unknown> => (running ??= run(text, build));
    const fragment = build(client);
    return Object.assign(fragment, {
      // biome-ignore lint/suspicious/noThenProperty: a statement is a promise that begins when somebody waits for it.
      then: (...on: Parameters<typeof fragment.then>) => start().then(...on),
      catch: (...on: Parameters<typeof fragment.catch>) => start().catch(...on),
      finally: (...on: Parameters<typeof fragment.finally>) => start().finally(...on),
      execute: () => {
        void start();
        return fragment;
      },
    });
  };
  const tag = (...args: [TemplateStringsArray, ...never[]]): unknown => {
    const make = (maker: Client): Promise<unknown> => maker(...args);
    return Array.isArray(args[0].raw) ? lazy(args[0][0], make) : make(client);
  };
  const unsafe = (...args: Parameters<Client['unsafe']>): unknown => lazy(args[0], (maker) => maker.unsafe(...args));
  return Object.assign(tag, { json: client.json, unsafe }) as unknown as Reads;
}

function timeOf(text: string | undefined, observe: Observe): () => void {
  const startedMs = performance.now();
  const word = WORK.exec(text ?? '')?.[1]?.toLowerCase();
  return () => observe((word as DatabaseWork | undefined) ?? 'other', (performance.now() - startedMs) / 1_000);
}

/** Runs each statement on a connection that it has for itself. */
function runAlone(pool: Pool, observe: Observe, atMostMs: number | undefined): Run {
  return async (text, build) => {
    const done = timeOf(text, observe);
    try {
      const connection = await pool.lend(atMostMs);
      try {
        return await connection.run(build);
      } finally {
        pool.takeBack(connection);
      }
    } finally {
      done();
    }
  };
}

async function reserve(pool: Pool, observe: Observe, atMostMs: number | undefined): Promise<Reserved> {
  const connection = await pool.lend(atMostMs);
  const { sql, close } = onConnection(pool, connection, observe, { together: false });
  return Object.assign(sql, {
    release: () => {
      void close();
      pool.takeBack(connection);
    },
  });
}

/** The statements of one borrower of one connection. */
interface Statements {
  sql: Reads;
  /** What the first of them failed with. */
  failed(): unknown;
  /** Refuses those that come later, and waits until each of the others has its answer. */
  close(): Promise<void>;
}

/** Of those that stand or fall `together` none is sent any more once one is known to have failed: they fail by the same. */
function onConnection(pool: Pool, connection: Connection, observe: Observe, { together }: { together: boolean }): Statements {
  let open = true;
  let failed: unknown;
  const sql = steer(pool.client, async (text, build) => {
    const done = timeOf(text, observe);
    try {
      if (!open) throw connectionError('CONNECTION_ENDED', 'this statement came after the end of its transaction');
      if (together && failed !== undefined) throw failed;
      return await connection.run(build);
    } catch (error) {
      failed ??= together && isAborted(error) ? giveUp(connection) : error;
      throw error;
    } finally {
      done();
    }
  });
  return {
    sql,
    failed: () => failed,
    close: async () => {
      open = false;
      await connection.quiet();
    },
  };
}

/** Whether a statement failed only because another one of its transaction had. */
function isAborted(error: unknown): boolean {
  return (error as { code?: unknown }).code === '25P02';
}

/**
 * Breaks off a connection on which the first that is heard to have failed did so because of another one. The driver is trying that one again, because it was prepared before its
 * table changed, and what it sends may be lost among the statements that were sent behind it: it would wait for an answer that never comes, and keep its locks.
 */
function giveUp(connection: Connection): Error {
  const stale = Object.assign(new Error('a statement was prepared before its table changed'), STALE);
  connection.abandon(stale);
  return stale;
}

async function transact<T>(
  pool: Pool,
  observe: Observe,
  { beginning, atMostMs }: { beginning: string; atMostMs: number | undefined },
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  const connection = await pool.lend(atMostMs);
  const { sql, failed, close } = onConnection(pool, connection, observe, { together: true });
  try {
    const { begun } = await begin(connection, beginning);
    const result = await rolledBack(connection, close, async () => {
      const made = await work(sql as Tx);
      // Nobody may go on as if a statement had worked that did not.
      if (failed() !== undefined) throw failed();
      return made;
    }).catch(async (error: unknown) => {
      // Behind a BEGIN that failed every statement fails, or has read outside of any transaction.
      await begun;
      throw isAborted(error) ? (failed() ?? error) : error;
    });
    await begun;
    const { command } = await connection.control('commit');
    if (command !== 'COMMIT') throw new Error(`a transaction ended with ${command}`);
    return result;
  } finally {
    await close();
    pool.takeBack(connection);
  }
}

/** Connections on which the server lets nothing write but what began with BEGIN_WRITING; a proxy may have dropped that setting. */
const guarded = new WeakSet<Connection>();
const BEGIN_WRITING = 'begin read write';
/** A server that only follows another one refuses this: what it has may be old. */
const BEGIN_SNAPSHOT = 'begin isolation level repeatable read, read write';

/**
 * Begins a transaction. On a guarded connection the first statement follows without waiting for the answer, because one that follows a BEGIN that failed
 * writes nothing: outside of such a transaction the server refuses it. The caller must wait for `begun` before it takes anything for done.
 */
async function begin(connection: Connection, beginning: string): Promise<{ begun: Promise<unknown> }> {
  const known = guarded.has(connection);
  // Asked before BEGIN, because what a transaction sets for itself has to come before its first query.
  const [row] = known ? [] : await connection.run((own) => own<[{ guard: string }]>`select current_setting('default_transaction_read_only') as guard`);
  if (row?.guard === 'on') guarded.add(connection);
  const begun = connection.control(beginning).catch((error: unknown) => {
    // A standby says so in its own words, and a server that turned read-only in others.
    throw (error as { code?: unknown }).code === '0A000' ? Object.assign(error as Error, { code: READ_ONLY }) : error;
  });
  // Whoever waits for it hears of it; until then it is no failure that nobody looked at.
  if (guarded.has(connection)) begun.catch(() => undefined);
  else await begun;
  return { begun };
}

/** Runs `work`; when it fails, lets `end` end it and takes back what it did. A connection that cannot even do that is broken off, which does the same. */
async function rolledBack<T>(connection: Connection, end: () => Promise<void>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // Sent while the driver tries a statement once more, ROLLBACK would be lost: the server skips what comes between that one's failure and the driver's word that it heard of it.
    await end();
    await connection.control('rollback').catch(() => connection.abandon(connectionError('CONNECTION_CLOSED', 'a transaction could not be taken back')));
    throw error;
  }
}

async function timed<T>(observe: Observe, work: () => Promise<T>): Promise<T> {
  const startedMs = performance.now();
  try {
    return await work();
  } finally {
    observe('transaction', (performance.now() - startedMs) / 1_000);
  }
}

/** A deadlock or a serialisation race, or a statement prepared before a newer release added a column: prepared anew it works. */
function isLostRace(error: unknown): boolean {
  const { code, routine } = error as { code?: unknown; routine?: unknown };
  return RETRIABLE.has(String(code)) || (code === STALE.code && routine === STALE.routine);
}

async function retry<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (attempt >= ATTEMPTS || !isLostRace(error)) throw error;
    }
  }
}
