import type { operations } from '#api/contract/types.ts';
import type { Deps, Reply } from '#api/deps.ts';
import { publicPayment, statusOnly } from '#api/payments/view.ts';
import type { Call } from './call.ts';

/** `GET /public/payments/{paymentId}` (contract 4.2). */
export async function getPublicPayment(deps: Deps, { params, query, clientIp }: Call<operations['getPublicPayment'], null>): Promise<Reply> {
  const read = query.statusOnly === true ? statusOnly : publicPayment;
  return { status: 200, data: await read(deps, { paymentId: params.paymentId, clientIp }) };
}
