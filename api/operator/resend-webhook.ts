import type { Deps, Reply } from '#api/deps.ts';
import { queueResend } from '#api/payments/resend-webhook.ts';
import { insertOperatorAction } from '#api/store/proposals.ts';
import { lockWebhookEvent } from '#api/store/webhook-events.ts';
import { ServiceError } from '#shared/core/errors.ts';
import type { OperatorCall } from './deps.ts';
import { fieldsOf, readId, readReason } from './input.ts';

/** POST /webhooks/{id}/resend: one more attempt of this webhook, whatever became of it; it waits for earlier ones of its payment that are still pending. */
export async function resendOneWebhook(deps: Deps, call: OperatorCall): Promise<Reply> {
  const id = readId(call.params);
  const reason = readReason(fieldsOf(call.body));
  const webhook = await deps.db.transaction(async (tx) => {
    const event = await lockWebhookEvent(tx, id);
    if (event === undefined) throw new ServiceError('not_found');
    await queueResend(tx, deps, id);
    await insertOperatorAction(tx, deps.operator, {
      action: 'webhook.resend',
      target: id,
      reason,
      details: { paymentId: event.paymentId, status: event.status },
    });
    return event;
  });
  deps.wake();
  const { paymentId, gatewayId, status, url, state } = webhook;
  return { status: 202, data: { webhook: { id, paymentId, gatewayId, status, url, state } } };
}
