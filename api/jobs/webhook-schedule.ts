import type { WebhookOutcome } from '#api/clients/webhook-http.ts';
import { POLICY } from '#shared/core/policy.ts';

/** What becomes of a webhook: through for good, or tried again at a service time. */
export type NextStep = { state: 'delivered' | 'exhausted' | 'stopped' } | { state: 'pending'; at: Date };

/**
 * What becomes of a webhook after its n-th attempt: any 2xx is delivery, 410 stops, anything else is tried again after
 * the schedule's pause (counted from the attempt's start) or the receiver's `Retry-After`, whichever is later.
 * `jitter` is between 0 and 1 and lengthens the pause by up to 5 %.
 */
export function nextStep(outcome: WebhookOutcome, attempts: number, startedAt: Date, finishedAt: Date, jitter: number): NextStep {
  const verdict = verdictOf(outcome);
  if (verdict !== 'failed') return { state: verdict };
  const pauseSeconds = POLICY.webhookPausesSeconds[attempts];
  if (pauseSeconds === undefined) return { state: 'exhausted' };
  const scheduled = startedAt.getTime() + pauseSeconds * 1_000 * (1 + (POLICY.webhookJitterPercent / 100) * jitter);
  return { state: 'pending', at: new Date(Math.round(Math.max(scheduled, askedFor(outcome, finishedAt)))) };
}

/**
 * What becomes of a webhook after an attempt that does not count in the schedule, such as a resend: a 2xx delivers one
 * that was not delivered, 410 stops one that is pending, and anything else changes at most when a pending one is tried
 * next, by `Retry-After`.
 */
export function stepOutsideSchedule(outcome: WebhookOutcome, before: { state: NextStep['state']; nextAttemptAt: Date }, finishedAt: Date): NextStep {
  const verdict = verdictOf(outcome);
  if (verdict === 'delivered') return { state: 'delivered' };
  if (before.state !== 'pending') return { state: before.state };
  if (verdict === 'stopped') return { state: 'stopped' };
  return { state: 'pending', at: new Date(Math.max(before.nextAttemptAt.getTime(), askedFor(outcome, finishedAt))) };
}

function verdictOf(outcome: WebhookOutcome): 'delivered' | 'stopped' | 'failed' {
  if (outcome.kind === 'failed') return 'failed';
  if (outcome.status >= 200 && outcome.status < 300) return 'delivered';
  return outcome.status === 410 ? 'stopped' : 'failed';
}

/** Until when the receiver asked to be left alone, as seconds or as an HTTP date, a day at most; milliseconds. */
function askedFor(outcome: WebhookOutcome, now: Date): number {
  const header = outcome.kind === 'answered' ? outcome.retryAfter?.trim() : undefined;
  if (header === undefined) return 0;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - now.getTime()) / 1_000;
  if (Number.isNaN(seconds)) return 0;
  return now.getTime() + Math.min(Math.max(seconds, 0), POLICY.webhookRetryAfterMaximumSeconds) * 1_000;
}
