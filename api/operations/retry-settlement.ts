import type { operations } from '#api/contract/types.ts';
import type { Deps, Gateway, Reply } from '#api/deps.ts';
import { retrySettlement as retry } from '#api/settlements/retry.ts';
import type { Call } from './call.ts';

/** `POST /merchant/settlements/{settlementId}/retry` (contract 4.3). */
export async function retrySettlement(deps: Deps, { gateway, params, commit }: Call<operations['retrySettlement'], Gateway>): Promise<Reply> {
  return retry(deps, { gateway, id: params.settlementId, commit });
}
