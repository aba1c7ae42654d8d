import type { Deps } from '#api/deps.ts';
import { claimOutbox, failOutbox, finishOutbox, type OutboxClaim, postponeOutbox, renewOutboxClaim } from '#api/store/outbox.ts';
import { continueTrace, withSpan } from '#shared/platform/tracing.ts';
import type { Job } from './work.ts';

/** A row whose runs failed this often in a row is declared dead and left to an operator. */
const FAILURES_UNTIL_DEAD = 30;
const LONGEST_PAUSE_SECONDS = 300;
/** A worker that says nothing for this long is taken for dead, and another one may run the row. */
const CLAIM_SECONDS = 6;
const RENEW_MILLISECONDS = 2_000;

/**
 * Runs one outbox row by its id and writes down what came of it. Safe to call twice, at once or later: only a claim
 * that Postgres granted runs, and only the newest claim may write its result.
 * @returns whether it ran, and if so whether its work is done
 */
export async function runJob(deps: Deps, job: Job, outboxId: string): Promise<'done' | 'later' | 'not-run'> {
  const claim = await claimOutbox(deps.db.sql, { id: outboxId, topic: job.topic }, CLAIM_SECONDS);
  return claim === undefined ? 'not-run' : continueTrace(claim.traceContext, () => runClaimed(deps, job, claim));
}

async function runClaimed(deps: Deps, job: Job, claim: OutboxClaim): Promise<'done' | 'later'> {
  const renewal = setInterval(() => void renew(deps, claim), RENEW_MILLISECONDS);
  const endTimer = deps.metrics?.jobDuration.startTimer({ queue: job.topic });
  try {
    const result = await withSpan(job.topic, { ref: claim.refId }, () => job.run(deps, claim.refId));
    if ('done' in result) await finishOutbox(deps.db.sql, claim);
    else await postponeOutbox(deps.db.sql, claim, result.again);
    deps.metrics?.jobsProcessed.inc({ queue: job.topic, result: 'done' in result ? 'done' : 'again' });
    return 'done' in result ? 'done' : 'later';
  } catch (error) {
    const dead = claim.failures >= FAILURES_UNTIL_DEAD;
    deps.log[dead ? 'error' : 'warn']({ err: error, topic: claim.topic, ref: claim.refId, failures: claim.failures, dead }, 'job failed');
    deps.metrics?.jobsProcessed.inc({ queue: job.topic, result: dead ? 'dead' : 'failed' });
    await failOutbox(deps.db.sql, claim, dead ? null : pauseAfter(claim.failures), error instanceof Error ? error.message : String(error));
    return 'later';
  } finally {
    clearInterval(renewal);
    endTimer?.();
  }
}

/** Keeps a running row claimed; a renewal that fails costs at most a second run elsewhere, which every job survives. */
async function renew(deps: Deps, claim: OutboxClaim): Promise<void> {
  try {
    await renewOutboxClaim(deps.db.sql, claim, CLAIM_SECONDS);
  } catch (error) {
    deps.log.debug({ err: error, topic: claim.topic, ref: claim.refId }, 'cannot renew a claim');
  }
}

/** Seconds to wait after the n-th failure in a row: 1, 2, 4 … 300. */
export function pauseAfter(failures: number): number {
  return Math.min(2 ** Math.min(failures - 1, 20), LONGEST_PAUSE_SECONDS);
}
