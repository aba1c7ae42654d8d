import { createWebhookHttp, resultOf, type WebhookHttp, type WebhookOutcome } from '#api/clients/webhook-http.ts';
import { signedHeaders } from '#api/clients/webhook-signature.ts';
import type { Deps } from '#api/deps.ts';
import { readSecrets } from '#api/gateways/secrets.ts';
import { webhookPolicy } from '#api/payments/webhook-policy.ts';
import { hastenOutbox, mayHaveWork } from '#api/store/outbox.ts';
import {
  finishWebhookAttempt,
  keepWebhookAnswer,
  startWebhookAttempt,
  startWebhookResend,
  findWebhookTurn,
  lockWebhookEvent,
  noteResendStarted,
  updateWebhookEvent,
  waitingBehind,
  type WebhookEvent,
  type WebhookTurn,
} from '#api/store/webhook-events.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import { POLICY } from '#shared/core/policy.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import type { Job, JobResult } from './work.ts';
import { type Lanes, openLanes } from './lanes.ts';
import { type NextStep, nextStep, stepOutsideSchedule } from './webhook-schedule.ts';

/** Longest time until a webhook that waits for an earlier one of its payment looks whether that one is through. */
const LOOK_AGAIN_MILLISECONDS = 60_000;

/** An attempt of the schedule, or one that somebody asked for. */
type Kind = 'scheduled' | 'resend';

interface WebhookJobs {
  /** The six attempts of every webhook. */
  deliver: Job;
  /** One more attempt of one webhook, asked for by the merchant or an operator. */
  resend: Job;
}

/**
 * The jobs that deliver webhooks through the given client: they sign the stored body, send it, write down what came of
 * it, and say when to try again (decisions 6). A crash between sending and writing leads to the same bytes under the same
 * `webhook-id` once more. Both jobs share one set of lanes.
 */
export function webhookJobs(client: (deps: Deps) => WebhookHttp): WebhookJobs {
  const lanes = openLanes(POLICY.webhookLanes, () => performance.now());
  const job = (topic: Job['topic'], kind: Kind): Job => ({
    topic,
    concurrency: POLICY.webhookLanes.together,
    run: (deps, eventId) => deliver(deps, client(deps), lanes, eventId, kind),
  });
  return { deliver: job('webhook.deliver', 'scheduled'), resend: job('webhook.resend', 'resend') };
}

/** Delivers webhooks to wherever this deployment allows. */
export const { deliver: deliverWebhook, resend: resendWebhook }: WebhookJobs = webhookJobs((deps) => createWebhookHttp({ policy: webhookPolicy(deps.config) }));

async function deliver(deps: Deps, http: WebhookHttp, lanes: Lanes, eventId: string, kind: Kind): Promise<JobResult> {
  const event = await nextOfItsPayment(deps, eventId, kind);
  if (!('url' in event)) return event;
  const lane = await lanes.enter({ target: new URL(event.url).host, tenant: event.gatewayId });
  if ('pauseMs' in lane) return { again: new Date(event.now.getTime() + Math.round(lane.pauseMs * (1 + jitter(deps) / 4))) };
  let end = { tookMs: 0, timedOut: false };
  try {
    const { result, outcome } = await attempt(deps, http, event, kind);
    end = { tookMs: outcome.durationMs, timedOut: outcome.kind === 'failed' && outcome.result === 'timeout' };
    return result;
  } finally {
    lane.leave(end);
  }
}

/**
 * Reads the event if it may be sent now: nothing of its payment is ahead of it and still to be delivered, and, unless
 * somebody asked for it, it is pending and due.
 */
async function nextOfItsPayment(deps: Deps, eventId: string, kind: Kind): Promise<JobResult | WebhookTurn> {
  const event = await findWebhookTurn(deps.db.sql, eventId);
  if (event === undefined) return { done: true };
  if (kind === 'scheduled' && event.state !== 'pending') return { done: true };
  if (kind === 'scheduled' && event.nextAttemptAt > event.now) return { again: event.nextAttemptAt };
  if (event.aheadAt === null) return event;
  // The one ahead hastens this row when it is through, unless that happens right now, before this row is put back.
  const milliseconds = Math.min(Math.max(event.aheadAt.getTime() - event.now.getTime(), 0) + 5_000, LOOK_AGAIN_MILLISECONDS);
  return { again: new Date(event.now.getTime() + milliseconds) };
}

/** One attempt: recorded when it starts, sent, and recorded when it ends. */
async function attempt(deps: Deps, http: WebhookHttp, event: WebhookTurn, kind: Kind): Promise<{ result: JobResult; outcome: WebhookOutcome }> {
  crashPoint('webhook.taken');
  const secrets = await readSecrets(deps, event.gatewayId, 'webhook');
  const signedSeconds = Math.floor(deps.wallClock() / 1_000);
  const headers = signedHeaders({ id: event.id, body: event.body, secrets, unixSeconds: signedSeconds });
  const attemptId = uuidFrom(deps.randomBytes(16));
  await recordStart(deps, { id: attemptId, event, kind, signedSeconds });
  crashPoint('webhook.attempt-started');
  const outcome = await http.post(event.url, headers, event.body);
  crashPoint('webhook.sent');
  const result = await recordEnd(deps, { id: attemptId, sent: event, kind, outcome });
  crashPoint('webhook.result-written');
  deps.log.info(
    {
      event: event.id,
      payment: event.paymentId,
      status: event.status,
      attempt: labelOf(kind, event),
      result: resultOf(outcome),
      problem: outcome.kind === 'failed' ? outcome.problem : undefined,
    },
    'webhook attempt',
  );
  return { result, outcome };
}

