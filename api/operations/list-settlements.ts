import type { operations } from '#api/contract/types.ts';
import type { Deps, Gateway, Reply } from '#api/deps.ts';
import { listSettlements as list } from '#api/settlements/view.ts';
import type { Call } from './call.ts';

/** `GET /merchant/settlements` (contract 4.3). */
export async function listSettlements(deps: Deps, { gateway, query }: Call<operations['listSettlements'], Gateway>): Promise<Reply> {
  const { status, limit, page, after } = query;
  return { status: 200, data: await list(deps, { gateway, status, limit, page, after }) };
}
