import type { operations } from '#api/contract/types.ts';
import type { Deps, Gateway, Reply } from '#api/deps.ts';
import { resendPaymentWebhook as resend } from '#api/payments/resend-webhook.ts';
import type { Call } from './call.ts';

/** `POST /payments/{paymentId}/webhooks/resend` (decisions 9). */
export async function resendPaymentWebhook(deps: Deps, { gateway, params }: Call<operations['resendPaymentWebhook'], Gateway>): Promise<Reply> {
  return { status: 202, data: await resend(deps, { gateway, paymentId: params.paymentId }) };
}
