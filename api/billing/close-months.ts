import type { Deps } from '#api/deps.ts';
import { closeMonth, isAnyMonthDue, listDueMonths } from '#api/store/invoices.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import { accrueUnpriced, isAnyUnpriced } from './book-settlement-fee.ts';

/** Whether a month is to be closed, or a cashout to be accrued before one is; a condition. */
export function isAnythingToInvoice(sql: Reads, deps: Deps): ReturnType<Reads> {
  return sql`(${isAnyUnpriced(sql, deps)} or ${isAnyMonthDue(sql)})`;
}

/**
 * Closes every month that is over into one invoice per monthly-billed gateway (decisions 11). What was booked too late for
 * its own month's invoice goes into the next one. Any number of workers may call it at once, and again after any crash; a
 * month is closed in one transaction. Answers how many invoices it made.
 */
export async function closeMonths(deps: Deps): Promise<number> {
  await accrueUnpriced(deps);
  let made = 0;
  for (const due of await listDueMonths(deps.db.sql)) {
    try {
      const closed = await deps.db.transaction(async (tx) => {
        const invoice = await closeMonth(tx, { ...due, id: uuidFrom(deps.randomBytes(16)) });
        crashPoint('invoice.written');
        return invoice;
      });
      if (closed === undefined) continue;
      made += 1;
      deps.log.info({ ...due, ...closed }, 'invoice closed');
    } catch (error) {
      // One gateway that cannot be closed must not keep the others waiting.
      deps.log.error({ err: error, ...due }, 'cannot close a month; it will be tried again');
    }
  }
  return made;
}
