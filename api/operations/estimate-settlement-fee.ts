import type { operations } from '#api/contract/types.ts';
import type { Deps, Gateway, Reply } from '#api/deps.ts';
import { estimateFee } from '#api/settlements/estimate-fee.ts';
import type { Call } from './call.ts';

/** `POST /merchant/settlements/estimate-fee` (contract 4.3). */
export async function estimateSettlementFee(deps: Deps, { gateway, body }: Call<operations['estimateSettlementFee'], Gateway>): Promise<Reply> {
  return { status: 200, data: await estimateFee(deps, { gateway, body }) };
}
