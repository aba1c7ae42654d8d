import type { operations } from '#api/contract/types.ts';
import type { Deps, Gateway, Reply } from '#api/deps.ts';
import { explainPayment as explain } from '#api/payments/explain.ts';
import type { Call } from './call.ts';

/** `GET /payments/{paymentId}/explain` (decisions 3, 9). */
export async function explainPayment(deps: Deps, { gateway, params }: Call<operations['explainPayment'], Gateway>): Promise<Reply> {
  return { status: 200, data: await explain(deps, { gateway, paymentId: params.paymentId }) };
}
