import { toldOf } from '#shared/platform/database-problems.ts';
import type { Logger } from '#shared/platform/logger.ts';
import type { Database } from '#shared/platform/postgres.ts';

/** First half of the advisory lock key; the second is a hash of the work's name. */
const LOCK_CLASS = 7_582_002;

/** How often a process asks for locks, and so how soon another one takes over what nobody holds. */
export const LOCKS_ASKED_EVERY_MS = 5_000;
/** How long an answer counts: shorter, so that whoever asks a little early asks Postgres again. */
const ANSWER_COUNTS_MS = 4_000;
/** How long a session that asks nothing keeps its locks: that of a process which hangs. Longer than an answer counts, so that nobody begins work without them. */
const SILENT_MS = 20_000;

/** The right to do pieces of periodic work, of all processes by one at a time. */
export interface PeriodicLocks {
  /**
   * What this process may do now, which of it since this question, and what another one does, where that was asked for; undefined where Postgres cannot be asked. To be asked also
   * while nothing is begun: the session of whoever stops asking ends, and its locks with it.
   */
  held(): Promise<{ names: ReadonlySet<string>; gained: ReadonlySet<string>; others: ReadonlySet<string> } | undefined>;
  /** Leaves one to other processes for a while. */
  rest(name: string, milliseconds: number): Promise<void>;
}

/** Locks of the only session of `database`, which keeps those it got until it ends (decision 0096). `all` are asked for in one statement. */
export function keepPeriodicLocks(database: Pick<Database, 'sql' | 'pool'>, all: readonly string[], log: Logger): PeriodicLocks {
  let answer: { names: ReadonlySet<string>; untilMs: number } | undefined;
  let before: ReadonlySet<string> = new Set();
  let asking: ReturnType<PeriodicLocks['held']> | undefined;
  const resting = new Map<string, number>();

  const ask: PeriodicLocks['held'] = async () => {
    const now = performance.now();
    const wanted = all.filter((name) => (resting.get(name) ?? 0) <= now);
    answer = undefined;
    try {
      // A lock that its holder takes once more would have to be given back as often.
      const rows = await database.sql<{ name: string; held: boolean }[]>`
        with session as materialized (select set_config('idle_session_timeout', ${String(SILENT_MS)}, false)),
        own as materialized (
          select objid::bigint as key from pg_locks where locktype = 'advisory' and pid = pg_backend_pid() and classid::bigint = ${LOCK_CLASS}::bigint and granted)
        select w.name, case when (hashtext(w.name)::bigint & 4294967295) in (select key from own) then true
          else pg_try_advisory_lock(${LOCK_CLASS}, hashtext(w.name)) end as held
        from session, unnest(${wanted}::text[]) as w (name)`;
      const names = new Set(rows.filter(({ name, held }) => held && (resting.get(name) ?? 0) <= now).map(({ name }) => name));
      const gained = new Set([...names].filter((name) => !before.has(name)));
      before = names;
      // What the answer says is true when the question leaves, and not yet when it comes back late.
      answer = { names, untilMs: now + ANSWER_COUNTS_MS };
      return { names, gained, others: new Set(rows.filter(({ held }) => !held).map(({ name }) => name)) };
    } catch (error) {
      log.warn(toldOf(error), 'locks of periodic work cannot be asked for');
      return undefined;
    } finally {
      asking = undefined;
    }
  };

  return {
    async held() {
      // A session that ended took its locks with it.
      if (answer !== undefined && performance.now() < answer.untilMs && database.pool().idle > 0)
        return { names: answer.names, gained: new Set(), others: new Set() };
      asking ??= ask();
      return asking;
    },
    async rest(name, milliseconds) {
      resting.set(name, performance.now() + milliseconds);
      const without = (names: ReadonlySet<string>): ReadonlySet<string> => new Set([...names].filter((one) => one !== name));
      before = without(before);
      if (answer !== undefined) answer = { ...answer, names: without(answer.names) };
      await database.sql`select pg_advisory_unlock(${LOCK_CLASS}, hashtext(${name}))`.catch((error: unknown) =>
        log.warn(toldOf(error), 'a lock of periodic work cannot be given back'),
      );
    },
  };
}
