import type { operations } from '#api/contract/types.ts';
import type { Deps, Gateway, Reply } from '#api/deps.ts';
import { cancelSettlement as cancel } from '#api/settlements/cancel.ts';
import type { Call } from './call.ts';

/** `POST /merchant/settlements/{settlementId}/cancel` (contract 4.3). */
export async function cancelSettlement(deps: Deps, { gateway, params, commit }: Call<operations['cancelSettlement'], Gateway>): Promise<Reply> {
  return cancel(deps, { gateway, id: params.settlementId, commit });
}
