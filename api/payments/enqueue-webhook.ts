import type { Deps } from '#api/deps.ts';
import { insertOutbox, insertWebhookOutbox } from '#api/store/outbox.ts';
import { insertWebhookEvent, insertWebhookEvents } from '#api/store/webhook-events.ts';
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
  if (webhook.webhookUrl === null) return;
  const id = uuidFrom(deps.randomBytes(16));
  const inserted = await insertWebhookEvent(tx, {
    id,
    paymentId: webhook.paymentId,
    gatewayId: webhook.gatewayId,
    status: webhook.status,
    url: webhook.webhookUrl,
    body: webhookBody(webhook.paymentId, webhook.status),
  });
  if (!inserted) return;
  await insertOutbox(tx, { id: rowId(deps), topic: 'webhook.deliver', refId: id });
}

/** Does the same for many payments at once. */
export async function enqueuePaymentWebhooks(tx: Tx, deps: Pick<Deps, 'randomBytes' | 'wallClock'>, webhooks: readonly PaymentWebhook[]): Promise<void> {
  const rows = webhooks.flatMap(({ webhookUrl, ...one }) =>
    webhookUrl === null ? [] : [{ id: uuidFrom(deps.randomBytes(16)), ...one, url: webhookUrl, body: webhookBody(one.paymentId, one.status) }],
  );
  if (rows.length === 0) return;
  const inserted = await insertWebhookEvents(tx, rows);
  await insertWebhookOutbox(
    tx,
    inserted.map((eventId) => ({ id: rowId(deps), eventId })),
  );
}

/** The body of a webhook, byte for byte: two fields and no money (decisions 6). */
export function webhookBody(paymentId: string, status: string): string {
  return `{"paymentId":"${paymentId}","status":"${status}"}`;
}
