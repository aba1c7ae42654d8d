import type { Deps } from '#api/deps.ts';
import { openQueue } from './queue.ts';
import { type Relay, runDueJobs, startRelay } from './relay.ts';
import { runTelling } from './run-job.ts';
import { startPeriodic } from './periodic.ts';
import type { Work } from './work.ts';

export interface Jobs {
  /** Tells the relay of this process to look now; give it to `deps.wake`. */
  wake(): void;
  /** Runs here and at once what this process has just committed, as far as there is room; answers whether that was all. */
  begin: Relay['begin'];
  /** Runs all periodic work and then every due job, and waits for them; for the development clock. */
  runDue(): Promise<void>;
  /** Starts nothing more, waits for what runs, and disconnects from Redis; five seconds at most. */
  stop(): Promise<void>;
}

/** Leaves the process time to stop its other parts within the 10 s it has. */
const STOP_MILLISECONDS = 5_000;

/** Waits for the end, but not for a receiver or a node that does not answer: the lease of such a job runs out and another worker takes it. */
async function withinStopTime(stopped: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, STOP_MILLISECONDS);
  });
  await Promise.race([stopped, late]).finally(() => clearTimeout(timer));
}

/**
 * Where the queues of a database are in Redis. Releases that work beside each other share them only as long as a job means the same to each: one that takes what it cannot read
 * finds no row in it, faster than any other works, and those rows wait until they are handed over again. Before a job was rows, what follows the name was absent.
 */
export function queuePrefix(databaseName: string): string {
  return `sluice-${databaseName}:rows`;
}

/**
 * Starts everything a worker does by itself: the relay of all jobs, the BullMQ workers behind it, and the periodic work. `deaf` says whether
 * wake-ups from other processes may be lost right now; whoever has no word of that polls.
 */
export async function startJobs(deps: Deps, work: Work, deaf: () => boolean = () => true): Promise<Jobs> {
  const byTopic = new Map<string, Work['jobs'][number]>(work.jobs.map((job) => [job.topic, job]));
  const [database] = await deps.db.sql<[{ name: string }]>`select current_database() as name`;
  let relay: Relay | undefined;
  const queue = openQueue({
    redisUrl: deps.config.REDIS_URL,
    prefix: queuePrefix(database.name),
    topics: work.jobs,
    run: async (topic, outboxId) => {
      const job = byTopic.get(topic);
      if (job !== undefined) await runTelling(deps, job, outboxId, () => relay?.lookSoon());
    },
    log: deps.log,
  });
  const started = startRelay(deps, work.jobs, queue, deaf);
  relay = started;
  const periodic = startPeriodic(deps, work.periodic);
  return {
    wake: started.wake,
    begin: started.begin,
    runDue: async () => {
      await periodic.runAll();
      await runDueJobs(deps, work.jobs);
    },
    // At once, because what a receiver or a node keeps waiting must not leave this process taking jobs from Redis until it ends.
    stop: () => withinStopTime(Promise.all([periodic.stop(), started.stop(), queue.close()])),
  };
}
