import { summariseOpenSettlements } from '#api/store/settlements.ts';
import { SETTLEMENT_STATUSES } from '#state-machines/settlement/machine.ts';
import type { Sweep } from './registry.ts';

/** Statuses that a settlement leaves again. */
const OPEN = SETTLEMENT_STATUSES.filter((status) => status !== 'SETTLED' && status !== 'REJECTED');

/** Keeps the gauges about open settlements up to date. */
export const reportSettlements: Sweep = {
  name: 'report-settlements',
  everySeconds: 10,
  everyReplica: true,
  run: async ({ db, chains, metrics }) => {
    if (metrics === undefined) return 0;
    const summaries = await summariseOpenSettlements(db.sql);
    for (const status of OPEN) {
      metrics.settlementsOpen.set({ status }, 0);
      for (const chain of chains.keys()) metrics.settlementOldestAge.set({ chain, status }, 0);
    }
    for (const chain of chains.keys()) metrics.settlementDispatchOverdue.set({ chain }, 0);
    for (const open of summaries) {
      metrics.settlementsOpen.inc({ status: open.status }, open.count);
      metrics.settlementOldestAge.set({ chain: open.networkName, status: open.status }, open.oldestAgeSeconds);
      if (open.status === 'REQUESTED') metrics.settlementDispatchOverdue.set({ chain: open.networkName }, open.overdueSeconds);
    }
    return 0;
  },
};
