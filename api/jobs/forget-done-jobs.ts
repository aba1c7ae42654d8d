import { deleteDoneOutbox } from '#api/store/outbox.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Sweep } from './registry.ts';

const BATCH = 1_000;

/** Deletes outbox rows whose work has long been done, so that the table stays as small as what is still to do. */
export const forgetDoneJobs: Sweep = {
  name: 'forget-done-jobs',
  everySeconds: 600,
  run: async (deps) => {
    let total = 0;
    for (let deleted = BATCH; deleted === BATCH; total += deleted) deleted = await deleteDoneOutbox(deps.db.sql, POLICY.doneJobsKeptDays, BATCH);
    return total;
  },
};
