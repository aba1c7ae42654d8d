import type { Logger } from './logger.ts';
import type { Reads } from './postgres.ts';

/** How long after it was heard the database is asked what time it is. */
const ASK_MS = 30_000;
/** How often it is looked whether it was heard. */
const LOOK_MS = 5_000;
/** An answer that took longer says too little about when it was given. */
const SLOWEST_MS = 500;
/** A host whose own clock differs by more is worth a line in the log. */
const WORTH_TELLING_MS = 5_000;

/** The one clock of a deployment: that of its database, whatever the hosts of its processes believe. */
export interface DatabaseClock {
  /** Unix milliseconds. */
  now(): number;
  /** Takes what the database said it was, Unix milliseconds, in an answer to something else that was asked at `askedMs` of `performance.now()`. */
  hear(ms: number, askedMs: number): void;
  stop(): void;
}

/**
 * Follows the database's wall clock from here: it is asked now and 30 s after it was last heard, and between the answers time passes as it does
 * for this process, so that a host whose clock is wrong, or is set back, neither refuses honest signatures nor takes stale ones
 * (reliability F38). While the database is away time goes on.
 * @throws when the database does not answer the first time
 */
export async function followDatabaseClock(sql: Reads, log: Logger): Promise<DatabaseClock> {
  let zeroMs = Number.NaN;
  let told = false;
  let heardMs = Number.NEGATIVE_INFINITY;
  const hear = (ms: number, askedMs: number): void => {
    const answeredMs = performance.now();
    const tookMs = answeredMs - askedMs;
    if (!Number.isNaN(zeroMs) && tookMs > SLOWEST_MS) return;
    heardMs = answeredMs;
    zeroMs = ms - tookMs / 2 - askedMs;
    const hostAheadMs = Date.now() - now();
    if (!told && Math.abs(hostAheadMs) > WORTH_TELLING_MS)
      log.warn({ hostAheadSeconds: Math.round(hostAheadMs / 1_000) }, "this host's clock is not the database's, which is used instead");
    told = Math.abs(hostAheadMs) > WORTH_TELLING_MS;
  };
  const ask = async (): Promise<void> => {
    const askedMs = performance.now();
    const [row] = await sql<[{ ms: number }]>`select ${databaseTime(sql)} as ms`;
    hear(row.ms, askedMs);
  };
  const askUnlessHeard = (): void => {
    if (performance.now() - heardMs < ASK_MS) return;
    void ask().catch((error: unknown) => log.debug({ err: error }, 'the database did not say what time it is'));
  };
  const now = (): number => Math.floor(zeroMs + performance.now());
  await ask();
  const timer = setInterval(askUnlessHeard, LOOK_MS);
  timer.unref();
  return { now, hear, stop: () => clearInterval(timer) };
}

/** The wall clock of the database as a part of a statement: Unix milliseconds. */
export function databaseTime(sql: Reads): ReturnType<Reads> {
  return sql`floor(extract(epoch from clock_timestamp()) * 1000)::bigint`;
}
