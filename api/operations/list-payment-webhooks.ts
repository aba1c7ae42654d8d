import type { operations } from '#api/contract/types.ts';
import type { Deps, Gateway, Reply } from '#api/deps.ts';
import { listPaymentWebhooks as list } from '#api/payments/list-webhooks.ts';
import type { Call } from './call.ts';

/** `GET /payments/{paymentId}/webhooks` (decisions 9). */
export async function listPaymentWebhooks(deps: Deps, { gateway, params }: Call<operations['listPaymentWebhooks'], Gateway>): Promise<Reply> {
  return { status: 200, data: { items: await list(deps, { gateway, paymentId: params.paymentId }) } };
}
