import { answers, type Client, type Connection, connectionError, type ConnectionOptions, openConnection, prepareDriver } from './postgres-connection.ts';

/** A connection in use that says nothing for this long makes it worth asking whether the server still talks to anybody. */
const DOUBTFUL_MS = 3_000;
const PROBE_MS = 2_000;
const CHECK_MS = 500;
/** How long the server may keep a deadline of its own to itself. */
const GRACE_MS = 1_000;
/** How long what runs may go on after `end`. */
const END_MS = 5_000;

/** Connections by what they do, and callers that wait for one. */
export interface PoolState {
  idle: number;
  active: number;
  waiting: number;
}

/** Connections that are lent to one caller at a time. */
export interface Pool {
  /** What statements are built with. */
  client: Client;
  /**
   * Lends a connection, in order of arrival; one that turns out not to open fails the first statement.
   * @throws POOL_EXHAUSTED when none was free for `atMostMs`, CONNECTION_ENDED after `end`
   */
  lend(atMostMs?: number): Promise<Connection>;
  /** Takes it back; one that is lost is replaced when somebody needs another. */
  takeBack(connection: Connection): void;
  state(): PoolState;
  /** Waits for what is running, five seconds at most. */
  end(): Promise<void>;
}

interface Waiting {
  give(connection: Connection): void;
  fail(error: Error): void;
}

/** What is known of a connection that is lent: when it last said anything, or owed nothing. */
interface Lent {
  bytes: number;
  heardAtMs: number;
}

/**
 * A pool of at most `max` connections. The driver has one of its own, which this replaces, because there a connection that is
 * lost at the wrong moment ends the process or never works again, and one that falls silent is waited for without end.
 */
export function openPool(url: string, options: ConnectionOptions & { max: number; lifetimeMs: number }): Pool {
  const driver = prepareDriver(url, options);
  const idle: Connection[] = [];
  const lent = new Map<Connection, Lent>();
  const retiresAtMs = new WeakMap<Connection, number>();
  const waiting = new Set<Waiting>();
  let ended = false;
  let drained: (() => void) | undefined;
  let probing = false;
  let trustedUntilMs = 0;
  let watchedAtMs = performance.now();

  const forget = (connection: Connection): void => {
    const at = idle.indexOf(connection);
    if (at >= 0) idle.splice(at, 1);
  };

  const open = (): Connection => {
    const connection: Connection = openConnection(driver, { learnTypes: true, lost: () => forget(connection) });
    // Not all at once.
    retiresAtMs.set(connection, performance.now() + options.lifetimeMs * (0.75 + Math.random() / 2));
    return connection;
  };

  const take = (): Connection | undefined => {
    const connection = idle.pop() ?? (lent.size < options.max ? open() : undefined);
    if (connection === undefined) return undefined;
    lent.set(connection, { bytes: connection.heard(), heardAtMs: performance.now() });
    beginWatching();
    return connection;
  };

  const serve = (): void => {
    for (const one of waiting) {
      const connection = take();
      if (connection === undefined) return;
      waiting.delete(one);
      one.give(connection);
    }
  };

  const breakOff = (connection: Connection, problem: string): void =>
    connection.abandon(connectionError('CONNECTION_SILENT', `postgres said nothing: ${problem}`));

  /** A server that talks to a newcomer is only slow; one that does not is frozen or out of reach, and waiting for it helps nobody. */
  const probe = async (): Promise<void> => {
    probing = true;
    const askedMs = performance.now();
    const alive = await answers(driver, PROBE_MS);
    probing = false;
    const now = performance.now();
    trustedUntilMs = now + DOUBTFUL_MS;
    // A process that stood still meanwhile did not listen.
    if (alive || ended || now - askedMs > PROBE_MS + CHECK_MS) return;
    for (const connection of [...idle]) breakOff(connection, 'it does not answer newcomers either');
    for (const [connection, { heardAtMs }] of lent) if (now - heardAtMs > DOUBTFUL_MS) breakOff(connection, 'it does not answer newcomers either');
  };

  const watch = (): void => {
    const now = performance.now();
    const stoodStillMs = Math.max(0, now - watchedAtMs - 2 * CHECK_MS);
    watchedAtMs = now;
    let doubtful = false;
    for (const [connection, seen] of lent) {
      const bytes = connection.heard();
      if (bytes !== seen.bytes || !connection.busy()) Object.assign(seen, { bytes, heardAtMs: now });
      // While this process stood still itself, nobody could be heard.
      else seen.heardAtMs += stoodStillMs;
      const silentMs = now - seen.heardAtMs;
      if (silentMs > options.deadlines.statement + GRACE_MS) breakOff(connection, `not even that its deadline of ${options.deadlines.statement} ms had passed`);
      else doubtful ||= silentMs > DOUBTFUL_MS;
    }
    if (doubtful && !probing && now >= trustedUntilMs) void probe();
  };
  let watching: NodeJS.Timeout | undefined;
  /** Only while somebody has a connection: a process has many pools, and most of them are idle most of the time. */
  const beginWatching = (): void => {
    if (watching !== undefined || options.deadlines.statement === 0) return;
    watchedAtMs = performance.now();
    watching = setInterval(watch, CHECK_MS).unref();
  };
  const endWatching = (): void => {
    clearInterval(watching);
    watching = undefined;
  };

  return {
    client: driver.client,
    lend(atMostMs) {
      if (ended) return Promise.reject(connectionError('CONNECTION_ENDED', 'the pool was closed'));
      const connection = waiting.size === 0 ? take() : undefined;
      if (connection !== undefined) return Promise.resolve(connection);
      return new Promise((resolve, reject) => {
        let timer: NodeJS.Timeout | undefined;
        const one: Waiting = {
          give(given) {
            clearTimeout(timer);
            resolve(given);
          },
          fail(error) {
            clearTimeout(timer);
            waiting.delete(one);
            reject(error);
          },
        };
        waiting.add(one);
        if (atMostMs !== undefined)
          timer = setTimeout(() => one.fail(connectionError('POOL_EXHAUSTED', `no connection to postgres was free for ${atMostMs} ms`)), atMostMs);
      });
    },
    takeBack(connection) {
      if (!lent.delete(connection)) return;
      if (!connection.lost()) {
        if (ended || performance.now() > (retiresAtMs.get(connection) ?? 0)) void connection.close();
        else idle.push(connection);
      }
      serve();
      if (lent.size > 0) return;
      endWatching();
      drained?.();
    },
    state: () => ({ idle: idle.length, active: lent.size, waiting: waiting.size }),
    async end() {
      if (ended) return;
      ended = true;
      endWatching();
      for (const one of waiting) one.fail(connectionError('CONNECTION_ENDED', 'the pool was closed'));
      if (lent.size > 0)
        await new Promise<void>((resolve) => {
          const late = setTimeout(resolve, END_MS);
          drained = () => {
            clearTimeout(late);
            resolve();
          };
        });
      for (const connection of lent.keys()) connection.abandon(connectionError('CONNECTION_ENDED', 'the pool was closed'));
      await Promise.all(idle.splice(0).map((connection) => connection.close()));
    },
  };
}
