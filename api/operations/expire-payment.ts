import type { operations } from '#api/contract/types.ts';
import type { Deps, Reply } from '#api/deps.ts';
import { expirePayment as expire } from '#api/payments/expire.ts';
import type { Call } from './call.ts';

/** `POST /public/payments/{paymentId}/expire` (contract 4.2). */
export async function expirePayment(deps: Deps, { params, clientIp }: Call<operations['expirePayment'], null>): Promise<Reply> {
  return { status: 200, data: await expire(deps, { paymentId: params.paymentId, clientIp }) };
}
