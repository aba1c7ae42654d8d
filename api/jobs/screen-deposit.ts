import { screenCredit } from '#api/aml/screen-credit.ts';
import { readClock } from '#api/store/clock.ts';
import { insertOutbox } from '#api/store/outbox.ts';
import { listForgottenCredits } from '#api/store/credits.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Job, Sweep } from './registry.ts';

/** Screens what one deposit credited, again every minute until there is a verdict (decisions 10). */
export const screenDepositJob: Job = {
  topic: 'deposit.screen',
  concurrency: 4,
  async run(deps, creditId) {
    if (await screenCredit(deps, creditId)) return { done: true };
    const { now } = await readClock(deps.db.sql);
    return { again: new Date(now.getTime() + POLICY.screeningRetrySeconds * 1_000) };
  },
};

/** Queues credits that wait for a verdict and that no job asks for any more, because theirs was given up. */
export const requeueUnscreenedSweep: Sweep = {
  name: 'requeue-unscreened',
  everySeconds: 60,
  async run(deps) {
    const forgotten = await listForgottenCredits(deps.db.sql);
    for (const refId of forgotten) {
      await deps.db.transaction((tx) => insertOutbox(tx, { id: uuidFrom(deps.randomBytes(16)), topic: 'deposit.screen', refId }));
    }
    if (forgotten.length > 0) deps.wake();
    return forgotten.length;
  },
};
