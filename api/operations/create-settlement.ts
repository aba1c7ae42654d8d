import type { operations } from '#api/contract/types.ts';
import type { Deps, Gateway, Reply } from '#api/deps.ts';
import { createSettlement as create } from '#api/settlements/create.ts';
import type { Call } from './call.ts';

/** `POST /merchant/settlements` (contract 4.3). */
export async function createSettlement(deps: Deps, { gateway, body, sent, commit }: Call<operations['createSettlement'], Gateway>): Promise<Reply> {
  return create(deps, { gateway, body, sent, commit });
}
