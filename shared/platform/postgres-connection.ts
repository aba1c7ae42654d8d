import { Socket } from 'node:net';
import postgres from 'postgres';

/** The driver's own client; only ever with one connection behind it, which one caller at a time uses. */
export type Driver = postgres.Sql<{ bigint: number }>;

/**
 * What the driver makes of a tagged template, as far as it is steered from here: `handler` is told to run it, and `resolve` or
 * `reject` is called once. None of that is documented, so the driver's version is pinned and the tests of the pool guard it.
 */
export interface Statement extends Promise<unknown> {
  readonly strings: readonly string[];
  handler(statement: Statement): void;
  resolve(value: unknown): void;
  reject(reason: unknown): void;
}

/** One connection to Postgres, from its first use until it is lost; it never comes back as another one. */
export interface Connection {
  /** Sends one statement; several are answered in order. */
  run(statement: Statement): void;
  /** Runs plain text: `begin`, `commit`, `rollback`. */
  control(text: string): Promise<{ command: string }>;
  /** True once it is of no use any more. */
  lost(): boolean;
  /** True while the server owes it an answer. */
  busy(): boolean;
  /** Bytes that came from the server so far. */
  heard(): number;
  /** Breaks it off: whatever waits for an answer fails with `reason`. */
  abandon(reason: Error): void;
  /** Says goodbye; nothing may be running. */
  close(): Promise<void>;
}

export interface ConnectionOptions {
  name: string;
  /** Longest a statement, a wait for a lock and a pause inside a transaction may take, milliseconds, kept by the server; 0 is for ever. */
  deadlines: { statement: number; lock: number; pause: number };
}

/** Seconds a connection may take to be there, from the first packet to the server's greeting. */
const CONNECT_SECONDS = 5;

/** How often a driver's next connection went on to the next of the hosts that its URL names. */
const turns = new WeakMap<Driver, number>();

/** Opens nothing: this is what statements are built with, and what connections share of what they know about types. */
export function prepareDriver(url: string, { name, deadlines }: ConnectionOptions): Driver {
  return postgres(url, {
    max: 1,
    // A host that vanished without a word must not keep its locks for the two hours that are the system's default.
    connection: {
      application_name: name,
      statement_timeout: deadlines.statement,
      lock_timeout: deadlines.lock,
      idle_in_transaction_session_timeout: deadlines.pause,
      tcp_keepalives_idle: 10,
      tcp_keepalives_interval: 5,
      tcp_keepalives_count: 3,
    },
    onnotice: () => undefined,
    connect_timeout: CONNECT_SECONDS,
    // The pool knows better when a connection is between two transactions.
    max_lifetime: null,
    types: {
      bigint: {
        to: 20,
        from: [20],
        serialize: (value: number) => String(value),
        parse: (text: string) => {
          const value = Number(text);
          if (!Number.isSafeInteger(value)) throw new RangeError(`int8 outside the safe range: ${text}`);
          return value;
        },
      },
    },
  }) as Driver;
}

/**
 * Makes a connection that opens with its first statement. `lost` is called when it has ended, whoever ended it. `learnTypes`
 * asks the server for its array types first; those of one connection are known to all of the same driver.
 */
export function openConnection(driver: Driver, { learnTypes, lost }: { learnTypes: boolean; lost(): void }): Connection {
  let socket: Socket | undefined;
  let over = false;
  let served = false;
  const turn = turns.get(driver) ?? 0;
  const running = new Set<Statement>();
  const gone = (): Error => connectionError('CONNECTION_CLOSED', 'the connection to postgres was lost');
  const end = (): void => {
    if (over) return;
    over = true;
    if (!served && (turns.get(driver) ?? 0) === turn) turns.set(driver, turn + 1);
    lost();
    // The driver tells those it had sent why; what it kept for later it would tell nothing.
    setImmediate(() => {
      for (const statement of running) statement.reject(gone());
    });
  };
  const { path, ...named } = driver.options as unknown as { host: string[]; port: number[]; path?: string | false };
  const [host, port] = [named.host[turn % named.host.length] ?? 'localhost', named.port[turn % named.port.length] ?? 5432];
  const options = {
    ...driver.options,
    // Of several the driver would silently begin with the first one again.
    host: [host],
    port: [port],
    fetch_types: learnTypes,
    onclose: end,
    socket: () => {
      // It would open another one for what it had not sent yet: outside of the transaction that is over with the first.
      if (over || socket !== undefined) throw gone();
      // Between its first error and its end the driver would still write to it.
      socket = new Socket().once('error', end);
      if (path) return socket.connect(path);
      // The driver reads the host from here when it checks a certificate.
      return Object.assign(socket.connect(port, host), { host, port });
    },
  };
  const own = postgres(options as never) as Driver;
  const { handler } = own`` as unknown as Statement;
  const abandon = (reason: Error): void => {
    end();
    socket?.destroy(reason);
  };
  // After any other error the driver may write to a socket that is gone, or wait for an answer without end.
  const check = (error: unknown): void => {
    if (isStatementError(error)) served = true;
    else abandon(error instanceof Error ? error : new Error(String(error)));
  };
  const run = (statement: Statement): void => {
    if (over) {
      statement.reject(gone());
      return;
    }
    const { resolve, reject } = statement;
    running.add(statement);
    statement.resolve = (value) => {
      running.delete(statement);
      served = true;
      resolve(value);
    };
    statement.reject = (reason) => {
      running.delete(statement);
      check(reason);
      reject(reason);
    };
    handler(statement);
  };
  return {
    run,
    control: (text) => Object.assign(own.unsafe(text), { handler: run }) as unknown as Promise<{ command: string }>,
    lost: () => over,
    busy: () => running.size > 0,
    heard: () => socket?.bytesRead ?? 0,
    abandon,
    close: async () => {
      end();
      await own.end({ timeout: 1 });
    },
  };
}

/** An error of the link itself, with a code of the kind that the driver gives its own. */
export function connectionError(code: 'CONNECTION_CLOSED' | 'CONNECTION_ENDED' | 'CONNECTION_SILENT' | 'POOL_EXHAUSTED', message: string): Error {
  return Object.assign(new Error(message), { code });
}

/** True when the connection a statement failed on can run another one: the server said no, and meant only that statement. */
export function isStatementError(error: unknown): boolean {
  return error instanceof postgres.PostgresError && error.severity !== 'FATAL' && error.severity !== 'PANIC';
}

/**
 * Whether the server says anything at all to a newcomer within `milliseconds`: also that it has no room or does not know us.
 * Never rejects.
 */
export async function answers(driver: Driver, milliseconds: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const connection = openConnection(driver, { learnTypes: false, lost: () => undefined });
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), milliseconds);
  });
  const greeting = connection.control('select 1').then(
    () => true,
    (error: unknown) => error instanceof postgres.PostgresError,
  );
  const answer = await Promise.race([greeting, late]);
  clearTimeout(timer);
  connection.abandon(connectionError('CONNECTION_ENDED', 'asked what there was to ask'));
  return answer === true;
}
