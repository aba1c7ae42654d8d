import type { operations } from '#api/contract/types.ts';
import type { Deps, Gateway, Reply } from '#api/deps.ts';
import { listBalances as list } from '#api/settlements/balances.ts';
import type { Call } from './call.ts';

/** `GET /merchant/settlements/balances` (contract 4.3). */
export async function listBalances(deps: Deps, { gateway }: Call<operations['listBalances'], Gateway>): Promise<Reply> {
  return { status: 200, data: await list(deps, { gateway }) };
}
