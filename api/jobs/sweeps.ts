import type { Deps } from '#api/deps.ts';
import { toldOf } from '#shared/platform/database-problems.ts';
import type { Database } from '#shared/platform/postgres.ts';
import type { Sweep } from './registry.ts';

/** First half of the advisory lock key; the second is a hash of the sweep's name. */
const LOCK_CLASS = 7_582_002;

export interface Sweeper {
  /** Runs every sweep once, now, and waits for all; for the development clock. */
  runAll(): Promise<void>;
  /** Starts no more and waits for those that run. */
  stop(): Promise<void>;
}

/**
 * Runs each sweep about every `everySeconds`, never overlapping itself; a replica skips a sweep another one is running,
 * unless each is to run it.
 * The locks live on one connection of their own, so that waiting sweeps cannot use up the pool they need; the sweeps have a
 * small pool with more patience than requests, because some read whole tables.
 */
export function startSweeper(deps: Deps, sweeps: readonly Sweep[]): Sweeper {
  const locks = deps.db.apart({ name: 'sluice-sweeps', max: 1, lifetimeMs: Number.POSITIVE_INFINITY });
  const patient = deps.db.apart({ name: 'sluice-sweeps', max: 6, deadlines: 'long' });
  const unhurried: Deps = { ...deps, db: patient };
  const running = new Map<string, Promise<void>>();
  const timers = new Map<string, NodeJS.Timeout>();
  let stopping = false;

  const run = (sweep: Sweep): Promise<void> => {
    const current = running.get(sweep.name);
    if (current !== undefined) return current;
    const started = (sweep.everyReplica ? runNow(unhurried, sweep) : runLocked(unhurried, locks, sweep)).finally(() => running.delete(sweep.name));
    running.set(sweep.name, started);
    return started;
  };
  const begin = (sweep: Sweep): void => {
    if (stopping) return;
    timers.set(
      sweep.name,
      setTimeout(() => begin(sweep), pauseOf(sweep)),
    );
    void run(sweep);
  };
  for (const sweep of sweeps) begin(sweep);
  return {
    runAll: async () => {
      await Promise.all([...running.values()]);
      for (const sweep of sweeps) await run(sweep);
    },
    stop: async () => {
      stopping = true;
      for (const timer of timers.values()) clearTimeout(timer);
      await Promise.all([...running.values()]);
      await Promise.all([locks.end(), patient.end()]);
    },
  };
}

/** Replicas that started together must not meet at the same lock for ever: one would never run a sweep and never renew its gauges. */
function pauseOf({ everySeconds }: Sweep): number {
  return everySeconds * (950 + 100 * Math.random());
}

async function runNow(deps: Deps, sweep: Sweep): Promise<void> {
  try {
    const moved = await sweep.run(deps);
    if (moved > 0) deps.log.info({ sweep: sweep.name, moved }, 'swept');
  } catch (error) {
    deps.log.warn({ ...toldOf(error), sweep: sweep.name }, 'sweep failed');
  }
}

async function runLocked(deps: Deps, locks: Database, sweep: Sweep): Promise<void> {
  try {
    const [lock] = await locks.sql<[{ held: boolean }]>`select pg_try_advisory_lock(${LOCK_CLASS}, hashtext(${sweep.name})) as held`;
    if (!lock.held) return;
    try {
      await runNow(deps, sweep);
    } finally {
      await locks.sql`select pg_advisory_unlock(${LOCK_CLASS}, hashtext(${sweep.name}))`;
    }
  } catch (error) {
    deps.log.warn({ ...toldOf(error), sweep: sweep.name }, 'sweep failed');
  }
}
