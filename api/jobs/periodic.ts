import type { Deps } from '#api/deps.ts';
import { toldOf } from '#shared/platform/database-problems.ts';
import type { Database } from '#shared/platform/postgres.ts';
import type { Periodic } from './work.ts';

/** First half of the advisory lock key; the second is a hash of the work's name. */
const LOCK_CLASS = 7_582_002;

type Named = Periodic & { name: string };

export interface PeriodicRunner {
  /** Runs all of it once, now, and waits for all; for the development clock. */
  runAll(): Promise<void>;
  /** Starts no more and waits for those that run. */
  stop(): Promise<void>;
}

/**
 * Runs each piece of work about every `everySeconds`, never overlapping itself; a replica skips what another one is running,
 * unless each is to run it.
 * The locks live on one connection of their own, so that work that waits cannot use up the pool it needs; the work has a
 * small pool with more patience than requests, because some read whole tables.
 */
export function startPeriodic(deps: Deps, work: Readonly<Record<string, Periodic>>): PeriodicRunner {
  const locks = deps.db.apart({ name: 'sluice-periodic', max: 1, lifetimeMs: Number.POSITIVE_INFINITY });
  const patient = deps.db.apart({ name: 'sluice-periodic', max: 6, deadlines: 'long' });
  const unhurried: Deps = { ...deps, db: patient };
  const all = Object.entries(work).map(([name, one]): Named => ({ ...one, name }));
  const running = new Map<string, Promise<void>>();
  const timers = new Map<string, NodeJS.Timeout>();
  let stopping = false;

  const run = (named: Named): Promise<void> => {
    const current = running.get(named.name);
    if (current !== undefined) return current;
    const started = (named.everyReplica ? runNow(unhurried, named) : runLocked(unhurried, locks, named)).finally(() => running.delete(named.name));
    running.set(named.name, started);
    return started;
  };
  const begin = (named: Named): void => {
    if (stopping) return;
    timers.set(
      named.name,
      setTimeout(() => begin(named), pauseOf(named)),
    );
    void run(named);
  };
  for (const named of all) begin(named);
  return {
    runAll: async () => {
      await Promise.all([...running.values()]);
      for (const named of all) await run(named);
    },
    stop: async () => {
      stopping = true;
      for (const timer of timers.values()) clearTimeout(timer);
      await Promise.all([...running.values()]);
      await Promise.all([locks.end(), patient.end()]);
    },
  };
}

/** Replicas that started together must not meet at the same lock for ever: one would never get to run it and never renew its gauges. */
function pauseOf({ everySeconds }: Periodic): number {
  return everySeconds * (950 + 100 * Math.random());
}

async function runNow(deps: Deps, named: Named): Promise<void> {
  try {
    const moved = await named.run(deps);
    if (moved > 0) deps.log.info({ work: named.name, moved }, 'periodic work moved rows');
  } catch (error) {
    deps.log.warn({ ...toldOf(error), work: named.name }, 'periodic work failed');
  }
}

async function runLocked(deps: Deps, locks: Database, named: Named): Promise<void> {
  try {
    const [lock] = await locks.sql<[{ held: boolean }]>`select pg_try_advisory_lock(${LOCK_CLASS}, hashtext(${named.name})) as held`;
    if (!lock.held) return;
    try {
      await runNow(deps, named);
    } finally {
      await locks.sql`select pg_advisory_unlock(${LOCK_CLASS}, hashtext(${named.name}))`;
    }
  } catch (error) {
    deps.log.warn({ ...toldOf(error), work: named.name }, 'periodic work failed');
  }
}
