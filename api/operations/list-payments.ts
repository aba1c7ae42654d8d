import type { operations } from '#api/contract/types.ts';
import type { Deps, Gateway, Reply } from '#api/deps.ts';
import { listPayments as list } from '#api/payments/list-payments.ts';
import type { Call } from './call.ts';

/** `GET /payments` (decisions 9). */
export async function listPayments(deps: Deps, { gateway, query }: Call<operations['listPayments'], Gateway>): Promise<Reply> {
  const { status, createdFrom, createdTo, limit, page, after } = query;
  return { status: 200, data: await list(deps, { gateway, status, createdFrom, createdTo, limit, page, after }) };
}
