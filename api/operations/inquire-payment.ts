import type { operations } from '#api/contract/types.ts';
import type { Deps, Gateway, Reply } from '#api/deps.ts';
import { inquirePayment as inquire } from '#api/payments/inquire.ts';
import type { Call } from './call.ts';

/** `POST /payments/{paymentId}/inquiry` (contract 4.1). */
export async function inquirePayment(deps: Deps, { gateway, params, body }: Call<operations['inquirePayment'], Gateway>): Promise<Reply> {
  return { status: 200, data: await inquire(deps, { gateway, paymentId: params.paymentId, txHash: body.txHash, network: body.network }) };
}
