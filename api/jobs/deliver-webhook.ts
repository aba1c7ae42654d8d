import { createHmac } from 'node:crypto';
import { createWebhookHttp, type WebhookHttp, type WebhookOutcome } from '#api/clients/webhook-http.ts';
import type { Deps } from '#api/deps.ts';
import { readSecrets } from '#api/operator/secrets.ts';
import { webhookPolicy } from '#api/payments/webhook-policy.ts';
import { hastenOutbox } from '#api/store/outbox.ts';
import { finishWebhookAttempt, startWebhookAttempt } from '#api/store/webhook-attempts.ts';
import { aheadOf, lockWebhookEvent, pendingBehind, updateWebhookEvent, type WebhookEvent } from '#api/store/webhook-events.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import { POLICY } from '#shared/core/policy.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { Job, JobResult } from './registry.ts';

/** Delivers webhooks to wherever this deployment allows. */
export const deliverWebhook: Job = deliverWebhookThrough((deps) => createWebhookHttp({ policy: webhookPolicy(deps.config) }));

/**
 * Delivers webhooks through the given client: signs the stored body, sends it, writes down what came of it, and says
 * when to try again (decisions 6). A crash between sending and writing leads to the same bytes under the same
 * `webhook-id` once more.
 */
export function deliverWebhookThrough(client: (deps: Deps) => WebhookHttp): Job {
  const lanes = openLanes();
  return { topic: 'webhook.deliver', concurrency: 16, run: (deps, eventId) => deliver(deps, client(deps), lanes, eventId) };
}

/** Most deliveries to one host at a time, so that a receiver that answers slowly cannot hold up everybody else's webhooks. */
const LANES_PER_HOST = 4;

interface Lanes {
  /** Takes a lane of the URL's host and returns how to leave it; undefined when all are taken. */
  enter(url: string): (() => void) | undefined;
}

function openLanes(): Lanes {
  const taken = new Map<string, number>();
  return {
    enter: (url) => {
      const { host } = new URL(url);
      const now = taken.get(host) ?? 0;
      if (now >= LANES_PER_HOST) return undefined;
      taken.set(host, now + 1);
      return () => {
        const left = (taken.get(host) ?? 1) - 1;
        if (left === 0) taken.delete(host);
        else taken.set(host, left);
      };
    },
  };
}

async function deliver(deps: Deps, http: WebhookHttp, lanes: Lanes, eventId: string): Promise<JobResult> {
  const event = await nextOfItsPayment(deps, eventId);
  if (!('url' in event)) return event;
  const leave = lanes.enter(event.url);
  if (leave === undefined) return { again: new Date(event.now.getTime() + 2_000 + Math.round(4_000 * jitter(deps))) };
  try {
    return await attempt(deps, http, event);
  } finally {
    leave();
  }
}

/** Reads the event if it is pending, due, and the first of its payment still to be delivered. */
async function nextOfItsPayment(deps: Deps, eventId: string): Promise<JobResult | (WebhookEvent & { now: Date })> {
  return deps.db.transaction(async (tx) => {
    const event = await lockWebhookEvent(tx, eventId);
    if (event === undefined || event.state !== 'pending') return { done: true };
    if (event.nextAttemptAt > event.now) return { again: event.nextAttemptAt };
    const ahead = await aheadOf(tx, event);
    // The one ahead hastens this row when it is through; looking again later only guards against that being lost.
    return ahead === undefined ? event : { again: new Date(Math.max(ahead.getTime(), event.now.getTime()) + 5_000) };
  });
}

/** One attempt: recorded when it starts, sent, and recorded when it ends. */
async function attempt(deps: Deps, http: WebhookHttp, event: WebhookEvent): Promise<JobResult> {
  const attemptId = uuidFrom(deps.randomBytes(16));
  await deps.db.transaction((tx) => startWebhookAttempt(tx, { id: attemptId, eventId: event.id, number: event.attempts + 1 }));
  crashPoint('webhook.claimed');
  const secrets = await readSecrets(deps, event.gatewayId, 'webhook');
  const headers = signedHeaders({ id: event.id, body: event.body, secrets, unixSeconds: Math.floor(deps.wallClock() / 1_000) });
  const outcome = await http.post(event.url, headers, event.body);
  crashPoint('webhook.sent');
  const result = await record(deps, event.id, attemptId, outcome);
  crashPoint('webhook.result-written');
  deps.log.info({ event: event.id, payment: event.paymentId, status: event.status, attempt: event.attempts + 1, result: resultOf(outcome) }, 'webhook attempt');
  return result;
}

