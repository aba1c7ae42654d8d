import type { operations } from '#api/contract/types.ts';
import type { Deps, Gateway, Reply } from '#api/deps.ts';
import { verifyPayment as verify } from '#api/payments/verify.ts';
import type { Call } from './call.ts';

/** `POST /payments/{paymentId}/verify` (contract 4.1). */
export async function verifyPayment(deps: Deps, { gateway, params }: Call<operations['verifyPayment'], Gateway>): Promise<Reply> {
  return { status: 200, data: await verify(deps, { gateway, paymentId: params.paymentId }) };
}
