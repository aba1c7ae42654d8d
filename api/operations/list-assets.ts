import type { operations } from '#api/contract/types.ts';
import type { Deps, Gateway, Reply } from '#api/deps.ts';
import { listGatewayAssets } from '#api/payments/list-assets.ts';
import type { Call } from './call.ts';

/** `GET /assets` (decisions 9). */
export async function listAssets(deps: Deps, { gateway }: Call<operations['listAssets'], Gateway>): Promise<Reply> {
  return { status: 200, data: { items: await listGatewayAssets(deps, gateway) } };
}
