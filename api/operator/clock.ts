import { setTimeout as pause } from 'node:timers/promises';
import type { Deps, Reply } from '#api/deps.ts';
import { advanceClock, readClock } from '#api/store/clock.ts';
import { isCaughtUp } from '#api/store/networks.ts';
import { insertOperatorAction } from '#api/store/proposals.ts';
import { restampStaticPrices } from '#api/store/prices.ts';
import { ServiceError } from '#shared/core/errors.ts';
import type { OperatorCall, OperatorDeps } from './deps.ts';
import { fieldsOf, readInteger } from './input.ts';

/** As far as one step may go: ten years, so that a slip cannot leave the calendar. */
const MAX_STEP_SECONDS = 10 * 366 * 86_400;
/** How long the answer waits for the indexers to report the new time; a stopped one must not hang the call. */
const CATCH_UP_MILLISECONDS = 5_000;
const POLL_MILLISECONDS = 100;

/** GET /clock. */
export async function showClock(deps: Deps): Promise<Reply> {
  return { status: 200, data: { ...(await readClock(deps.db.sql)) } };
}

/**
 * POST /clock/advance: moves the service clock, warps the local chains by as much, waits until their indexers have seen
 * the new time, and runs what became due before it answers (operability 3).
 * @throws forbidden in production
 */
export async function moveClock(deps: OperatorDeps, call: OperatorCall): Promise<Reply> {
  if (deps.config.NODE_ENV === 'production' || deps.devChains === null)
    throw new ServiceError('forbidden', { message: 'The clock of a production deployment does not move.' });
  const seconds = readInteger(fieldsOf(call.body), 'seconds', 1, MAX_STEP_SECONDS);
  await deps.db.transaction(async (tx) => {
    await advanceClock(tx, seconds);
    await insertOperatorAction(tx, deps.operator, { action: 'clock.advance', target: 'clock', details: { seconds } });
  });
  await deps.db.transaction(restampStaticPrices);
  const moved = await readClock(deps.db.sql);
  await deps.devChains.warp(seconds, moved.now);
  await waitUntilCaughtUp(deps, moved.now);
  await deps.runDue();
  return showClock(deps);
}

async function waitUntilCaughtUp(deps: Deps, since: Date): Promise<void> {
  const until = performance.now() + CATCH_UP_MILLISECONDS;
  while (performance.now() < until && !(await isCaughtUp(deps.db.sql, since))) {
    // They report by themselves only every few seconds.
    for (const name of deps.chains.keys()) deps.nudgeIndexer(name);
    await pause(POLL_MILLISECONDS);
  }
}
