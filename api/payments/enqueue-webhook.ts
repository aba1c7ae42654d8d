import type { Deps } from '#api/deps.ts';
import { insertWebhookOutbox } from '#api/store/outbox.ts';
import { insertWebhookEvents } from '#api/store/webhook-events.ts';
import { rowId, uuidFrom } from '#shared/core/ids.ts';
import type { Tx } from '#shared/platform/postgres.ts';

export interface PaymentWebhook {
  paymentId: string;
  gatewayId: string;
  /** The resting status the payment has just reached. */
  status: string;
  /** Null when the merchant gave none; then nothing is sent. */
  webhookUrl: string | null;
}

/**
 * Announces a payment's resting status: stores the webhook with its exact body, and the outbox row that delivers it.
 * Call it for every `notify` effect, in the transaction that moved the payment and while its row is locked; call `deps.wake()` after the commit. A
 * status that was already announced is not announced again (contract 6).
 */
export async function enqueuePaymentWebhook(tx: Tx, deps: Pick<Deps, 'randomBytes' | 'wallClock'>, webhook: PaymentWebhook): Promise<void> {
  await enqueuePaymentWebhooks(tx, deps, [webhook]);
}

/** Does the same for many payments at once. */
export async function enqueuePaymentWebhooks(tx: Tx, deps: Pick<Deps, 'randomBytes' | 'wallClock'>, webhooks: readonly PaymentWebhook[]): Promise<void> {
  const rows = webhooks.flatMap(({ webhookUrl, ...one }) =>
    webhookUrl === null ? [] : [{ id: uuidFrom(deps.randomBytes(16)), ...one, url: webhookUrl, body: webhookBody(one.paymentId, one.status) }],
  );
  if (rows.length === 0) return;
  // Sent together: where a status was announced before there is no event of this id, and so nothing to deliver.
  await Promise.all([
    insertWebhookEvents(tx, rows),
    insertWebhookOutbox(
      tx,
      rows.map(({ id: eventId }) => ({ id: rowId(deps), eventId })),
    ),
  ]);
}

/** The body of a webhook, byte for byte: two fields and no money (decisions 6). */
export function webhookBody(paymentId: string, status: string): string {
  return `{"paymentId":"${paymentId}","status":"${status}"}`;
}
