import type { Deps } from '#api/deps.ts';
import { failOutbox, type OutboxLease, renewOutboxLease } from '#api/store/outbox.ts';
import { sharedLeases, type Taken } from '#api/store/shared-leases.ts';
import { continueTrace, withSpan } from '#shared/platform/tracing.ts';
import type { Job } from './work.ts';

/** A row whose runs failed this often in a row is declared dead and left to an operator. */
const FAILURES_UNTIL_DEAD = 30;
const LONGEST_PAUSE_SECONDS = 300;
/** A worker that says nothing for this long is taken for dead, and another one may run the row. */
const LEASE_SECONDS = 6;
const RENEW_MILLISECONDS = 2_000;

/**
 * Runs one outbox row by its id and writes down what came of it. Safe to call twice, at once or later: only a lease
 * that Postgres granted runs, and only the newest lease may write its result.
 * @returns whether it ran, and if so whether its work is done
 */
export async function runJob(deps: Deps, job: Job, outboxId: string): Promise<'done' | 'later' | 'not-run'> {
  const taken = await sharedLeases(deps.db, LEASE_SECONDS).take({ id: outboxId, topic: job.topic, read: job.read });
  return taken === undefined ? 'not-run' : continueTrace(taken.lease.traceContext, () => runLeased(deps, job, taken));
}

/** Runs a row, and tells `later` when it is to be run again, or may have to be: its relay has to know. Never rejects. */
export async function runTelling(deps: Deps, job: Job, outboxId: string, later: () => void): Promise<void> {
  try {
    if ((await runJob(deps, job, outboxId)) === 'later') later();
  } catch (error) {
    deps.log.warn({ err: error, topic: job.topic }, 'a job could not be recorded; its lease runs out');
    later();
  }
}

async function runLeased(deps: Deps, job: Job, { lease, reading }: Taken): Promise<'done' | 'later'> {
  const renewal = setInterval(() => void renew(deps, lease), RENEW_MILLISECONDS);
  const endTimer = deps.metrics?.jobDuration.startTimer({ queue: job.topic });
  try {
    const result = await withSpan(job.topic, { ref: lease.refId }, async () => job.run(deps, lease.refId, { lease, read: await reading }));
    const again = 'done' in result ? null : result.again;
    if (!('ended' in result)) await sharedLeases(deps.db, LEASE_SECONDS).end({ lease, again });
    deps.metrics?.jobsProcessed.inc({ queue: job.topic, result: again === null ? 'done' : 'again' });
    return again === null ? 'done' : 'later';
  } catch (error) {
    const dead = lease.failures >= FAILURES_UNTIL_DEAD;
    deps.log[dead ? 'error' : 'warn']({ err: error, topic: lease.topic, ref: lease.refId, failures: lease.failures, dead }, 'job failed');
    deps.metrics?.jobsProcessed.inc({ queue: job.topic, result: dead ? 'dead' : 'failed' });
    await failOutbox(deps.db.sql, lease, dead ? null : pauseAfter(lease.failures), error instanceof Error ? error.message : String(error));
    return 'later';
  } finally {
    clearInterval(renewal);
    endTimer?.();
  }
}

/** Keeps the lease of a running row; a renewal that fails costs at most a second run elsewhere, which every job survives. */
async function renew(deps: Deps, lease: OutboxLease): Promise<void> {
  try {
    await renewOutboxLease(deps.db.sql, lease, LEASE_SECONDS);
  } catch (error) {
    deps.log.debug({ err: error, topic: lease.topic, ref: lease.refId }, 'cannot renew a lease');
  }
}

/** Seconds to wait after the n-th failure in a row: 1, 2, 4 … 300. */
export function pauseAfter(failures: number): number {
  return Math.min(2 ** Math.min(failures - 1, 20), LONGEST_PAUSE_SECONDS);
}
