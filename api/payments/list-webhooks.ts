import type { components } from '#api/contract/types.ts';
import type { Deps, Gateway } from '#api/deps.ts';
import { listWebhookAttempts, type WebhookAttempt, listWebhookEvents, type WebhookEvent } from '#api/store/webhook-events.ts';
import { loadOwnPayment } from './load.ts';

type WebhookDelivery = components['schemas']['WebhookDelivery'];

/** Every webhook of a gateway's own payment, oldest first, with its delivery attempts (decisions 9). @throws not_found */
export async function listPaymentWebhooks(deps: Deps, call: { gateway: Gateway; paymentId: string }): Promise<WebhookDelivery[]> {
  const payment = await loadOwnPayment(deps, call);
  return readDeliveries(deps, payment.id);
}

/** The webhooks of a payment as the contract shows them, oldest first; reads only. */
export async function readDeliveries(deps: Pick<Deps, 'db'>, paymentId: string): Promise<WebhookDelivery[]> {
  const [events, attempts] = await Promise.all([listWebhookEvents(deps.db.sql, paymentId), listWebhookAttempts(deps.db.sql, paymentId)]);
  return events.map((event) =>
    deliveryOf(
      event,
      attempts.filter((attempt) => attempt.eventId === event.id),
    ),
  );
}

function deliveryOf(event: WebhookEvent, attempts: readonly WebhookAttempt[]): WebhookDelivery {
  return {
    id: event.id,
    status: event.status as WebhookDelivery['status'],
    url: event.url,
    body: event.body,
    state: event.state,
    createdAt: event.createdAt.toISOString(),
    nextAttemptAt: event.state === 'pending' ? event.nextAttemptAt.toISOString() : null,
    deliveredAt: event.deliveredAt?.toISOString() ?? null,
    resendRequestedAt: event.resendRequestedAt?.toISOString() ?? null,
    attempts: attempts.map((attempt) => ({
      number: attempt.number,
      startedAt: attempt.startedAt.toISOString(),
      finishedAt: attempt.finishedAt?.toISOString() ?? null,
      timestamp: attempt.signedSeconds === null ? null : Number(attempt.signedSeconds),
      result: attempt.result as WebhookDelivery['attempts'][number]['result'],
      httpStatus: attempt.httpStatus,
      durationMs: attempt.durationMs,
      manual: attempt.manual,
      answer: attempt.answer,
    })),
  };
}
