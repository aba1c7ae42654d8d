import type { HostedCheckout } from '#api/checkout/hosted.ts';
import type { operations } from '#api/contract/checkout-types.ts';
import type { CheckoutRegistry } from './call.ts';

/** What answers each operation of the checkout's own channel; an operation of checkout.yaml that is missing here does not compile. */
export function checkoutOperations(hosted: HostedCheckout): CheckoutRegistry<operations> {
  return {
    selectOffer: (deps, { params, body }) => hosted.select(deps, { paymentId: params.paymentId, offerId: body.offerId }),
    simulateSandboxPayment: async (deps, { params, body, clientIp }) => {
      await hosted.simulate(deps, { paymentId: params.paymentId, clientIp, simulation: body });
      return { status: 200, data: (await hosted.read(deps, params.paymentId)).snapshot };
    },
    // What a page asks whose socket is down (ux C6).
    readSnapshot: async (deps, { params }) => {
      deps.metrics?.checkoutFallbackPolls.inc();
      return { status: 200, data: (await hosted.read(deps, params.paymentId)).snapshot };
    },
  };
}
