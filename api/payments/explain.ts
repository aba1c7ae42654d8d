import type { Deps, Gateway } from '#api/deps.ts';
import { listAssets } from '#api/store/assets.ts';
import { readTip } from '#api/store/chain-tips.ts';
import { readClock } from '#api/store/clock.ts';
import type { PaymentDeposit } from '#api/store/payment-deposits.ts';
import { listPaymentEvents } from '#api/store/payment-events.ts';
import { findPayment } from '#api/store/payments.ts';
import { listWebhookAttempts } from '#api/store/webhook-attempts.ts';
import { listWebhookEvents } from '#api/store/webhook-events.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { isFinal, resolveRule } from '#shared/core/finality.ts';
import { isUuid } from '#shared/core/ids.ts';
import { amount, coinsToUsd } from '#shared/core/money.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import type { PaymentStatus } from '#state-machines/payment/machine.ts';
import type { ExplainedPayment, ExplanationStep, Pending } from './explain/step.ts';
import { explanationSteps } from './explain/explanation-steps.ts';
import { type PaymentParts, readParts } from './view.ts';

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
  // One moment of the database: a payment that resolves meanwhile must not be told half.
  const facts = await deps.db.transaction(async (tx): Promise<ExplainedPayment | undefined> => {
    await tx`set transaction isolation level repeatable read, read only`;
    const payment = await findPayment(tx, paymentId);
    if (payment === undefined || (gatewayId !== null && payment.gatewayId !== gatewayId)) return undefined;
    const parts = await readParts(deps, payment, tx);
    const [{ now }, events, webhooks, attempts, assets] = await Promise.all([
      readClock(tx),
      listPaymentEvents(tx, paymentId),
      listWebhookEvents(tx, paymentId),
      listWebhookAttempts(tx, paymentId),
      listAssets(tx),
    ]);
    return { now, parts, events, webhooks, attempts, assets, pending: await readPending(tx, deps, parts) };
  });
  if (facts === undefined) throw new ServiceError('not_found');
  const steps = explanationSteps(deps, facts);
  const { id, status } = facts.parts.payment;
  const reason = status === 'PENDING' ? 'next' : status === 'EXPIRED' ? 'expiry' : 'decision';
  const summary = steps.findLast((one) => one.step === reason)?.text ?? `The payment is ${status}.`;
  return { paymentUid: id, status, summary, steps };
}

/** What each open deposit waits for; the same question the crediting asks (decisions 3, 5). */
async function readPending(sql: Reads, deps: Deps, { offers, deposits }: PaymentParts): Promise<ExplainedPayment['pending']> {
  const pending = new Map<string, Pending>();
  const open = deposits.filter((one) => one.state === 'seen');
  for (const deposit of open) {
    const beside = open.filter((one) => one.assetId === deposit.assetId && one.height === deposit.height);
    const total = amount<'asset'>(beside.reduce((sum, one) => sum + one.amount, 0n));
    const found = await readOnePending(sql, deps, { ...deposit, amount: total }, offers);
    if (found !== undefined) pending.set(deposit.id, found);
  }
  return pending;
}

/** The same for one, with the transfers of its asset beside it in its block, which count as one (decisions 3). */
async function readOnePending(sql: Reads, deps: Deps, deposit: PaymentDeposit, offers: PaymentParts['offers']): Promise<Pending | undefined> {
  const chain = deps.chains.get(deposit.networkName);
  const tip = chain && (await readTip(sql, chain.id));
  if (chain === undefined || tip === undefined || deposit.height === null) return undefined;
  const price = (await deps.prices.fresh(deposit.symbol))?.usd ?? offers.find((offer) => offer.assetId === deposit.assetId)?.priceUsd;
  const { finality } = chain.config;
  // Without any price the strictest rule applies, which is the last one.
  const rule = price === undefined ? (finality.resolve.at(-1)?.rule ?? finality.mature) : resolveRule(finality, coinsToUsd(deposit.amount, price, 'half-up'));
  return { rule, final: isFinal(rule, tip, deposit.height) };
}
