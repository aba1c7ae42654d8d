import type { operations } from '#api/contract/types.ts';
import type { Deps, Gateway, Reply } from '#api/deps.ts';
import { createOpenAmountPayment as create } from '#api/payments/open-amount.ts';
import type { Call } from './call.ts';

/** `POST /payments/open-amount` (contract 4.1). */
export async function createOpenAmountPayment(
  deps: Deps,
  { gateway, body, sent, clientIp, commit }: Call<operations['createOpenAmountPayment'], Gateway>,
): Promise<Reply> {
  return create(deps, { gateway, body, sent, clientIp, commit });
}
