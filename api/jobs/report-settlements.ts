import { summariseOpenSettlements } from '#api/store/settlement-summaries.ts';
import type { Sweep } from './registry.ts';

/** Keeps the gauges about open settlements up to date. */
export const reportSettlements: Sweep = {
  name: 'report-settlements',
  everySeconds: 10,
  run: async ({ db, chains, metrics }) => {
    if (metrics === undefined) return 0;
    metrics.settlementsOpen.reset();
    metrics.settlementOldestAge.reset();
    for (const chain of chains.keys()) metrics.settlementDispatchOverdue.set({ chain }, 0);
    for (const open of await summariseOpenSettlements(db.sql)) {
      metrics.settlementsOpen.inc({ status: open.status }, open.count);
      metrics.settlementOldestAge.set({ chain: open.networkName, status: open.status }, open.oldestAgeSeconds);
      if (open.status === 'REQUESTED') metrics.settlementDispatchOverdue.set({ chain: open.networkName }, open.overdueSeconds);
    }
    return 0;
  },
};
