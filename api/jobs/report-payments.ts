import { countOverduePayments } from '#api/store/payments.ts';
import type { Sweep } from './registry.ts';

/** The contract expires an unpaid payment within about a minute; what is later than this shows that something is stuck. */
const LATE_SECONDS = 60;

/** Keeps the gauge of payments that should have expired up to date. */
export const reportPayments: Sweep = {
  name: 'report-payments',
  everySeconds: 10,
  everyReplica: true,
  run: async ({ db, metrics }) => {
    metrics?.paymentsOverdue.set(await countOverduePayments(db.sql, LATE_SECONDS));
    return 0;
  },
};
