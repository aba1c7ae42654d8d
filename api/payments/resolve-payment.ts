import type { Deps } from '#api/deps.ts';
import { advanceHeld } from '#api/store/advance.ts';
import type { Offer } from '#api/store/payment-offers.ts';
import type { Payment } from '#api/store/payments.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { type ConfirmedDeposit, type Judged, judgeDeposit } from '#state-machines/payment/judge-deposit.ts';
import { NO_PAYMENT_FACTS, type PaymentStatus } from '#state-machines/payment/machine.ts';
import { enqueuePaymentWebhook } from './enqueue-webhook.ts';
import { judgedPayment } from './judged-payment.ts';
import { evidence, type Outcome, outcomeColumns, type Prices } from './outcome.ts';

/** A payment under its lock, its current status, and what it is judged by. */
export interface Judging {
  payment: Payment;
  status: PaymentStatus;
  offers: readonly Offer[];
  prices: Prices;
}

/** Judges coins of one asset that arrived for a payment, on a chain or in the sandbox (contract 3.1, decisions 3). Pure. */
export function judgeArrival({ payment, status, offers, prices }: Judging, symbol: string, deposit: Omit<ConfirmedDeposit, 'marketPriceUsd'>): Judged {
  return judgeDeposit(judgedPayment(payment, status, offers), { ...deposit, marketPriceUsd: prices.get(symbol)?.usd ?? null });
}

/** The decision, who made it, and what they knew. */
export interface Resolution {
  outcome: Outcome;
  actor: 'chain' | 'operator' | 'merchant' | 'sandbox';
  /** When the first of the coins was first seen, milliseconds since the epoch. */
  firstSeenMs: number;
  /** Whether an inquiry or an operator allocated the coins; then lateness does not matter. */
  allocated: boolean;
}

/**
 * Moves a payment by the judgement of its coins and queues the webhook; `credit` books the coins. All of it is sent together. Coins of a chain and of the sandbox both go
 * this way.
 * The caller holds the payment's lock and calls `deps.wake()` after its commit. Returns the new status.
 */
export async function resolvePayment(
  tx: Tx,
  deps: Deps,
  { payment, status }: Pick<Judging, 'payment' | 'status'>,
  { outcome, actor, firstSeenMs, allocated }: Resolution,
  credit: () => Promise<unknown>,
): Promise<PaymentStatus> {
  return advanceHeld(tx, 'payment', {
    id: payment.id,
    from: status,
    event: 'DEPOSIT_CONFIRMED',
    actor,
    facts: {
      ...NO_PAYMENT_FACTS,
      rule: outcome.judged.rule,
      secondsLate: (firstSeenMs - payment.expiresAt.getTime()) / 1_000,
      graceSeconds: payment.graceSeconds,
      allocated,
    },
    columns: outcomeColumns(outcome),
    record: evidence(outcome),
    effects: {
      credit: async () => {
        crashPoint('credit.payment-transitioned');
        await credit();
      },
      notify: async (to) => {
        await enqueuePaymentWebhook(tx, deps, { paymentId: payment.id, gatewayId: payment.gatewayId, status: to, webhookUrl: payment.webhookUrl });
        crashPoint('credit.outbox-written');
      },
    },
  });
}
