import { createWebhookHttp, resultOf, type WebhookHttp, type WebhookOutcome } from '#api/clients/webhook-http.ts';
import { signedHeaders } from '#api/clients/webhook-signature.ts';
import type { Deps } from '#api/deps.ts';
import { openSecrets } from '#api/gateways/secrets.ts';
import { webhookPolicy } from '#api/payments/webhook-policy.ts';
import { endOutbox } from '#api/store/outbox.ts';
import {
  lockAhead,
  lockWebhookEvent,
  noteResendStarted,
  readTurnsOfWork,
  startWebhookResend,
  type WebhookEvent,
  type WebhookTurn,
} from '#api/store/webhook-events.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import { POLICY } from '#shared/core/policy.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import { type Attempt, type Lane, type Lanes, openLanes } from './lanes.ts';
import { againAt, attemptRecords, jitter, type Kind, type Recorded } from './record-attempts.ts';
import type { Begun, Job, JobResult } from './work.ts';

/** When a webhook that waits for an earlier one of its payment looks whether that one is through, which is to hasten it before: seldom, as everything may wait behind a receiver that is down. */
const LOOK_AGAIN_MILLISECONDS = 15 * 60_000;

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
  const job = (topic: Job['topic'], kind: Kind): Job<WebhookTurn> => ({
    topic,
    concurrency: POLICY.webhookLanes.places,
    begunAtOnce: POLICY.webhooksBegunAtOnce,
    read: readTurnsOfWork,
    run: (deps, _eventId, begun) => deliver(deps, client(deps), lanes, { kind, ...begun }),
  });
  return { deliver: job('webhook.deliver', 'scheduled'), resend: job('webhook.resend', 'resend') };
}

/** Delivers webhooks to wherever this deployment allows. */
export const { deliver: deliverWebhook, resend: resendWebhook }: WebhookJobs = webhookJobs((deps) => createWebhookHttp({ policy: webhookPolicy(deps.config) }));

/** One run of one webhook. */
interface Run extends Begun<WebhookTurn> {
  kind: Kind;
}

async function deliver(deps: Deps, http: WebhookHttp, lanes: Lanes, run: Run): Promise<JobResult> {
  const event = await nextOfItsPayment(deps, run);
  if (!('url' in event)) return event;
  const lane = await lanes.enter({ target: new URL(event.url).host, tenant: event.gatewayId });
  if ('pauseMs' in lane) return { again: new Date(event.now.getTime() + Math.round(lane.pauseMs * (1 + jitter(deps) / 4))) };
  let attempt: Attempt | undefined;
  try {
    const sent = await send(deps, http, lane, event, run.kind);
    attempt = { tookMs: sent.outcome.durationMs, timedOut: sent.outcome.kind === 'failed' && sent.outcome.result === 'timeout' };
    // The next one need not wait until this is written down, for which its gateway keeps a place.
    lane.answered(attempt);
    return await record(deps, event, run, sent);
  } finally {
    lane.leave(attempt);
  }
}

/**
 * Reads the event if it may be sent now: nothing of its payment is ahead of it and still to be delivered, and, unless
 * somebody asked for it, it is pending and due.
 */
async function nextOfItsPayment(deps: Deps, run: Run): Promise<JobResult | WebhookTurn> {
  const { kind, read, lease } = run;
  const event = read ?? (await attemptRecords(deps.db).turn(lease.id));
  if (event === undefined) return { done: true };
  if (kind === 'scheduled' && event.state !== 'pending') return { done: true };
  if (kind === 'scheduled' && event.nextAttemptAt > event.now) return { again: event.nextAttemptAt };
  if (!event.isBehind) return event;
  const again = new Date(event.now.getTime() + LOOK_AGAIN_MILLISECONDS);
  // The one ahead hastens this row when it is through: it finds it put back, or was through before.
  const waits = await deps.db.transaction(async (tx) => {
    const isAhead = await lockAhead(tx, event);
    if (isAhead) await endOutbox(tx, [{ lease, again }]);
    return isAhead;
  });
  return waits ? { ended: true, again } : nextOfItsPayment(deps, { ...run, read: undefined });
}

/** An attempt that was recorded when it started, and what came of it. */
interface Sent {
  attemptId: string;
  outcome: WebhookOutcome;
}

/** Records that an attempt starts, and sends it. */
async function send(deps: Deps, http: WebhookHttp, lane: Lane, event: WebhookTurn, kind: Kind): Promise<Sent> {
  crashPoint('webhook.taken');
  const secrets = openSecrets(deps, event.secrets);
  const signedSeconds = Math.floor(deps.wallClock() / 1_000);
  const headers = signedHeaders({ id: event.id, body: event.body, secrets, unixSeconds: signedSeconds });
  const attemptId = uuidFrom(deps.randomBytes(16));
  await recordStart(deps, { id: attemptId, event, kind, signedSeconds });
  crashPoint('webhook.attempt-started');
  lane.sent();
  // Where something went wrong before, or somebody watches, it is one request on a connection of its own.
  const outcome = await http.post(event.url, headers, event.body, { reuse: kind === 'scheduled' && event.attempts === 0 });
  crashPoint('webhook.sent');
  return { attemptId, outcome };
}

/** Records what came of an attempt, and says when there is another. */
async function record(deps: Deps, event: WebhookTurn, { kind, lease }: Run, { attemptId, outcome }: Sent): Promise<JobResult> {
  const recorded = await attemptRecords(deps.db).end({ deps, id: attemptId, sent: event, kind, outcome, lease });
  crashPoint('webhook.result-written');
  if (recorded !== undefined) count(deps, { ...recorded, dueSince: event.dueSince, label: labelOf(kind, event), outcome });
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
  return recorded === undefined ? { done: true } : { ended: true, again: againAt(kind, recorded.next) };
}

async function recordStart(deps: Deps, start: { id: string; event: WebhookEvent; kind: Kind; signedSeconds: number }): Promise<void> {
  const { id, event, kind, signedSeconds } = start;
  if (kind === 'scheduled') return attemptRecords(deps.db).start({ id, eventId: event.id, number: event.attempts + 1, signedSeconds });
  await deps.db.transaction(async (tx) => {
    await lockWebhookEvent(tx, event.id);
    await startWebhookResend(tx, { id, eventId: event.id, signedSeconds });
    await noteResendStarted(tx, event.id);
  });
}

/** How an attempt is called in logs and metrics: its number in the schedule, or `resend`. */
function labelOf(kind: Kind, sent: WebhookEvent): string {
  return kind === 'scheduled' ? String(sent.attempts + 1) : 'resend';
}

interface Ended extends Recorded {
  /** Since when it had to be sent, where that is known. */
  dueSince: Date | null;
  label: string;
  outcome: WebhookOutcome;
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
