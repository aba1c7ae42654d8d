import { reconcile } from '#api/audit/reconcile.ts';
import { listUntrusted } from '#api/store/database-epoch.ts';
import type { Sweep } from './registry.ts';

const EVERY_MILLISECONDS = 60_000;

/** Compares the books with the chains every minute, and freezes dispatch where coins are missing; every few seconds while dispatch waits for it. */
export function reconcileSweep(): Sweep {
  let ranAt = Number.NEGATIVE_INFINITY;
  return {
    name: 'reconcile',
    everySeconds: 5,
    async run(deps) {
      const waits = (await listUntrusted(deps.db.sql, [...deps.chains.keys()])).length > 0;
      if (!waits && deps.wallClock() - ranAt < EVERY_MILLISECONDS) return 0;
      ranAt = deps.wallClock();
      return reconcile(deps);
    },
  };
}
