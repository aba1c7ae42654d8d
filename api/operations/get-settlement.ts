import type { operations } from '#api/contract/types.ts';
import type { Deps, Gateway, Reply } from '#api/deps.ts';
import { getSettlement as get } from '#api/settlements/view.ts';
import type { Call } from './call.ts';

/** `GET /merchant/settlements/{settlementId}` (contract 4.3). */
export async function getSettlement(deps: Deps, { gateway, params }: Call<operations['getSettlement'], Gateway>): Promise<Reply> {
  return { status: 200, data: await get(deps, { gateway, id: params.settlementId }) };
}
