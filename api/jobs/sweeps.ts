import type { Deps } from '#api/deps.ts';
import { connect, type Database } from '#shared/platform/postgres.ts';
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
 * Runs each sweep on its own interval, never overlapping itself; a replica skips a sweep another one is running.
 * The locks live on one connection of their own, so that waiting sweeps cannot use up the pool they need.
 */
export function startSweeper(deps: Deps, sweeps: readonly Sweep[]): Sweeper {
  const locks = connect(deps.config.DATABASE_URL, { name: 'sluice-sweeps', max: 1 });
  const running = new Map<string, Promise<void>>();
  let stopping = false;

  const run = (sweep: Sweep): Promise<void> => {
    const current = running.get(sweep.name);
    if (current !== undefined) return current;
    const started = runLocked(deps, locks, sweep).finally(() => running.delete(sweep.name));
    running.set(sweep.name, started);
    return started;
  };
  const timers = sweeps.map((sweep) => {
    void run(sweep);
    return setInterval(() => void (stopping || run(sweep)), sweep.everySeconds * 1_000);
  });
  return {
    runAll: async () => {
      await Promise.all([...running.values()]);
      for (const sweep of sweeps) await run(sweep);
    },
    stop: async () => {
      stopping = true;
      for (const timer of timers) clearInterval(timer);
      await Promise.all([...running.values()]);
      await locks.end();
    },
  };
}

async function runLocked(deps: Deps, locks: Database, sweep: Sweep): Promise<void> {
  try {
    const [lock] = await locks.sql<[{ held: boolean }]>`select pg_try_advisory_lock(${LOCK_CLASS}, hashtext(${sweep.name})) as held`;
    if (!lock.held) return;
    try {
      const moved = await sweep.run(deps);
      if (moved > 0) deps.log.info({ sweep: sweep.name, moved }, 'swept');
    } finally {
      await locks.sql`select pg_advisory_unlock(${LOCK_CLASS}, hashtext(${sweep.name}))`;
    }
  } catch (error) {
    deps.log.warn({ err: error, sweep: sweep.name }, 'sweep failed');
  }
}
