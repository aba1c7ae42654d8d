import type { operations } from '#api/contract/types.ts';
import type { Deps, Reply } from '#api/deps.ts';
import { simulatePayment } from '#api/payments/simulate.ts';
import type { Call } from './call.ts';

/** `POST /public/payments/{paymentId}/sandbox/simulate` (decisions 9). */
export async function simulateSandboxPayment(deps: Deps, { params, body, clientIp }: Call<operations['simulateSandboxPayment'], null>): Promise<Reply> {
  return { status: 200, data: await simulatePayment(deps, { paymentId: params.paymentId, clientIp, simulation: body }) };
}