/** Writes the attempt's outcome and what it makes of the event; a late result of a superseded attempt changes nothing else. */
async function record(deps: Deps, eventId: string, attemptId: string, outcome: WebhookOutcome): Promise<JobResult> {
  return deps.db.transaction(async (tx) => {
    const event = await lockWebhookEvent(tx, eventId);
    const { startedAt, finishedAt } = await finishWebhookAttempt(tx, attemptId, {
      result: resultOf(outcome),
      httpStatus: outcome.kind === 'answered' ? outcome.status : null,
      durationMs: outcome.durationMs,
    });
    if (event === undefined || event.state !== 'pending') return { done: true };
    const attempts = event.attempts + 1;
    const next = nextStep(outcome, attempts, startedAt, finishedAt, jitter(deps));
    await updateWebhookEvent(tx, eventId, {
      state: next.state,
      attempts,
      nextAttemptAt: next.state === 'pending' ? next.at : event.nextAttemptAt,
      deliveredAt: next.state === 'delivered' ? finishedAt : null,
    });
    count(deps, event, outcome, next, startedAt, finishedAt);
    if (next.state === 'pending') return { again: next.at };
    await hastenOutbox(tx, 'webhook.deliver', await pendingBehind(tx, event));
    return { done: true };
  });
}

function count(deps: Deps, event: WebhookEvent, outcome: WebhookOutcome, next: NextStep, startedAt: Date, finishedAt: Date): void {
  const { metrics } = deps;
  if (metrics === undefined) return;
  const secondsSinceEvent = (at: Date): number => Math.max(0, (at.getTime() - event.createdAt.getTime()) / 1_000);
  metrics.webhookAttempts.inc({ result: resultOf(outcome), attempt: String(event.attempts + 1) });
  if (event.attempts === 0) metrics.webhookFirstAttemptDelay.observe(secondsSinceEvent(startedAt));
  if (next.state === 'delivered') metrics.webhookDeliveredAfter.observe(secondsSinceEvent(finishedAt));
  if (next.state === 'exhausted') metrics.webhookExhausted.inc();
}

type NextStep = { state: 'delivered' | 'exhausted' | 'stopped' } | { state: 'pending'; at: Date };

/**
 * What becomes of a webhook after its n-th attempt: any 2xx is delivery, 410 stops, anything else is tried again after
 * the schedule's pause (counted from the attempt's start) or the receiver's `Retry-After`, whichever is later.
 * `jitter` is between 0 and 1 and lengthens the pause by up to 5 %.
 */
export function nextStep(outcome: WebhookOutcome, attempts: number, startedAt: Date, finishedAt: Date, jitter: number): NextStep {
  if (outcome.kind === 'answered' && outcome.status >= 200 && outcome.status < 300) return { state: 'delivered' };
  if (outcome.kind === 'answered' && outcome.status === 410) return { state: 'stopped' };
  const pauseSeconds = POLICY.webhookPausesSeconds[attempts];
  if (pauseSeconds === undefined) return { state: 'exhausted' };
  const scheduled = startedAt.getTime() + pauseSeconds * 1_000 * (1 + (POLICY.webhookJitterPercent / 100) * jitter);
  const asked = outcome.kind === 'answered' ? finishedAt.getTime() + retryAfterMilliseconds(outcome.retryAfter, finishedAt) : 0;
  return { state: 'pending', at: new Date(Math.round(Math.max(scheduled, asked))) };
}

/** Longest `Retry-After` that is honoured; a receiver must not be able to postpone a webhook for ever. */
const LONGEST_RETRY_AFTER_SECONDS = 86_400;

function retryAfterMilliseconds(header: string | null, now: Date): number {
  if (header === null) return 0;
  const seconds = /^\d{1,9}$/.test(header.trim()) ? Number(header) : (Date.parse(header) - now.getTime()) / 1_000;
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), LONGEST_RETRY_AFTER_SECONDS) * 1_000 : 0;
}

function jitter(deps: Deps): number {
  const [high = 0, low = 0] = deps.randomBytes(2);
  return (high * 256 + low) / 65_535;
}

/** The class an attempt's outcome is counted under: 2xx, 3xx, 4xx, 5xx, timeout, dns, tls, refused or blocked. */
export function resultOf(outcome: WebhookOutcome): string {
  return outcome.kind === 'answered' ? `${Math.floor(outcome.status / 100)}xx` : outcome.result;
}

/**
 * The headers of one attempt (decisions 6). `secrets` holds the current one first, then those in their rotation overlap:
 * `X-Webhook-Signature` is keyed with the current secret's whole text, `webhook-signature` carries one signature per
 * secret, keyed with its decoded bytes.
 */
export function signedHeaders(input: { id: string; body: string; secrets: readonly string[]; unixSeconds: number }): Record<string, string> {
  const [current] = input.secrets;
  if (current === undefined) throw new Error('the gateway has no webhook secret');
  const content = `${input.id}.${input.unixSeconds}.${input.body}`;
  return {
    'content-type': 'application/json',
    'user-agent': 'Sluice-Webhook/1.0',
    'x-webhook-signature': createHmac('sha256', current).update(input.body).digest('hex'),
    'webhook-id': input.id,
    'webhook-timestamp': String(input.unixSeconds),
    'webhook-signature': input.secrets.map((secret) => `v1,${createHmac('sha256', standardKey(secret)).update(content).digest('base64')}`).join(' '),
  };
}

function standardKey(secret: string): Buffer {
  return Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
}
