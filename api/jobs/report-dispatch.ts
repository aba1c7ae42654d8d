import { listUntrusted, countDispatchStops } from '#api/store/database-epoch.ts';
import { readTip } from '#api/store/chain-blocks.ts';
import type { Sweep } from './registry.ts';

/** Keeps the gauges up to date that tell what stops cashouts, and how far each chain was applied to the books. */
export const reportDispatch: Sweep = {
  name: 'report-dispatch',
  everySeconds: 10,
  everyReplica: true,
  run: async ({ db, chains, metrics }) => {
    if (metrics === undefined) return 0;
    const [stops, untrusted] = await Promise.all([countDispatchStops(db.sql), listUntrusted(db.sql, [...chains.keys()])]);
    for (const [kind, count] of Object.entries(stops)) metrics.dispatchStops.set({ kind }, count);
    for (const [chain, { id }] of chains) {
      metrics.historyTrusted.set({ chain }, untrusted.includes(chain) ? 0 : 1);
      const tip = await readTip(db.sql, id);
      if (tip === undefined) continue;
      metrics.appliedBlock.set({ chain }, tip.height);
      metrics.appliedBlockTimestamp.set({ chain }, tip.blockTime.getTime() / 1_000);
    }
    return 0;
  },
};
