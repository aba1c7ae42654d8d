import type { HostedCheckout } from '#api/checkout/hosted.ts';
import type { operations } from '#api/contract/checkout-types.ts';
import type { Operation } from '../call.ts';

/** `GET {checkout_url}/p/{paymentId}/snapshot`: what a page asks whose socket is down (ux C6). */
export function readSnapshot(hosted: HostedCheckout): Operation<operations['readSnapshot'], null> {
  return async (deps, { params }) => {
    deps.metrics?.checkoutFallbackPolls.inc();
    return { status: 200, data: (await hosted.read(deps, params.paymentId)).snapshot };
  };
}
