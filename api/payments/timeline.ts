import type { Deps } from '#api/deps.ts';
import { listPaymentEvents } from '#api/store/payment-events.ts';
import { findPayment } from '#api/store/payments.ts';
import { listWebhookAttempts } from '#api/store/webhook-attempts.ts';
import { listWebhookEvents } from '#api/store/webhook-events.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { isUuid } from '#shared/core/ids.ts';
import { formatAmount, formatCents } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import { type PaymentParts, readParts } from './view.ts';

/** One thing that happened to a payment, for people. */
export interface TimelineEntry {
  /** Service time, RFC 3339. */
  at: string;
  what: 'created' | 'selected' | 'address' | 'seen' | 'booked' | 'status' | 'webhook' | 'verified';
  text: string;
  /** Machine-readable figures behind the text; empty where there are none. */
  details: Record<string, unknown>;
}

/**
 * Tells what happened to a payment, in order: created, selected, seen, booked, judged with the figures the judgement
 * saw, each webhook attempt, verified (operability 4). For operators; reads only.
 * @throws not_found
 */
export async function paymentTimeline(deps: Deps, paymentId: string): Promise<TimelineEntry[]> {
  const payment = isUuid(paymentId) ? await findPayment(deps.db.sql, paymentId) : undefined;
  if (payment === undefined) throw new ServiceError('not_found');
  const [parts, events, webhooks, attempts] = await Promise.all([
    readParts(deps, payment),
    listPaymentEvents(deps.db.sql, paymentId),
    listWebhookEvents(deps.db.sql, paymentId),
    listWebhookAttempts(deps.db.sql, paymentId),
  ]);
  const entries: TimelineEntry[] = [
    ...ofPayment(parts),
    ...ofDeposits(parts),
    ...events
      .filter((event) => event.fromStatus !== null)
      .map((event) => entry(event.at, 'status', `${event.fromStatus} → ${event.toStatus} (${event.event} by ${event.actor})`, event.facts)),
    ...attempts.map((attempt) => {
      const outcome = attempt.finishedAt === null ? 'never finished' : `${attempt.httpStatus ?? attempt.result} after ${attempt.durationMs} ms`;
      return entry(attempt.startedAt, 'webhook', `${attempt.status} attempt ${attempt.number} of ${POLICY.webhookPausesSeconds.length}: ${outcome}`, {
        eventId: attempt.eventId,
        result: attempt.result,
      });
    }),
    ...webhooks
      .filter((webhook) => webhook.state === 'pending')
      .map((webhook) => entry(webhook.nextAttemptAt, 'webhook', `${webhook.status} next attempt to ${webhook.url}`, { eventId: webhook.id })),
  ];
  return entries.sort((a, b) => a.at.localeCompare(b.at));
}

function ofPayment({ payment, offers, addresses }: PaymentParts): TimelineEntry[] {
  const invoice = `${payment.amount} ${payment.currencyCode} (${formatCents(payment.amountUsd)} USD), ${payment.checkoutMode}, expires ${payment.expiresAt.toISOString()}`;
  return [
    entry(payment.createdAt, 'created', invoice, {
      offers: offers.map((offer) => ({ asset: offer.symbol, network: offer.networkName, totalValue: formatAmount(offer.totalValue) })),
    }),
    ...offers.flatMap((offer) =>
      offer.selectedAt === null
        ? []
        : [
            entry(
              offer.selectedAt,
              'selected',
              `${formatAmount(offer.totalValue)} ${offer.symbol} on ${offer.networkName} at ${formatAmount(offer.priceUsd)} USD`,
              { offerId: offer.id },
            ),
          ],
    ),
    ...addresses.map((address) =>
      entry(address.createdAt, 'address', `${address.address}${address.watched ? '' : ' (not yet watched)'}`, { derivationIndex: address.derivationIndex }),
    ),
    ...(payment.verifiedAt === null ? [] : [entry(payment.verifiedAt, 'verified', `verified as ${payment.status}`, {})]),
  ];
}

function ofDeposits({ payment, deposits }: PaymentParts): TimelineEntry[] {
  return deposits.flatMap((deposit) => {
    const what = `${formatAmount(deposit.amount)} ${deposit.symbol} on ${deposit.networkName}`;
    const seen = entry(deposit.firstSeenAt, 'seen', `${what} in ${deposit.txid}`, {
      txHash: deposit.txid,
      state: deposit.state,
      confirmations: deposit.confirmations,
    });
    if (deposit.finalAt === null) return [seen];
    const credit = deposit.credit;
    const figures =
      credit === null
        ? {}
        : {
            gross: formatAmount(credit.gross),
            networkFee: formatAmount(credit.networkFee),
            commission: formatAmount(credit.commission),
            net: formatAmount(credit.net),
          };
    const decided = deposit.id === payment.decidingDepositId ? ', decided the payment' : '';
    return [seen, entry(deposit.finalAt, 'booked', `${what}: ${deposit.state}${decided}`, { path: deposit.path, ...figures })];
  });
}

function entry(at: Date, what: TimelineEntry['what'], text: string, details: Record<string, unknown>): TimelineEntry {
  return { at: at.toISOString(), what, text, details };
}
