import { waitFor } from '#ops/dev/services/wait.ts';
import { connect, type Database } from '#shared/platform/postgres.ts';

const DURATION = /\[(\d+)\] LOG: {2}duration: ([\d.]+) ms/;

/** How long Postgres works, by its own log. */
export interface LoggedWork {
  /** Milliseconds of parsing, binding and running statements since the last mark. */
  mark(): Promise<number>;
  end(): Promise<void>;
}

/** Has Postgres log every statement, also of connections that are open, and sums what it does for those whose application name begins so. */
export async function logWork(database: Database & { url: string }, log: readonly string[], application: string): Promise<LoggedWork> {
  const own = connect(database.url, { name: 'sluice-bench-log', max: 1 });
  const setLogging = async (on: boolean): Promise<void> => {
    await own.sql.unsafe(on ? 'alter system set log_min_duration_statement = 0' : 'alter system reset log_min_duration_statement');
    await own.sql`select pg_reload_conf()`;
  };
  await setLogging(true);
  let from = log.length;
  let marks = 0;
  return {
    async mark() {
      marks += 1;
      const text = `bench-mark-${marks}`;
      const isMark = (line: string): boolean => line.includes(text);
      // Asked again until it is logged: a connection hears of the setting between two statements.
      await waitFor(
        async () => {
          await own.sql.unsafe(`select '${text}'`);
          return log.slice(from).some(isMark);
        },
        { what: 'Postgres to log a statement' },
      );
      const pids = new Set(
        (await own.sql<{ pid: number }[]>`select pid from pg_stat_activity where starts_with(application_name, ${application})`).map(({ pid }) => pid),
      );
      const to = from + log.slice(from).findIndex(isMark);
      const durations = log.slice(from, to).flatMap((line) => {
        const [, pid, ms] = DURATION.exec(line) ?? [];
        return pid !== undefined && pids.has(Number(pid)) ? [Number(ms)] : [];
      });
      // What was logged after the mark, while it was waited for, is of the time after it.
      from = to + 1;
      return durations.reduce((sum, ms) => sum + ms, 0);
    },
    async end() {
      await setLogging(false);
      await own.end();
    },
  };
}
