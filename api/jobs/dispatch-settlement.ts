import { dispatchSettlement } from '#api/payouts/dispatch.ts';
import { readClock } from '#api/store/clock.ts';
import { insertOutbox } from '#api/store/outbox.ts';
import { listForgotten } from '#api/store/settlements.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import type { Job, Sweep } from './registry.ts';

/** Plans the transaction of a claimed cashout, or says why it has to wait and looks again (architecture 4). */
export const dispatchSettlementJob: Job = {
  topic: 'settlement.dispatch',
  // Those of one wallet wait for each other; a slow network must not hold up the others.
  concurrency: 4,
  // A run that takes longer does no harm beside the next one, and a killed one is taken over soon.
  run: async (deps, settlementId) => {
    const seconds = await dispatchSettlement(deps, settlementId);
    if (seconds === null) return { done: true };
    const { now } = await readClock(deps.db.sql);
    return { again: new Date(now.getTime() + seconds * 1_000) };
  },
};

/** Finds due cashouts that no job is going to look at any more (its row was declared dead), and queues them again. */
export const requeueSettlementsSweep: Sweep = {
  name: 'requeue-settlements',
  everySeconds: 60,
  run: async (deps) => {
    const ids = await listForgotten(deps.db.sql);
    for (const id of ids) {
      await deps.db.transaction((tx) => insertOutbox(tx, { id: uuidFrom(deps.randomBytes(16)), topic: 'settlement.dispatch', refId: id }));
    }
    if (ids.length > 0) deps.wake();
    return ids.length;
  },
};
