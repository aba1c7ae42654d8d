import { readClock } from '#api/store/clock.ts';
import { insertOutbox } from '#api/store/outbox.ts';
import { listUnsent } from '#api/store/payout-attempts.ts';
import { broadcastAttempt } from '#api/payouts/broadcast.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import type { Job, Sweep } from './registry.ts';

/** Bytes that no block holds yet are handed to the network again after this long. */
const REBROADCAST_SECONDS = 15;

/** Hands stored bytes to the network, and again until a block holds them. */
export const broadcastPayoutJob: Job = {
  topic: 'payout.broadcast',
  concurrency: 4,
  run: async (deps, attemptId) => {
    const finished = await broadcastAttempt(deps, attemptId);
    if (finished) return { done: true };
    const { now } = await readClock(deps.db.sql);
    return { again: new Date(now.getTime() + REBROADCAST_SECONDS * 1_000) };
  },
};

/** Finds signed bytes that nothing is going to send any more, and queues them. */
export const rebroadcastSweep: Sweep = {
  name: 'rebroadcast-payouts',
  everySeconds: 30,
  run: async (deps) => {
    const ids = await listUnsent(deps.db.sql, 2 * REBROADCAST_SECONDS);
    for (const id of ids) {
      await deps.db.transaction((tx) => insertOutbox(tx, { id: uuidFrom(deps.randomBytes(16)), topic: 'payout.broadcast', refId: id }));
    }
    if (ids.length > 0) deps.wake();
    return ids.length;
  },
};
