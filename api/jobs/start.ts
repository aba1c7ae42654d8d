import type { Deps } from '#api/deps.ts';
import { openQueue } from './queue.ts';
import type { Registry } from './registry.ts';
import { runDueJobs, startRelay } from './relay.ts';
import { runJob } from './run-job.ts';
import { startSweeper } from './sweeps.ts';

export interface Jobs {
  /** Tells the relays of this process to look now; give it to `deps.wake`. */
  wake(): void;
  /** Runs every sweep and then every due job, and waits for them; for the development clock. */
  runDue(): Promise<void>;
  /** Stops relays and sweeps first, then waits for what runs, then disconnects from Redis; five seconds at most. */
  stop(): Promise<void>;
}

/** Leaves the process time to stop its other parts within the 10 s it has. */
const STOP_MILLISECONDS = 5_000;

/** Waits for the end, but not for a receiver or a node that does not answer: the claim of such a job runs out and another worker takes it. */
async function withinStopTime(stopped: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, STOP_MILLISECONDS);
  });
  await Promise.race([stopped, late]).finally(() => clearTimeout(timer));
}

/** Starts everything a worker does by itself: one relay per job, the BullMQ workers behind them, and the sweeps. */
export async function startJobs(deps: Deps, registry: Registry): Promise<Jobs> {
  const byTopic = new Map<string, Registry['jobs'][number]>(registry.jobs.map((job) => [job.topic, job]));
  const [database] = await deps.db.sql<[{ name: string }]>`select current_database() as name`;
  const queue = openQueue({
    redisUrl: deps.config.REDIS_URL,
    prefix: `sluice-${database.name}`,
    topics: registry.jobs,
    run: async (topic, outboxId) => {
      const job = byTopic.get(topic);
      if (job !== undefined) await runJob(deps, job, outboxId);
    },
    log: deps.log,
  });
  const relays = registry.jobs.map((job) => startRelay(deps, job, queue));
  const sweeper = startSweeper(deps, registry.sweeps);
  const wake = (): void => {
    for (const relay of relays) relay.wake();
  };
  return {
    wake,
    runDue: async () => {
      await sweeper.runAll();
      await runDueJobs(deps, registry.jobs);
    },
    stop: () => withinStopTime(Promise.all([sweeper.stop(), ...relays.map((relay) => relay.stop())]).then(() => queue.close())),
  };
}
