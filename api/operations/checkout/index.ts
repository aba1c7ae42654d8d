import type { HostedCheckout } from '#api/checkout/hosted.ts';
import type { operations as Contract } from '#api/contract/checkout-types.ts';
import type { CheckoutRegistry } from '../call.ts';
import { readSnapshot } from './read-snapshot.ts';
import { selectOffer } from './select-offer.ts';
import { simulateSandboxPayment } from './simulate-sandbox-payment.ts';

/** What answers each operation of the checkout's own channel; an operation of checkout.yaml that is missing here does not compile. */
export function checkoutOperations(hosted: HostedCheckout): CheckoutRegistry<Contract> {
  return { selectOffer: selectOffer(hosted), simulateSandboxPayment: simulateSandboxPayment(hosted), readSnapshot: readSnapshot(hosted) };
}
