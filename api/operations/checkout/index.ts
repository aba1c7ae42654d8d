import type { operations as Contract } from '#api/contract/checkout-types.ts';
import type { CheckoutRegistry } from '../call.ts';
import { selectOffer } from './select-offer.ts';

/** What answers each operation of the checkout's own channel; an operation of checkout.yaml that is missing here does not compile. */
export const checkoutOperations: CheckoutRegistry<Contract> = { selectOffer };
