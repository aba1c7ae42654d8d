import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { periodicWork } from '#api/jobs/periodic-work.ts';
import type { Periodic } from '#api/jobs/work.ts';
import { createApiMetrics } from '#shared/platform/metrics.ts';
import type { Database } from '#shared/platform/postgres.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { aGate, enqueue, ownJobStage, recorder, start, theWorld } from '#test/fixtures/job-stage.ts';

ownJobStage();

describe('periodic work', () => {
  /** The same database, which adds what is asked of it to `asked`. */
  const noting = (database: Database, asked: string[]): Database => ({
    ...database,
    sql: new Proxy(database.sql, {
      apply(sql, self, [first, ...rest]: [TemplateStringsArray, ...unknown[]]) {
        asked.push(String(first));
        return Reflect.apply(sql, self, [first, ...rest]);
      },
    }),
  });

  /** Work that takes so long and counts its runs, and how many there were at a time. */
  const counted = (everySeconds: number, takesMs: number, end: (runs: number) => void = () => undefined) => {
    const seen = { running: 0, most: 0, runs: 0 };
    const run = async (): Promise<number> => {
      seen.runs += 1;
      seen.running += 1;
      seen.most = Math.max(seen.most, seen.running);
      await pause(takesMs);
      seen.running -= 1;
      end(seen.runs);
      return 0;
    };
    return { seen, test: { everySeconds, run } satisfies Periodic };
  };

  it('runs at once and on its interval, never overlapping itself, and goes on after a failure', async () => {
    const { test, seen } = counted(0.02, 50, (runs) => {
      if (runs === 1) throw new Error('first time unlucky');
    });
    await start({ periodic: { test } });
    await waitFor(() => seen.runs >= 4, { what: 'four runs' });
    expect(seen.most).toBe(1);
  });

  it('is run by one replica at a time', async () => {
    const { test, seen } = counted(0.01, 20);
    await Promise.all([start({ periodic: { test } }), start({ periodic: { test } }), start({ periodic: { test } })]);
    await waitFor(() => seen.runs >= 10, { what: 'ten runs' });
    expect(seen.most).toBe(1);
  });

  it('asks for all its locks in one statement, keeps them from run to run, and leaves them to another replica when it stops', async () => {
    const asked: string[] = [];
    const { db } = theWorld().deps;
    const ran: string[] = [];
    const workOf = (replica: string): Record<string, Periodic> =>
      Object.fromEntries(['one', 'another'].map((name): [string, Periodic] => [name, { everySeconds: 0.05, run: async () => ran.push(replica) }]));
    const first = await start({ periodic: workOf('first') }, { ...theWorld().deps, db: { ...db, apart: (options) => noting(db.apart(options), asked) } });
    await waitFor(() => ran.length >= 6, { what: 'three runs of both' });
    expect(asked.filter((text) => text.includes('advisory'))).toHaveLength(1);
    await start({ periodic: workOf('second') });
    expect(new Set(ran)).toEqual(new Set(['first']));
    await first.stop();
    await waitFor(() => ran.includes('second'), { what: 'the other replica to take over' });
  });

  it('is not begun on the word of a session that has ended', async () => {
    const { sql } = theWorld().database;
    const holders = () =>
      sql<{ pid: number }[]>`select distinct pid from pg_locks
        where locktype = 'advisory' and classid = 7582002 and database = (select oid from pg_database where datname = current_database())`;
    const locked: boolean[] = [];
    const test: Periodic = { everySeconds: 0.05, run: async () => locked.push((await holders()).length > 0) };
    await start({ periodic: { test } });
    await waitFor(() => locked.includes(true), { what: 'a run' });
    const [holder] = await holders();
    await sql`select pg_terminate_backend(${holder?.pid ?? 0})`;
    await waitFor(async () => (await holders()).some(({ pid }) => pid !== holder?.pid), { what: 'a lock of a new session' });
    const before = locked.length;
    await waitFor(() => locked.slice(before).includes(true), { what: 'a run under it' });
    // But for one that had begun already, and one before this process heard of the end.
    expect(locked.filter((held) => !held).length).toBeLessThanOrEqual(2);
  });

  it('that says it has nothing to do is not run before its time, and work whose question fails is; what is due together is one question', async () => {
    const asked: string[] = [];
    const { db } = theWorld().deps;
    const ran: string[] = [];
    let broken = false;
    const work = (name: string, answer: boolean, more: Partial<Periodic> = {}): [string, Periodic] => [
      name,
      {
        everySeconds: 0.05,
        look: (sql) => (broken ? sql`1 / 0 = 1` : sql`${answer}::boolean`),
        run: async () => ran.push(name),
        ...more,
      },
    ];
    const periodic = Object.fromEntries([work('busy', true), work('idle', false), work('patient', false, { anywaySeconds: 0.2 })]);
    await start({ periodic }, { ...theWorld().deps, db: { ...db, apart: (options) => noting(db.apart(options), asked) } });
    await waitFor(() => ran.filter((name) => name === 'busy').length >= 8 && ran.filter((name) => name === 'patient').length >= 2, { what: 'those with work' });
    expect(ran).not.toContain('idle');
    // All of it is due when it starts, and only the patient one runs unasked. Later, on a busy machine, some may still run when the rest is due.
    const firstQuestion = asked.findIndex((text) => text.startsWith('select array['));
    expect(asked.slice(0, firstQuestion).filter((text) => text.includes('::boolean'))).toHaveLength(2);
    broken = true;
    await waitFor(() => ran.includes('idle'), { what: 'what cannot be asked' });
  });

  it('that has something to write each time writes it with the questions, and by itself where they fail', async () => {
    const asked: string[] = [];
    const { db } = theWorld().deps;
    const beat = async (): Promise<number> =>
      Number((await theWorld().database.sql`select extract(epoch from clock_timestamp() - beat_at)::float8 as ago from database_epochs`)[0]?.ago);
    const age = (): Promise<unknown> =>
      theWorld().database.sql`update database_epochs set history = database_history(), beat_at = clock_timestamp() - interval '40 seconds'`;
    let broken = false;
    const ran: string[] = [];
    const periodic: Record<string, Periodic> = {
      'keep-history': {
        ...periodicWork['keep-history'],
        everySeconds: 0.05,
        run: async (deps) => {
          ran.push('keep-history');
          return periodicWork['keep-history'].run(deps);
        },
      },
      other: { everySeconds: 0.05, look: (sql) => (broken ? sql`1 / 0 = 1` : sql`false`), run: async () => ran.push('other') },
    };
    await age();
    await start({ periodic }, { ...theWorld().deps, db: { ...db, apart: (options) => noting(db.apart(options), asked) } });
    await waitFor(async () => (await beat()) < 30, { what: 'the history to be kept' });
    expect(ran).toEqual([]);
    broken = true;
    await waitFor(() => ran.includes('keep-history') && ran.includes('other'), { what: 'what cannot be asked' });
    await age();
    await waitFor(async () => (await beat()) < 30, { what: 'the history to be kept by itself' });
  });

  it('of which a part of the time is the most rests after a run for as long as that makes, also after one that failed', async () => {
    const runs: { began: number; ended: number }[] = [];
    const long: Periodic = {
      everySeconds: 0.05,
      mostOfTime: 0.2,
      run: async () => {
        const began = performance.now();
        await pause(100);
        runs.push({ began, ended: performance.now() });
        if (runs.length === 1) throw new Error('as long as the others');
        return 0;
      },
    };
    await start({ periodic: { long } });
    await waitFor(() => runs.length >= 3, { what: 'three runs' });
    // It may begin within a tenth of its period before it is due.
    for (const [at, { began, ended }] of runs.slice(0, -1).entries()) expect((runs[at + 1]?.began ?? 0) - began).toBeGreaterThan((ended - began) / 0.2 - 10);
  });

  it('that others wait for is not kept by work that has all connections of periodic work for minutes', async () => {
    const { sql } = theWorld().database;
    // Four statements and eight transactions: more than periodic work has connections for.
    const long = Object.fromEntries(
      Array.from({ length: 12 }, (_, at): [string, Periodic] => [
        `long ${at}`,
        {
          everySeconds: 3_600,
          run: async ({ db }) => {
            await (at % 3 === 0 ? db.sql`select pg_sleep(100)` : db.transaction((tx) => tx`select pg_sleep(100)`));
            return 0;
          },
        },
      ]),
    );
    const sleeping = () => sql<{ pid: number }[]>`
      select pid from pg_stat_activity where query like 'select pg_sleep%' and state = 'active' and datname = current_database()`;
    let kept = 0;
    const prompt: Periodic = {
      everySeconds: 0.1,
      prompt: true,
      run: async ({ db }) => {
        await db.sql`select 1`;
        await db.transaction((tx) => tx`select 1`);
        kept += 1;
        return 0;
      },
    };
    await start({ periodic: { ...long, prompt } });
    await waitFor(async () => (await sleeping()).length >= 9, { what: 'long work to have all connections' });
    const before = kept;
    await waitFor(() => kept > before + 1, { what: 'what others wait for to be done' });
    for (const { pid } of await sleeping()) await sql`select pg_terminate_backend(${pid})`;
  });

  it('is not begun any more once a stop was asked for, though the answer that it has something to do comes later', async () => {
    const { sql } = theWorld().database;
    const ran: string[] = [];
    const test: Periodic = { everySeconds: 3_600, look: (questions) => questions`pg_advisory_xact_lock(11) is not null`, run: async () => ran.push('test') };
    const holder = await sql.reserve();
    try {
      await holder`select pg_advisory_lock(11)`;
      const jobs = await start({ periodic: { test } });
      const waiting = () => sql`select 1 from pg_locks where locktype = 'advisory' and objid = 11 and not granted`;
      await waitFor(async () => (await waiting()).length === 1, { what: 'the question' });
      const stopping = jobs.stop();
      await holder`select pg_advisory_unlock(11)`;
      await stopping;
    } finally {
      holder.release();
    }
    expect(ran).toEqual([]);
  });

  it('without a question does not wait for those of others', async () => {
    let beats = 0;
    const asked = aGate();
    const slow: Periodic = {
      everySeconds: 3_600,
      look: (sql) => sql`(select true from pg_sleep(2))`,
      run: async () => {
        asked.resolve();
        return 0;
      },
    };
    const often: Periodic = { everySeconds: 0.1, run: async () => ++beats };
    await start({ periodic: { slow, often } });
    await asked.promise;
    expect(beats).toBeGreaterThan(3);
  });

  it('that runs now and then anyway is not run each time because the question of another fails', async () => {
    const ran: string[] = [];
    const broken: Periodic = { everySeconds: 0.05, look: (sql) => sql`1 / 0 = 1`, run: async () => ran.push('broken') };
    const seldom: Periodic = { everySeconds: 0.05, look: (sql) => sql`false`, anywaySeconds: 3_600, run: async () => ran.push('seldom') };
    await start({ periodic: { broken, seldom } });
    await waitFor(() => ran.filter((name) => name === 'broken').length >= 10, { what: 'ten rounds' });
    expect(ran.filter((name) => name === 'seldom')).toHaveLength(1);
  });

  it('that runs long keeps its lock: it is asked about meanwhile, though nothing else is due', async () => {
    const asked: string[] = [];
    const { db } = theWorld().deps;
    const done = aGate();
    const long: Periodic = { everySeconds: 3_600, run: () => done.promise.then(() => 0) };
    await start({ periodic: { long } }, { ...theWorld().deps, db: { ...db, apart: (options) => noting(db.apart(options), asked) } });
    await waitFor(() => asked.filter((text) => text.includes('pg_try_advisory_lock')).length >= 2, { what: 'the locks to be asked about' });
    done.resolve();
  });

  it('that is none of this process is kept from no other', async () => {
    const ran: string[] = [];
    const workOf = (replica: string, isOurs: boolean): Record<string, Periodic> => ({
      chosen: { everySeconds: 0.05, isOurs: () => isOurs, run: async () => ran.push(replica) },
      all: { everySeconds: 0.05, run: async () => ran.push('all') },
    });
    await start({ periodic: workOf('first', false) });
    await waitFor(() => ran.includes('all'), { what: 'the first one to have its locks' });
    await start({ periodic: workOf('second', true) });
    await waitFor(() => ran.includes('second'), { what: 'the other replica to do it' });
    expect(ran).not.toContain('first');
  });

  it('that fails here again and again is done by another replica', async () => {
    const done: string[] = [];
    let failed = 0;
    const failing: Periodic = {
      everySeconds: 0.1,
      run: async () => {
        failed += 1;
        throw new Error('no way out of this host');
      },
    };
    await start({ periodic: { failing } });
    await waitFor(() => failed > 0, { what: 'a failure' });
    await start({ periodic: { failing: { everySeconds: 0.1, run: async () => done.push('by another') } } });
    await waitFor(() => done.length > 0, { what: 'the other replica' });
  });

  it('is shown by the replica that does it, and no longer by one that did it before', async () => {
    const [first, second] = [createApiMetrics('test'), createApiMetrics('test')];
    const shown = async ({ scrape }: typeof first): Promise<string | undefined> =>
      /^sluice_unexplained_balances\{chain="tron"\} (\d+)$/m.exec((await scrape()).body)?.[1];
    let fails = false;
    const workOf = (metrics: typeof first, count: number): Record<string, Periodic> => ({
      test: {
        everySeconds: 0.1,
        figures: ['unexplainedBalances'],
        run: async () => {
          if (metrics === first && fails) throw new Error('no way out of this host');
          metrics.unexplainedBalances.set({ chain: 'tron' }, count);
          return 0;
        },
      },
    });
    await start({ periodic: workOf(first, 3) }, { ...theWorld().deps, metrics: first });
    await waitFor(async () => (await shown(first)) === '3', { what: 'the first replica to show what it saw' });
    await start({ periodic: workOf(second, 0) }, { ...theWorld().deps, metrics: second });
    fails = true;
    await waitFor(async () => (await shown(second)) === '0', { what: 'the second replica to do it' });
    await waitFor(async () => (await shown(first)) === undefined, { what: 'the first replica to show it no more' });
    expect(await shown(second)).toBe('0');
  });

  it('whose locks could not be asked for is begun with what is due next, however seldom it runs', async () => {
    const { db } = theWorld().deps;
    let refused = 0;
    const failing = (database: Database): Database => ({
      ...database,
      sql: new Proxy(database.sql, {
        apply: async (sql, self, [first, ...rest]: [TemplateStringsArray, ...unknown[]]) => {
          if (String(first).includes('pg_try_advisory_lock') && refused++ === 0) throw new Error('the line is down');
          return Reflect.apply(sql, self, [first, ...rest]);
        },
      }),
    });
    let ran = false;
    const hourly: Periodic = {
      everySeconds: 3_600,
      run: async () => {
        ran = true;
        return 0;
      },
    };
    const often: Periodic = { everySeconds: 0.05, run: async () => 0 };
    await start({ periodic: { hourly, often } }, { ...theWorld().deps, db: { ...db, apart: (options) => failing(db.apart(options)) } });
    await waitFor(() => ran, { what: 'the work of an hour to run' });
  });

  it('is run on demand before due jobs, for the development clock', async () => {
    const job = recorder();
    const test: Periodic = { everySeconds: 3_600, run: async () => (await enqueue()).length };
    const jobs = await start({ jobs: [job], periodic: { test } });
    await waitFor(() => job.runs.length === 1, { what: "the first run's job" });
    await jobs.runDue();
    expect(job.runs).toHaveLength(2);
  });
});
