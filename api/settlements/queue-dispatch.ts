import type { Deps } from '#api/deps.ts';
import { insertOutbox } from '#api/store/outbox.ts';
import { scheduleDispatch } from '#api/store/settlements.ts';
import { rowId } from '#shared/core/ids.ts';
import type { Tx } from '#shared/platform/postgres.ts';

/**
 * Starts the dispatch delay of a cashout that was just approved or activated, and queues its dispatch for the end of the delay; returns when it is
 * due. The caller holds the settlement's lock, and calls `deps.wake` after the commit.
 */
export async function queueDispatch(tx: Tx, deps: Deps, { settlementId, delaySeconds }: { settlementId: string; delaySeconds: number }): Promise<Date> {
  const dueAt = await scheduleDispatch(tx, settlementId, delaySeconds);
  await insertOutbox(tx, { id: rowId(deps), topic: 'settlement.dispatch', refId: settlementId, dueAt });
  return dueAt;
}
