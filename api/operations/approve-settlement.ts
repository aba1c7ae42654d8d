import type { operations } from '#api/contract/types.ts';
import type { Deps, Gateway, Reply } from '#api/deps.ts';
import { approveSettlement as approve } from '#api/settlements/approve.ts';
import type { Call } from './call.ts';

/** `POST /merchant/settlements/{settlementId}/approve` (contract 4.3). */
export async function approveSettlement(deps: Deps, { gateway, params, body, commit }: Call<operations['approveSettlement'], Gateway>): Promise<Reply> {
  return approve(deps, { gateway, id: params.settlementId, totpCode: body.totpCode, commit });
}
