import type { DevFile } from './dev-file.ts';
import { type PaymentRequest, shopOf } from './scene.ts';
import { SHOP } from './shop-pages.ts';

/** Payments of the demo gateway to open in a browser. */
export interface DemoPayments {
  /** Paid with coins of the local chains. */
  onChain: HostedPayment;
  /** Paid by pressing buttons. */
  sandbox: HostedPayment;
}

/** A payment with its page. */
export interface HostedPayment {
  paymentUid: string;
  paymentUrl: string;
}

/** Long enough to try everything. */
const HOLD_SECONDS = 4 * 3_600;

/** Makes the payments whose links `npm start` shows; they return to the receiver's page of thanks. */
export async function demoPayments(dev: DevFile): Promise<DemoPayments> {
  const create = (overrides: Partial<PaymentRequest>): Promise<HostedPayment> => createHosted(dev, { timeoutSeconds: HOLD_SECONDS, ...overrides });
  const [onChain, sandbox] = await Promise.all([create({}), create({ isSandbox: true })]);
  return { onChain, sandbox };
}

/** Creates a payment of 49.90 US dollars at the demo gateway, to be paid on its hosted page, unless told otherwise. @throws when the service refuses */
export async function createHosted(dev: DevFile, overrides: Partial<PaymentRequest> = {}): Promise<HostedPayment> {
  const callbackUrl = new URL(SHOP.thanks, dev.webhookReceiver.url).href;
  const body = { currencyCode: 'USD', amount: '49.90', callbackUrl, callbackParams: { order: 'A-1001' }, webhookUrl: dev.webhookReceiver.url, ...overrides };
  const { paymentUid, paymentUrl } = await shopOf(dev, dev.gateway).createPayment({ body });
  return { paymentUid, paymentUrl };
}
