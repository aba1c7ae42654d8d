import type { Deps, Gateway } from '#api/deps.ts';
import { listAssets } from '#api/store/assets.ts';
import { readClock } from '#api/store/clock.ts';
import { listExpectedArrivals } from '#api/store/deposit-addresses.ts';
import { listPaymentEvents, findPayment } from '#api/store/payments.ts';
import { listWebhookAttempts, listWebhookEvents } from '#api/store/webhook-events.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { isUuid } from '#shared/core/ids.ts';
import type { PaymentStatus } from '#state-machines/payment/machine.ts';
import type { ExplainedPayment, ExplanationStep } from './explain/step.ts';
import { explanationSteps } from './explain/explanation-steps.ts';
import { readPending } from './pending-deposit.ts';
import { readParts } from './view.ts';

/** Why a payment has the status it has. */
export interface Explanation {
  paymentUid: string;
  status: PaymentStatus;
  /** The sentence that gives the reason. */
  summary: string;
  steps: ExplanationStep[];
}

/** Explains one of the gateway's own payments (decisions 3). Changes nothing. @throws not_found */
export async function explainPayment(deps: Deps, call: { gateway: Gateway; paymentId: string }): Promise<Explanation> {
  return explain(deps, call.paymentId, call.gateway.id);
}

/** Explains any payment, for the operator. Changes nothing. @throws not_found */
export async function explainAnyPayment(deps: Deps, paymentId: string): Promise<Explanation> {
  return explain(deps, paymentId, null);
}

async function explain(deps: Deps, paymentId: string, gatewayId: string | null): Promise<Explanation> {
  if (!isUuid(paymentId)) throw new ServiceError('not_found');
  // Read in one snapshot, so that a payment that resolves meanwhile is not half told.
  const facts = await deps.db.snapshot(async (tx): Promise<ExplainedPayment | undefined> => {
    const payment = await findPayment(tx, paymentId);
    if (payment === undefined || (gatewayId !== null && payment.gatewayId !== gatewayId)) return undefined;
    const parts = await readParts(deps, payment, tx);
    const [{ now }, events, webhooks, attempts, assets, expected] = await Promise.all([
      readClock(tx),
      listPaymentEvents(tx, paymentId),
      listWebhookEvents(tx, paymentId),
      listWebhookAttempts(tx, paymentId),
      listAssets(tx),
      listExpectedArrivals(tx, paymentId),
    ]);
    return { now, parts, events, webhooks, attempts, assets, expected, pending: await readPending(tx, deps, parts) };
  });
  if (facts === undefined) throw new ServiceError('not_found');
  const steps = explanationSteps(deps, facts);
  const { id, status } = facts.parts.payment;
  const reason = status === 'PENDING' ? 'next' : status === 'EXPIRED' ? 'expiry' : 'decision';
  const summary = steps.findLast((one) => one.step === reason)?.text ?? `The payment is ${status}.`;
  return { paymentUid: id, status, summary, steps };
}
