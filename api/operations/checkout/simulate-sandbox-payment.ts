import type { HostedCheckout } from '#api/checkout/hosted.ts';
import type { operations } from '#api/contract/checkout-types.ts';
import type { Operation } from '../call.ts';

/** `POST {checkout_url}/p/{paymentId}/simulate` (ux C13). */
export function simulateSandboxPayment(hosted: HostedCheckout): Operation<operations['simulateSandboxPayment'], null> {
  return async (deps, { params, body, clientIp }) => {
    await hosted.simulate(deps, { paymentId: params.paymentId, clientIp, simulation: body });
    return { status: 200, data: (await hosted.read(deps, params.paymentId)).snapshot };
  };
}
