import type postgres from 'postgres';
import { type Connection, connectionError, type Driver, type Statement } from './postgres-connection.ts';
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
   * How long a statement may take: `short` is 12 s, and 4 s of them for a lock; `long` is 2 minutes, for what reads whole tables;
   * `none` is for migrations. Whoever has `none` also waits for ever for a server that froze.
   */
  deadlines?: 'short' | 'long' | 'none';
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
  none: { statement: 0, lock: 0, pause: 0 },
};
const LIFETIME_MS = 1_800_000;
const RETRIABLE = new Set(['40001', '40P01']);
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
  const statements = openPool(url, { ...common, max: Math.ceil(max / 2) });
  const transactions = openPool(url, { ...common, max });
  const observe = options.observe ?? (() => undefined);

  const view = (atMostMs: number | undefined): Database => ({
    sql: Object.assign(steer(statements.driver, runAlone(statements, observe, atMostMs)), { reserve: () => reserve(statements, observe, atMostMs) }),
    transaction: (work) => timed(observe, () => retry(() => transact(transactions, observe, atMostMs, work))),
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

/** The driver's way of making statements, with `run` in place of its own way of running them. */
function steer(driver: Driver, run: (statement: Statement) => void): Reads {
  const steered = (made: unknown): unknown => (made instanceof Promise ? Object.assign(made, { handler: run }) : made);
  const extra: Record<string | symbol, unknown> = {};
  return new Proxy(driver, {
    apply: (target, _this, args) => steered(Reflect.apply(target, undefined, args)),
    get: (target, name) => {
      if (name in extra) return extra[name];
      if (name === 'unsafe') return (...args: Parameters<Driver['unsafe']>) => steered(target.unsafe(...args));
      return Reflect.get(target, name);
    },
    set: (_target, name, value) => {
      extra[name] = value;
      return true;
    },
  }) as unknown as Reads;
}

/** Tells `ended` once what became of a statement, before whoever waits for it learns it. */
function whenEnded(statement: Statement, ended: (error?: unknown) => void): void {
  const { resolve, reject } = statement;
  let told = false;
  const once = (error?: unknown): void => {
    if (told) return;
    told = true;
    ended(error);
  };
  statement.resolve = (value) => {
    once();
    resolve(value);
  };
  statement.reject = (reason) => {
    once(reason ?? new Error('a statement failed without a reason'));
    reject(reason);
  };
}

function timeOf(statement: Statement, observe: Observe): () => void {
  const startedMs = performance.now();
  const word = WORK.exec(statement.strings[0] ?? '')?.[1]?.toLowerCase();
  return () => observe((word as DatabaseWork | undefined) ?? 'other', (performance.now() - startedMs) / 1_000);
}

/** Runs each statement on a connection that it has for itself. */
function runAlone(pool: Pool, observe: Observe, atMostMs: number | undefined): (statement: Statement) => void {
  return (statement) => {
    const done = timeOf(statement, observe);
    pool.lend(atMostMs).then(
      (connection) => {
        whenEnded(statement, () => {
          done();
          pool.takeBack(connection);
        });
        connection.run(statement);
      },
      (error: unknown) => {
        done();
        statement.reject(error);
      },
    );
  };
}

async function reserve(pool: Pool, observe: Observe, atMostMs: number | undefined): Promise<Reserved> {
  const connection = await pool.lend(atMostMs);
  const { sql, close } = onConnection(pool, connection, observe);
  return Object.assign(sql, {
    release: () => {
      close();
      pool.takeBack(connection);
    },
  });
}

/** Statements of one borrower of one connection, until `close`; `failed` is the first of them that failed. */
function onConnection(pool: Pool, connection: Connection, observe: Observe): { sql: Reads; close(): void; failed(): unknown } {
  let open = true;
  let failed: unknown;
  const sql = steer(pool.driver, (statement) => {
    const done = timeOf(statement, observe);
    whenEnded(statement, (error) => {
      failed ??= error;
      done();
    });
    if (open) connection.run(statement);
    else statement.reject(connectionError('CONNECTION_ENDED', 'this statement came after the end of its transaction'));
  });
  return {
    sql,
    close: () => {
      open = false;
    },
    failed: () => failed,
  };
}

async function transact<T>(pool: Pool, observe: Observe, atMostMs: number | undefined, work: (tx: Tx) => Promise<T>): Promise<T> {
  const connection = await pool.lend(atMostMs);
  const { sql, close, failed } = onConnection(pool, connection, observe);
  try {
    await connection.control('begin');
    const result = await rolledBack(connection, async () => {
      const made = await work(sql as Tx);
      // Nobody may go on as if a statement had worked that did not.
      if (failed() !== undefined) throw failed();
      return made;
    }).catch((error: unknown) => {
      throw (error as { code?: unknown }).code === '25P02' ? (failed() ?? error) : error;
    });
    const { command } = await connection.control('commit');
    if (command !== 'COMMIT') throw new Error(`a transaction ended with ${command}`);
    return result;
  } finally {
    close();
    pool.takeBack(connection);
  }
}

/** Runs `work`; when it fails, takes back what it did. A connection that cannot even do that is broken off, which does the same. */
async function rolledBack<T>(connection: Connection, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
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
  return RETRIABLE.has(String(code)) || (code === '0A000' && routine === 'RevalidateCachedQuery');
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
