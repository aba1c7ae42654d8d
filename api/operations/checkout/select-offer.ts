import type { HostedCheckout } from '#api/checkout/hosted.ts';
import type { operations } from '#api/contract/checkout-types.ts';
import type { Operation } from '../call.ts';

/** `POST {checkout_url}/p/{paymentId}/select` (decisions 9). */
export function selectOffer(hosted: HostedCheckout): Operation<operations['selectOffer'], null> {
  return (deps, { params, body }) => hosted.select(deps, { paymentId: params.paymentId, offerId: body.offerId });
}
