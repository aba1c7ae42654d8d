import type { Deps, Reply } from '#api/deps.ts';
import { findListedJob } from '#api/store/operator-lists.ts';
import {
  discardOutbox,
  findOutbox,
  findSameWork,
  hasFailedOutbox,
  hastenOutbox,
  lockOutbox,
  type OutboxRow,
  retryFailedOutbox,
  retryOutbox,
  type Topic,
  TOPICS,
} from '#api/store/outbox.ts';
import { insertOperatorAction } from '#api/store/proposals.ts';
import { lockWebhookEvent, noteResendStarted, stopWebhook, waitingBehind } from '#api/store/webhook-events.ts';
import { invalid, ServiceError } from '#shared/core/errors.ts';
import { POLICY } from '#shared/core/policy.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import type { OperatorCall } from './deps.ts';
import { fieldsOf, readId, readReason, readText } from './input.ts';

const MAX_REASON = 500;

/** What must be done once, because money waits for it, and what ends it instead; everything else may be left undone. */
const NEEDED: Partial<Record<Topic, string>> = {
  'deposit.screen': 'The credit would never mature; resolve its payment where it is held.',
  'settlement.dispatch': 'The cashout would stay claimed for ever; reject it instead.',
  'payout.broadcast': 'Signed bytes would never be sent, and what they pay would wait for ever.',
};

/**
 * POST /jobs/{id}/retry: has a job that failed run now, as if it had not failed before. Locks the job, so that of two who ask at once one is heard.
 * @throws not_found; validation_error naming reason; conflict when it is running, done, due already, never failed, or done by another job
 */
export async function retryJob(deps: Deps, call: OperatorCall): Promise<Reply> {
  const id = readId(call.params);
  const reason = readReason(fieldsOf(call.body));
  await deps.db.transaction(async (tx) => {
    const job = await lockOutbox(tx, id);
    if (job === undefined) throw new ServiceError('not_found');
    refuseOver(job);
    if (job.state === 'due' && job.lastError === null) throw conflict(`It has not failed; it runs by itself at ${job.dueAt.toISOString()}.`);
    // One that was asked for while this waited is due from a moment that is ahead of where this began.
    if (job.state === 'due' && (!job.waits || job.failures === 0)) throw conflict('It is due already; a worker takes it next.');
    const same = job.state === 'dead' ? await findSameWork(tx, job) : undefined;
    if (same !== undefined) throw conflict(`Job ${same} does the same already.`);
    await retryOutbox(tx, id);
    await insertOperatorAction(tx, deps.operator, { action: 'job.retry', target: id, reason, details: saidOf(job) });
  });
  crashPoint('job.retried');
  deps.wake();
  return { status: 200, data: { job: await findListedJob(deps.db.sql, id) } };
}

/**
 * POST /jobs/retry: has every job of a kind that failed run now, as if it had not failed before; as many as `POLICY.jobsRetriedAtOnce`, so that one transaction stays short.
 * Locks those jobs. @throws validation_error naming topic or reason
 */
export async function retryJobs(deps: Deps, call: OperatorCall): Promise<Reply> {
  const fields = fieldsOf(call.body);
  const topic = TOPICS.find((one) => one === fields.topic);
  if (topic === undefined) throw invalid('topic', `must be one of ${TOPICS.join(', ')}`);
  const reason = readText(fields, 'reason', MAX_REASON);
  const { jobs, more } = await deps.db.transaction(async (tx) => {
    const ids = await retryFailedOutbox(tx, topic, POLICY.jobsRetriedAtOnce);
    await insertOperatorAction(tx, deps.operator, { action: 'jobs.retry', target: topic, reason, details: { topic, retried: ids.length, jobs: ids } });
    return { jobs: ids, more: await hasFailedOutbox(tx, topic) };
  });
  crashPoint('jobs.retried');
  deps.wake();
  return { status: 200, data: { topic, retried: jobs.length, more } };
}

/**
 * POST /jobs/{id}/discard: closes a job that nobody needs any more. A webhook whose delivery is discarded reads stopped, and those behind it go on. Locks the webhook,
 * then the job.
 * @throws not_found; validation_error naming reason; conflict when it is running or done, or when money waits for it
 */
export async function discardJob(deps: Deps, call: OperatorCall): Promise<Reply> {
  const id = readId(call.params);
  const reason = readText(fieldsOf(call.body), 'reason', MAX_REASON);
  const known = await findOutbox(deps.db.sql, id);
  if (known === undefined) throw new ServiceError('not_found');
  const needed = NEEDED[known.topic];
  await deps.db.transaction(async (tx) => {
    // A delivery locks its webhook before it touches jobs.
    const webhook = known.topic.startsWith('webhook.') ? await lockWebhookEvent(tx, known.refId) : undefined;
    const job = await lockOutbox(tx, id);
    if (job === undefined) throw new ServiceError('not_found');
    refuseOver(job);
    if (needed !== undefined) throw conflict(`A job of ${job.topic} is never discarded. ${needed}`);
    if (webhook !== undefined) await endWebhook(tx, job, webhook);
    await discardOutbox(tx, id);
    await insertOperatorAction(tx, deps.operator, { action: 'job.discard', target: id, reason, details: saidOf(job) });
  });
  crashPoint('job.discarded');
  deps.wake();
  return { status: 200, data: { id, topic: known.topic, refId: known.refId, discarded: true } };
}

async function endWebhook(tx: Tx, job: OutboxRow, webhook: { paymentId: string; seq: number; state: string }): Promise<void> {
  const { topic, refId } = job;
  // A resend that was asked for since has its own job, and is still waited for.
  if (topic === 'webhook.resend') return (await findSameWork(tx, job)) === undefined ? noteResendStarted(tx, refId) : undefined;
  if (webhook.state !== 'pending') return;
  await stopWebhook(tx, refId);
  const behind = await waitingBehind(tx, [webhook]);
  if (behind.length === 0) return;
  await hastenOutbox(tx, 'webhook.deliver', behind);
  await hastenOutbox(tx, 'webhook.resend', behind);
}

function refuseOver({ state, running }: OutboxRow): void {
  if (state === 'done') throw conflict('It is done already.');
  if (running) throw conflict('It is running right now.');
}

function saidOf({ topic, refId, state, failures, lastError }: OutboxRow): Record<string, unknown> {
  return { topic, refId, state, failures, lastError };
}

function conflict(message: string): ServiceError {
  return new ServiceError('conflict', { message });
}
