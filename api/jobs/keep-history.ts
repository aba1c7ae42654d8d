import { keepHistory } from '#api/audit/keep-history.ts';
import type { Sweep } from './registry.ts';

/** Looks whether the database is still the one it was, well within the minute its word lasts. */
export const keepHistorySweep: Sweep = {
  name: 'keep-history',
  everySeconds: 10,
  async run(deps) {
    await keepHistory(deps);
    return 0;
  },
};
