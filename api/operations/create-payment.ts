import type { operations } from '#api/contract/types.ts';
import type { Deps, Gateway, Reply } from '#api/deps.ts';
import { createPayment as create } from '#api/payments/create.ts';
import type { Call } from './call.ts';

/** `POST /payments` (contract 4.1). */
export async function createPayment(deps: Deps, { gateway, body, sent, clientIp, commit }: Call<operations['createPayment'], Gateway>): Promise<Reply> {
  return create(deps, { gateway, body, sent, clientIp, commit });
}
