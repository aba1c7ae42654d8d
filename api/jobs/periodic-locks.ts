import { toldOf } from '#shared/platform/database-problems.ts';
import type { Logger } from '#shared/platform/logger.ts';
import type { Database } from '#shared/platform/postgres.ts';

/** First half of the advisory lock key; the second is a hash of the work's name. */
const LOCK_CLASS = 7_582_002;

/** How long an answer about locks counts before Postgres is asked again, and how soon another process takes over what nobody holds. */
const ASKED_EVERY_MS = 5_000;
/** How long a session that asks nothing keeps its locks: that of a process which hangs. Longer than an answer counts, so that nobody begins work without them. */
const SILENT_MS = 20_000;

/** The right to do pieces of periodic work, of all processes by one at a time. */
export interface PeriodicLocks {
  /** Which of these this process may do now; undefined where Postgres cannot be asked. */
  held(names: readonly string[]): Promise<ReadonlySet<string> | undefined>;
}

/**
 * Locks of the only session of `database`, which keeps those it got until it ends (decision 0096). `all` are asked for in one statement. A lock that is asked for
 * again by its holder is held once more, which changes nothing: it is given back with the session.
 */
export function keepPeriodicLocks(database: Pick<Database, 'sql' | 'pool'>, all: readonly string[], log: Logger): PeriodicLocks {
  let answer: { names: ReadonlySet<string>; untilMs: number } | undefined;
  let asking: Promise<ReadonlySet<string> | undefined> | undefined;

  const ask = async (): Promise<ReadonlySet<string> | undefined> => {
    // What the answer says is true when the question leaves, and not yet when it comes back late.
    const untilMs = performance.now() + ASKED_EVERY_MS;
    answer = undefined;
    try {
      const rows = await database.sql<{ name: string; held: boolean }[]>`
        with session as materialized (select set_config('idle_session_timeout', ${String(SILENT_MS)}, false))
        select w.name, pg_try_advisory_lock(${LOCK_CLASS}, hashtext(w.name)) as held from session, unnest(${[...all]}::text[]) as w (name)`;
      answer = { names: new Set(rows.filter(({ held }) => held).map(({ name }) => name)), untilMs };
      return answer.names;
    } catch (error) {
      log.warn(toldOf(error), 'locks of periodic work cannot be asked for');
      return undefined;
    } finally {
      asking = undefined;
    }
  };

  return {
    async held(names) {
      if (names.length === 0) return new Set();
      // A session that ended took its locks with it.
      if (answer !== undefined && performance.now() < answer.untilMs && database.pool().idle > 0) return answer.names;
      asking ??= ask();
      return asking;
    },
  };
}
