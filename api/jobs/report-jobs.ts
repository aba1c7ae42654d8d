import { countOutbox } from '#api/store/outbox.ts';
import type { Sweep } from './registry.ts';

/** Keeps the job gauges up to date, dead jobs among them. */
export const reportJobs: Sweep = {
  name: 'report-jobs',
  everySeconds: 10,
  run: async (deps) => {
    const { metrics } = deps;
    if (metrics === undefined) return 0;
    metrics.jobs.reset();
    metrics.jobOldestDueAge.reset();
    for (const { topic, waiting, count, oldestDueAgeSeconds } of await countOutbox(deps.db.sql)) {
      metrics.jobs.set({ queue: topic, state: waiting }, count);
      if (waiting === 'due') metrics.jobOldestDueAge.set({ queue: topic }, oldestDueAgeSeconds);
    }
    return 0;
  },
};
