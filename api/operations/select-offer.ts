import type { operations } from '#api/contract/types.ts';
import type { Deps, Reply } from '#api/deps.ts';
import { selectOffer as select } from '#api/payments/select-offer.ts';
import type { Call } from './call.ts';

/** `POST /public/payments/{paymentId}/offers/{offerId}/select` (contract 4.2). */
export async function selectOffer(deps: Deps, { params, clientIp }: Call<operations['selectOffer'], null>): Promise<Reply> {
  return select(deps, { paymentId: params.paymentId, offerId: params.offerId, clientIp });
}
