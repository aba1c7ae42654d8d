import type { Deps } from '#api/deps.ts';
import { handOverDue } from '#api/store/outbox.ts';
import type { JobQueue } from './queue.ts';
import type { Job } from './registry.ts';
import { runJob } from './run-job.ts';

const POLL_MILLISECONDS = 500;
const BATCH = 100;
/** A worker that has not started a row by then never got it (Redis was wiped): it is handed over again. */
const HAND_OVER_SECONDS = 5;

export interface Relay {
  /** Looks at once instead of at the next poll. */
  wake(): void;
  /** Stops looking, and waits for the rows it is running itself. */
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

  const pass = async (): Promise<number> => {
    const ids = await handOverDue(deps.db.sql, job.topic, BATCH, HAND_OVER_SECONDS);
    if (ids.length === 0) return 0;
    try {
      await queue.push(job.topic, ids);
    } catch (error) {
      deps.log.debug({ err: error, topic: job.topic }, 'running jobs without redis');
      await runAll(deps, job, ids, () => stopping);
    }
    return ids.length;
  };

  const loop = async (): Promise<void> => {
    while (!stopping) {
      woken = false;
      let found = 0;
      try {
        found = await pass();
      } catch (error) {
        deps.log.warn({ err: error, topic: job.topic }, 'relay pass failed');
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
    },
  };
}

/** Runs the given rows here, at most `job.concurrency` at a time, until `stop` says no more are to be started. */
async function runAll(deps: Deps, job: Job, outboxIds: readonly string[], stop: () => boolean): Promise<void> {
  const waiting = [...outboxIds];
  const worker = async (): Promise<void> => {
    for (let id = waiting.shift(); id !== undefined && !stop(); id = waiting.shift()) await runJob(deps, job, id);
  };
  await Promise.all(Array.from({ length: job.concurrency }, worker));
}

/**
 * Runs every due row of the given jobs here and now, until none is due; for the development clock and for tests.
 * @returns how many rows ran
 */
export async function runDueJobs(deps: Deps, jobs: readonly Job[]): Promise<number> {
  let total = 0;
  for (let found = true; found; ) {
    found = false;
    for (const job of jobs) {
      const ids = await handOverDue(deps.db.sql, job.topic, BATCH, 0);
      let ran = 0;
      for (const id of ids) if (await runJob(deps, job, id)) ran += 1;
      total += ran;
      found ||= ran > 0;
    }
  }
  return total;
}
