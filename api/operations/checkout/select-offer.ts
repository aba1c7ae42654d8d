import type { operations } from '#api/contract/checkout-types.ts';
import type { Deps, Reply } from '#api/deps.ts';
import { selectHostedOffer } from '#api/payments/select-offer.ts';
import type { Call } from '../call.ts';

/** `POST {checkout_url}/p/{paymentId}/select` (decisions 9). */
export async function selectOffer(deps: Deps, { params, body }: Call<operations['selectOffer'], null>): Promise<Reply> {
  return selectHostedOffer(deps, { paymentId: params.paymentId, offerId: body.offerId });
}