async function recordStart(deps: Deps, start: { id: string; event: WebhookEvent; kind: Kind; signedSeconds: number }): Promise<void> {
  const { id, event, kind, signedSeconds } = start;
  if (kind === 'scheduled') return startWebhookAttempt(deps.db.sql, { id, eventId: event.id, number: event.attempts + 1, signedSeconds });
  await deps.db.transaction(async (tx) => {
    await lockWebhookEvent(tx, event.id);
    await startWebhookResend(tx, { id, eventId: event.id, signedSeconds });
    await noteResendStarted(tx, event.id);
  });
}

/**
 * Writes the attempt's outcome and what it makes of the event. When another run has counted the same attempt meanwhile
 * (this one lost its lease), or a resend has ended the webhook, it is not counted again.
 */
async function recordEnd(deps: Deps, attempt: { id: string; sent: WebhookTurn; kind: Kind; outcome: WebhookOutcome }): Promise<JobResult> {
  const { sent, kind, outcome } = attempt;
  let within: Tx | undefined;
  const result = await deps.db.transaction(async (tx): Promise<JobResult> => {
    within = tx;
    const event = await lockWebhookEvent(tx, sent.id);
    const { startedAt, finishedAt } = await finishWebhookAttempt(tx, attempt.id, {
      result: resultOf(outcome),
      httpStatus: outcome.kind === 'answered' ? outcome.status : null,
      durationMs: outcome.durationMs,
    });
    if (event === undefined) return { done: true };
    if (outcome.kind === 'answered' && outcome.answer !== undefined)
      await keepWebhookAnswer(tx, { attemptId: attempt.id, gatewayId: event.gatewayId, answer: outcome.answer, most: POLICY.webhookAnswersPerGateway });
    const counts = kind === 'scheduled' && event.state === 'pending' && event.attempts === sent.attempts;
    const attempts = counts ? event.attempts + 1 : event.attempts;
    const next = counts ? nextStep(outcome, attempts, startedAt, finishedAt, jitter(deps)) : stepOutsideSchedule(outcome, event, finishedAt);
    await updateWebhookEvent(tx, event.id, {
      state: next.state,
      attempts,
      nextAttemptAt: next.state === 'pending' ? next.at : event.nextAttemptAt,
      deliveredAt: event.deliveredAt ?? (next.state === 'delivered' ? finishedAt : null),
    });
    count(deps, { event, dueSince: sent.dueSince, label: labelOf(kind, sent), first: counts && attempts === 1, outcome, next, startedAt, finishedAt });
    if (event.state === 'pending' && next.state !== 'pending') await letTheNextGo(tx, event);
    return kind === 'scheduled' && next.state === 'pending' ? { again: next.at } : { done: true };
  });
  if (within !== undefined && mayHaveWork(within)) deps.wake();
  return result;
}

/** How an attempt is called in logs and metrics: its number in the schedule, or `resend`. */
function labelOf(kind: Kind, sent: WebhookEvent): string {
  return kind === 'scheduled' ? String(sent.attempts + 1) : 'resend';
}

/** What waited behind this webhook need not wait until it looks again. */
async function letTheNextGo(tx: Tx, event: WebhookEvent): Promise<void> {
  const behind = await waitingBehind(tx, event);
  if (behind.length === 0) return;
  await hastenOutbox(tx, 'webhook.deliver', behind);
  await hastenOutbox(tx, 'webhook.resend', behind);
}

interface Ended {
  event: WebhookEvent;
  /** Since when it had to be sent, where that is known. */
  dueSince: Date | null;
  label: string;
  /** The first attempt of the schedule. */
  first: boolean;
  outcome: WebhookOutcome;
  next: NextStep;
  startedAt: Date;
  finishedAt: Date;
}

function count({ metrics }: Deps, { event, dueSince, label, first, outcome, next, startedAt, finishedAt }: Ended): void {
  if (metrics === undefined) return;
  const secondsSinceEvent = (at: Date, since = event.createdAt): number => Math.max(0, (at.getTime() - since.getTime()) / 1_000);
  metrics.webhookAttempts.inc({ result: resultOf(outcome), attempt: label });
  // What waits for room at its own receiver, or of its own gateway, is late for nothing that an operator could mend.
  if (first) metrics.webhookFirstAttemptDelay.observe(secondsSinceEvent(startedAt, dueSince ?? event.createdAt));
  if (next.state === 'delivered' && event.deliveredAt === null) metrics.webhookDeliveredAfter.observe(secondsSinceEvent(finishedAt));
  if (next.state === 'exhausted' && event.state === 'pending') metrics.webhookExhausted.inc();
}

function jitter(deps: Deps): number {
  const [high = 0, low = 0] = deps.randomBytes(2);
  return (high * 256 + low) / 65_535;
}
