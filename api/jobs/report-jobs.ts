import { countOutbox, TOPICS } from '#api/store/outbox.ts';
import type { Sweep } from './registry.ts';

const STATES = ['due', 'scheduled', 'running', 'dead'];
/** How a run of a job may end, as `runJob` counts it. */
const RESULTS = ['done', 'again', 'failed', 'dead'];

/** Keeps the job gauges up to date, dead jobs among them. */
export const reportJobs: Sweep = {
  name: 'report-jobs',
  everySeconds: 10,
  everyReplica: true,
  run: async ({ db, metrics }) => {
    if (metrics === undefined) return 0;
    const counts = await countOutbox(db.sql);
    for (const queue of TOPICS) {
      metrics.jobOldestDueAge.set({ queue }, 0);
      for (const state of STATES) metrics.jobs.set({ queue, state }, 0);
      for (const result of RESULTS) metrics.jobsProcessed.inc({ queue, result }, 0);
    }
    for (const { topic, waiting, count, oldestDueAgeSeconds } of counts) {
      metrics.jobs.set({ queue: topic, state: waiting }, count);
      if (waiting === 'due') metrics.jobOldestDueAge.set({ queue: topic }, oldestDueAgeSeconds);
    }
    return 0;
  },
};
