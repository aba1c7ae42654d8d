import type { components } from '#api/contract/types.ts';
import type { Commit, Deps, Gateway } from '#api/deps.ts';
import { insertOutbox, reviveOutbox } from '#api/store/outbox.ts';
import { askForResend, listUndelivered, lockWebhookEvents } from '#api/store/webhook-events.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { rowId } from '#shared/core/ids.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { readDeliveries } from './list-webhooks.ts';
import { loadOwnPayment } from './load.ts';

/**
 * Queues the newest webhook of a gateway's own payment again, and before it those of the payment that are still undelivered, so that a receiver
 * that is back gets them in order and now. Locks the payment's webhooks.
 * @throws not_found; conflict when the payment has no webhook
 */
export async function resendPaymentWebhook(
  deps: Deps,
  { commit = (work) => deps.db.transaction(work), ...call }: { gateway: Gateway; paymentId: string; commit?: Commit },
): Promise<components['schemas']['WebhookDelivery']> {
  const payment = await loadOwnPayment(deps, call);
  await commit(async (tx) => {
    const events = await lockWebhookEvents(tx, payment.id);
    const newest = events.at(-1);
    if (newest === undefined) throw new ServiceError('conflict', { message: 'This payment has no webhook to send again.' });
    for (const event of events) if (event === newest || event.state === 'pending') await queueResend(tx, deps, event.id);
    return { status: 202, data: {} };
  });
  deps.wake();
  const delivery = (await readDeliveries(deps, payment.id)).at(-1);
  if (delivery === undefined) throw new ServiceError('conflict');
  return delivery;
}

/** What may be sent again all at once: what nobody tries any more. */
export const RESENDABLE_STATES = ['exhausted', 'stopped'] as const;

/**
 * Queues again what could not be delivered, at most `POLICY.webhooksResentAtOnce` payments of a gateway, the oldest first: of each its newest webhook, where that is in
 * this state and not queued yet, and before it those still undelivered. Answers of how many payments. Locks the webhooks of each payment, in the order of their ids.
 */
export async function resendWebhooks(
  deps: Deps,
  { gateway, state, commit }: { gateway: Gateway; state: (typeof RESENDABLE_STATES)[number]; commit: Commit },
): Promise<{ resent: number }> {
  let resent = 0;
  await commit(async (tx) => {
    const payments = await listUndelivered(tx, { gatewayId: gateway.id, state, limit: POLICY.webhooksResentAtOnce });
    for (const paymentId of payments.toSorted()) {
      const events = await lockWebhookEvents(tx, paymentId);
      const newest = events.at(-1);
      // Whoever sends the same again meanwhile has done it.
      if (newest?.state !== state || newest.resendRequestedAt !== null) continue;
      for (const event of events) if (event === newest || event.state === 'pending') await queueResend(tx, deps, event.id);
      resent += 1;
    }
    return { status: 202, data: {} };
  });
  deps.wake();
  return { resent };
}

/**
 * Queues one resend of a webhook unless one is queued, so that many requests at once cause one attempt.
 * A scheduled attempt that its job gave up is taken up again. Call it while the webhook is locked, and `deps.wake()` after the commit.
 */
export async function queueResend(tx: Tx, deps: Pick<Deps, 'randomBytes' | 'wallClock'>, eventId: string): Promise<void> {
  const dueAt = await askForResend(tx, eventId, POLICY.webhookResendSpacingSeconds);
  if (dueAt !== undefined) await insertOutbox(tx, { id: rowId(deps), topic: 'webhook.resend', refId: eventId, dueAt });
  await reviveOutbox(tx, eventId);
}
