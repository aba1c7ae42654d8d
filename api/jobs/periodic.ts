import { setTimeout as pause } from 'node:timers/promises';
import type { Deps } from '#api/deps.ts';
import { toldOf } from '#shared/platform/database-problems.ts';
import type { Database } from '#shared/platform/postgres.ts';
import type { Periodic } from './work.ts';

/** First half of the advisory lock key; the second is a hash of the work's name. */
const LOCK_CLASS = 7_582_002;

/** What is due within this part of its period begins with what is due now. */
const TOGETHER_WITHIN = 0.1;
/** How long a lock may be held beyond its work, so that those of short work go back in one statement. */
const RELEASED_WITHIN_MS = 100;

type Named = Periodic & { name: string };
/** Due at a moment of this process' own clock, milliseconds. */
type Due = Named & { dueMs: number };

export interface PeriodicRunner {
  /** Runs all of it once, now, and waits for all; for the development clock. */
  runAll(): Promise<void>;
  /** Starts no more and waits for those that run. */
  stop(): Promise<void>;
}

/**
 * Runs each piece of work about every `everySeconds`, never overlapping itself; a replica skips what another one is running,
 * unless each is to run it. What is due at about the same time begins together, and asks for its locks in one statement.
 * The locks live on one connection of their own, so that work that waits cannot use up the pool it needs; the work has a
 * small pool with more patience than requests, because some read whole tables.
 */
export function startPeriodic(deps: Deps, work: Readonly<Record<string, Periodic>>): PeriodicRunner {
  const lockConnection = deps.db.apart({ name: 'sluice-periodic', max: 1, lifetimeMs: Number.POSITIVE_INFINITY });
  const patient = deps.db.apart({ name: 'sluice-periodic', max: 6, deadlines: 'long' });
  const unhurried: Deps = { ...deps, db: patient };
  const locks = periodicLocks(deps, lockConnection);
  const all = Object.entries(work).map(([name, one]): Due => ({ ...one, name, dueMs: 0 }));
  /** Of what runs: when its work is done, and when its lock is given back too. */
  const running = new Map<string, { worked: Promise<unknown>; ended: Promise<void> }>();
  let timer: NodeJS.Timeout | undefined;
  let stopping = false;

  /** Begins all of them that do not run yet; answers when all of it is done. */
  const run = async (some: readonly Due[]): Promise<void> => {
    const begun = some.filter(({ name }) => !running.has(name));
    const locked = begun.filter((named) => named.everyReplica === undefined);
    const held = locks.take(locked.map(({ name }) => name)).then((names) => {
      // Work of an hour is not to wait for the next one because one statement failed.
      if (names === undefined) for (const one of locked) one.dueMs = 0;
      return names ?? new Set<string>();
    });
    for (const named of begun) {
      const { name } = named;
      const worked = named.everyReplica ? runNow(unhurried, named).then(() => false) : runLocked(unhurried, held, named);
      const ended = worked.then((wasHeld) => (wasHeld ? locks.release(name) : undefined)).finally(() => running.delete(name));
      running.set(name, { worked, ended });
    }
    await Promise.all(some.map(({ name }) => running.get(name)?.worked));
  };
  const allEnded = (): Promise<unknown> => Promise.all([...running.values()].map(({ ended }) => ended));
  const beat = (): void => {
    if (stopping || all.length === 0) return;
    const now = performance.now();
    const due = all.filter((one) => one.dueMs <= now + one.everySeconds * TOGETHER_WITHIN * 1_000);
    for (const one of due) one.dueMs = now + one.everySeconds * 1_000;
    void run(due);
    // Replicas that started together must not meet at the same locks for ever: one would never get to run anything.
    const next = Math.min(...all.map(({ dueMs }) => dueMs)) - now;
    timer = setTimeout(beat, next * (1 + TOGETHER_WITHIN * Math.random()));
  };
  beat();
  return {
    runAll: async () => {
      await allEnded();
      for (const named of all) await run([named]);
    },
    stop: async () => {
      stopping = true;
      clearTimeout(timer);
      await allEnded();
      await Promise.all([lockConnection.end(), patient.end()]);
    },
  };
}

interface PeriodicLocks {
  /** Names of those that nobody else holds; undefined where Postgres cannot be asked. */
  take(names: readonly string[]): Promise<ReadonlySet<string> | undefined>;
  /** Gives one back, with those that end in the same moment. */
  release(name: string): Promise<void>;
}

function periodicLocks(deps: Deps, { sql }: Database): PeriodicLocks {
  let ended: { names: string[]; released: Promise<void> } | undefined;
  const trying = async <T>(what: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await what();
    } catch (error) {
      deps.log.warn(toldOf(error), 'locks of periodic work cannot be asked for or given back');
    }
  };
  return {
    async take(names) {
      if (names.length === 0) return new Set();
      return trying(async () => {
        const rows = await sql<{ name: string; held: boolean }[]>`
          select w.name, pg_try_advisory_lock(${LOCK_CLASS}, hashtext(w.name)) as held from unnest(${names as string[]}::text[]) as w (name)`;
        return new Set(rows.filter((row) => row.held).map((row) => row.name));
      });
    },
    release(name) {
      if (ended === undefined) {
        const names: string[] = [];
        const released = pause(RELEASED_WITHIN_MS).then(() => {
          ended = undefined;
          return trying(async () => {
            await sql`select pg_advisory_unlock(${LOCK_CLASS}, hashtext(w.name)) from unnest(${names}::text[]) as w (name)`;
          });
        });
        ended = { names, released };
      }
      ended.names.push(name);
      return ended.released;
    },
  };
}

async function runNow(deps: Deps, named: Named): Promise<void> {
  try {
    const moved = await named.run(deps);
    if (moved > 0) deps.log.info({ work: named.name, moved }, 'periodic work moved rows');
  } catch (error) {
    deps.log.warn({ ...toldOf(error), work: named.name }, 'periodic work failed');
  }
}

/** Answers whether nobody else held its lock, so that it ran. */
async function runLocked(deps: Deps, held: Promise<ReadonlySet<string>>, named: Named): Promise<boolean> {
  if (!(await held).has(named.name)) return false;
  await runNow(deps, named);
  return true;
}
