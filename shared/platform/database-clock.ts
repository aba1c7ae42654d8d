import type { Logger } from './logger.ts';
import type { Reads } from './postgres.ts';

/** How often the database is asked what time it is. */
const ASK_MS = 30_000;
/** An answer that took longer says too little about when it was given. */
const SLOWEST_MS = 500;
/** A host whose own clock differs by more is worth a line in the log. */
const WORTH_TELLING_MS = 5_000;

/** The one clock of a deployment: that of its database, whatever the hosts of its processes believe. */
export interface DatabaseClock {
  /** Unix milliseconds. */
  now(): number;
  stop(): void;
}

/**
 * Follows the database's wall clock from here: it is asked now and every 30 s, and between the answers time passes as it does
 * for this process, so that a host whose clock is wrong, or is set back, neither refuses honest signatures nor takes stale ones
 * (reliability F38). While the database is away time goes on.
 * @throws when the database does not answer the first time
 */
export async function followDatabaseClock(sql: Reads, log: Logger): Promise<DatabaseClock> {
  let zeroMs = Number.NaN;
  let told = false;
  const ask = async (): Promise<void> => {
    const askedMs = performance.now();
    const [row] = await sql<[{ ms: number }]>`select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as ms`;
    const tookMs = performance.now() - askedMs;
    if (!Number.isNaN(zeroMs) && tookMs > SLOWEST_MS) return;
    zeroMs = row.ms - tookMs / 2 - askedMs;
    const hostAheadMs = Date.now() - now();
    if (!told && Math.abs(hostAheadMs) > WORTH_TELLING_MS)
      log.warn({ hostAheadSeconds: Math.round(hostAheadMs / 1_000) }, "this host's clock is not the database's, which is used instead");
    told = Math.abs(hostAheadMs) > WORTH_TELLING_MS;
  };
  const now = (): number => Math.floor(zeroMs + performance.now());
  await ask();
  const timer = setInterval(() => void ask().catch((error: unknown) => log.debug({ err: error }, 'the database did not say what time it is')), ASK_MS);
  timer.unref();
  return { now, stop: () => clearInterval(timer) };
}
