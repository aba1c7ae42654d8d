import type { Deps } from '#api/deps.ts';
import { handOverDue } from '#api/store/outbox.ts';
import { toldOf } from '#shared/platform/database-problems.ts';
import type { JobQueue } from './queue.ts';
import type { Job } from './work.ts';
import { runJob } from './run-job.ts';

const POLL_MILLISECONDS = 500;
const BATCH = 100;
/** A worker that has not started a row by then never got it (Redis was wiped): it is handed over again. */
const HAND_OVER_SECONDS = 5;

export interface Relay {
  /** Looks at once instead of at the next poll. */
  wake(): void;
  /** Stops looking, starts no more rows, and waits for those it is running itself. */
  stop(): Promise<void>;
}

/**
 * Finds due outbox rows of one job and hands their ids to the queue; while Redis is down it runs them itself, with the
 * same concurrency. Postgres decides what is due, so nothing depends on Redis having kept anything (architecture 2).
 */
export function startRelay(deps: Deps, job: Job, queue: JobQueue): Relay {
  let stopping = false;
  let woken = false;
  let rouse: () => void = () => undefined;
  const own = openPool(deps, job);

  const pass = async (): Promise<number> => {
    const room = BATCH - own.size();
    if (room <= 0) return 0;
    const ids = await handOverDue(deps.db.sql, job.topic, room, HAND_OVER_SECONDS);
    if (ids.length === 0) return 0;
    try {
      await queue.push(job.topic, ids);
    } catch (error) {
      deps.log.debug({ err: error, topic: job.topic }, 'running jobs without redis');
      own.add(ids);
    }
    return ids.length;
  };

  const loop = async (): Promise<void> => {
    let failing = false;
    while (!stopping) {
      woken = false;
      let found = 0;
      try {
        found = await pass();
        failing = false;
      } catch (error) {
        if (!failing) deps.log.warn({ ...toldOf(error), topic: job.topic }, 'relay pass failed; trying again');
        failing = true;
      }
      if (found === BATCH || woken || stopping) continue;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, POLL_MILLISECONDS);
        rouse = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  };
  const running = loop();

  const wake = (): void => {
    woken = true;
    rouse();
  };
  return {
    wake,
    stop: async () => {
      stopping = true;
      wake();
      await running;
      await own.stop();
    },
  };
}

interface Pool {
  /** Rows that wait or run here. */
  size(): number;
  /** Runs these rows as soon as there is room; one that is here already is not added again. */
  add(outboxIds: readonly string[]): void;
  /** Starts no more and waits for those that run. */
  stop(): Promise<void>;
}

/** Runs rows in this process, at most `job.concurrency` at a time; a slow one delays only those that come after the last free place. */
function openPool(deps: Deps, job: Job): Pool {
  const waiting = new Set<string>();
  const running = new Map<string, Promise<void>>();
  const fill = (): void => {
    for (const id of waiting) {
      if (running.size >= job.concurrency) return;
      waiting.delete(id);
      const run = runJob(deps, job, id)
        .then(() => undefined)
        .catch((error) => deps.log.warn({ err: error, topic: job.topic }, 'a job could not be recorded; its lease runs out'))
        .finally(() => {
          running.delete(id);
          fill();
        });
      running.set(id, run);
    }
  };
  return {
    size: () => waiting.size + running.size,
    add: (outboxIds) => {
      for (const id of outboxIds) if (!running.has(id)) waiting.add(id);
      fill();
    },
    stop: async () => {
      waiting.clear();
      await Promise.all(running.values());
    },
  };
}

/**
 * Runs every due row of the given jobs here and now, and those that become due by it, for as long as any gets done; for the
 * development clock and for tests. One that only asks to be looked at again, at once, does not keep it.
 * @returns how many times a row ran
 */
export async function runDueJobs(deps: Deps, jobs: readonly Job[]): Promise<number> {
  const tried = new Set<string>();
  let total = 0;
  for (let goesOn = true; goesOn; ) {
    goesOn = false;
    for (const job of jobs) {
      for (const id of await handOverDue(deps.db.sql, job.topic, BATCH, 0)) {
        const outcome = await runJob(deps, job, id);
        if (outcome === 'not-run') continue;
        total += 1;
        if (outcome === 'done' || !tried.has(id)) goesOn = true;
        tried.add(id);
      }
    }
  }
  return total;
}
