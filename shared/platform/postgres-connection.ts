import { Socket } from 'node:net';
import postgres from 'postgres';

/** A client of postgres.js; only ever with one connection behind it, which one caller at a time uses. */
export type Client = postgres.Sql<{ bigint: number }>;
type Settings = postgres.Options<{ bigint: postgres.PostgresType<number> }>;

/** What the connections of one pool have in common. */
export interface Driver {
  /** Builds statements and fragments. It runs none: it refuses to connect. */
  client: Client;
  url: string;
  settings: Settings;
  /** How often the next connection went on to the next of the hosts that the URL names. */
  turn: number;
}

/** One connection to Postgres, from its first use until it is lost; it never comes back as another one. */
export interface Connection {
  /** Sends the statement that `build` makes with the connection's own client; several are answered in order. */
  run<T>(build: (own: Client) => PromiseLike<T>): Promise<T>;
  /** Runs plain text: `begin`, `commit`, `rollback`. */
  control(text: string): Promise<{ command: string }>;
  /** True once it is of no use any more. */
  lost(): boolean;
  /** True while the server owes it an answer. */
  busy(): boolean;
  /** Resolves once it owes none, at once or later. */
  quiet(): Promise<void>;
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
  /** Whether the server refuses to write in whatever does not begin with BEGIN READ WRITE. */
  onlyTransactionsWrite: boolean;
}

/** Seconds a connection may take to be there, from the first packet to the server's greeting. */
const CONNECT_SECONDS = 5;

/** Below it are the types that have the same number on every server of every version; arrays of a table's rows, which nobody reads, are not among them. */
const FIRST_OWN_TYPE = 10_000;
/**
 * The arrays among those, as the first connection of this process that was asked to learn types did. Asking is most of what a connection costs,
 * and the schema has no arrays of types of its own.
 */
let commonTypes: Record<string, postgres.PostgresType> | undefined;

/** Opens nothing: this is what statements are built with, and what connections share of what they know about types. */
export function prepareDriver(url: string, { name, deadlines, onlyTransactionsWrite }: ConnectionOptions): Driver {
  const settings: Settings = {
    max: 1,
    // A host that vanished without a word must not keep its locks for the two hours that are the system's default.
    connection: {
      application_name: name,
      statement_timeout: deadlines.statement,
      lock_timeout: deadlines.lock,
      idle_in_transaction_session_timeout: deadlines.pause,
      default_transaction_read_only: onlyTransactionsWrite,
      tcp_keepalives_idle: 10,
      tcp_keepalives_interval: 5,
      tcp_keepalives_count: 3,
    },
    onnotice: () => undefined,
    connect_timeout: CONNECT_SECONDS,
    // The pool knows better when a connection is between two transactions.
    max_lifetime: null,
    // Only the names of columns: what stands inside a document of JSON is somebody's own.
    transform: { column: { from: postgres.toCamel } },
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
  };
  const refuse = (): never => {
    throw connectionError('CONNECTION_CLOSED', 'a statement was run past the pool');
  };
  return { client: clientOf(url, settings, refuse), url, settings, turn: 0 };
}

/** The driver documents its option `socket`, but its types do not know it. */
function clientOf(url: string, settings: Settings, socket: () => Socket): Client {
  const options = { ...settings, socket };
  return postgres(url, options);
}

/**
 * Makes a connection that opens with its first statement. `lost` is called when it has ended, whoever ended it. `learnTypes`
 * asks the server for its array types first, unless another connection of this process did.
 */
export function openConnection(driver: Driver, { learnTypes, lost }: { learnTypes: boolean; lost(): void }): Connection {
  let socket: Socket | undefined;
  let over = false;
  let served = false;
  const { turn } = driver;
  const running = new Set<(reason: unknown) => void>();
  let awaiting: (() => void)[] = [];
  const answered = (fail: (reason: unknown) => void): void => {
    running.delete(fail);
    if (running.size > 0) return;
    for (const tell of awaiting) tell();
    awaiting = [];
  };
  const gone = (): Error => connectionError('CONNECTION_CLOSED', 'the connection to postgres was lost');
  const end = (): void => {
    if (over) return;
    over = true;
    if (!served && driver.turn === turn) driver.turn++;
    lost();
    // The driver tells those it had sent why; what it kept for later it would tell nothing.
    setImmediate(() => {
      for (const fail of running) fail(gone());
    });
  };
  const { host: hosts, port: ports, path } = driver.client.options;
  const [host, port] = [hosts[turn % hosts.length] ?? 'localhost', ports[turn % ports.length] ?? 5432];
  const learning = learnTypes && commonTypes === undefined;
  // Of several hosts the driver would silently begin with the first one again.
  const types = { ...driver.settings.types, ...commonTypes } as Settings['types'] & object;
  const settings = { ...driver.settings, types, host, port, fetch_types: learning, onclose: end };
  const own = clientOf(driver.url, settings, () => {
    // It would open another one for what it had not sent yet: outside of the transaction that is over with the first.
    if (over || socket !== undefined) throw gone();
    // Between its first error and its end the driver would still write to it.
    socket = new Socket().once('error', end);
    if (path) return socket.connect(path);
    // The driver reads the host from here when it checks a certificate.
    return Object.assign(socket.connect(port, host), { host, port });
  });
  const abandon = (reason: Error): void => {
    end();
    socket?.destroy(reason);
  };
  const run: Connection['run'] = (build) => {
    if (over) return Promise.reject(gone());
    return new Promise((resolve, reject) => {
      const fail = (reason: unknown): void => {
        answered(fail);
        // After any other error the driver may write to a socket that is gone, or wait for an answer without end.
        if (isStatementError(reason)) served = true;
        else abandon(reason instanceof Error ? reason : new Error(String(reason)));
        reject(reason);
      };
      running.add(fail);
      build(own).then((value) => {
        answered(fail);
        served = true;
        if (learning) commonTypes ??= commonTypesOf(own);
        resolve(value);
      }, fail);
    });
  };
  return {
    run,
    control: (text) => run((client) => client.unsafe(text)),
    lost: () => over,
    busy: () => running.size > 0,
    quiet: () =>
      new Promise((resolve) => {
        if (running.size === 0) resolve();
        else awaiting.push(resolve);
      }),
    heard: () => socket?.bytesRead ?? 0,
    abandon,
    close: async () => {
      end();
      await own.end({ timeout: 1 });
    },
  };
}

/** The arrays of every server that a client can read and write, in the form of an option that lets another client begin with them. */
function commonTypesOf({ options: { parsers, serializers } }: Client): Record<string, postgres.PostgresType> {
  const arrays = Object.entries(parsers).filter(([oid, parse]) => Number(oid) < FIRST_OWN_TYPE && (parse as { array?: true }).array === true);
  const types = arrays.map(([oid, parse]) => [oid, { to: Number(oid), from: [Number(oid)], parse, serialize: serializers[Number(oid)] }]);
  return Object.fromEntries(types) as Record<string, postgres.PostgresType>;
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
