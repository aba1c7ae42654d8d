import type { components } from '#api/contract/types.ts';
import type { Deps, Gateway } from '#api/deps.ts';
import { listAmlEventDetails } from '#api/store/aml.ts';
import { type CreditDetail, listCreditDetails } from '#api/store/operator-timelines.ts';
import { listPaymentEvents, type PaymentEventRow } from '#api/store/payments.ts';
import { formatAmount } from '#shared/core/money.ts';
import { readDeliveries } from './list-webhooks.ts';
import { loadOwnPayment } from './load.ts';
import { verifyView } from './verify.ts';
import { offerView, type PaymentParts, readParts } from './view.ts';

type PaymentRecord = components['schemas']['PaymentRecord'];
type Moment = components['schemas']['PaymentMoment'];
type Delivery = components['schemas']['WebhookDelivery'];

/**
 * Reads one payment of a gateway with everything that is known about it: what verify tells, its offers, what was credited of it, its webhooks, and
 * what happened when. Unlike verify it changes nothing (console 5).
 * @throws not_found
 */
export async function readPayment(deps: Deps, call: { gateway: Gateway; paymentId: string }): Promise<PaymentRecord> {
  const payment = await loadOwnPayment(deps, call);
  const { sql } = deps.db;
  const [parts, credits, webhooks, events, aml] = await Promise.all([
    readParts(deps, payment),
    listCreditDetails(sql, payment.id),
    readDeliveries(deps, payment.id),
    listPaymentEvents(sql, payment.id),
    listAmlEventDetails(sql, payment.id),
  ]);
  return {
    outcome: verifyView(deps, parts) as PaymentRecord['outcome'],
    checkoutMode: payment.checkoutMode,
    type: payment.type,
    paylinkId: payment.paylinkId,
    openAmount: payment.openAmount,
    isSandbox: payment.sandbox,
    language: payment.language,
    createdAt: payment.createdAt.toISOString(),
    expiresAt: payment.expiresAt.toISOString(),
    resolvedAt: payment.resolvedAt?.toISOString() ?? null,
    selectedOfferId: payment.selectedOfferId,
    offers: parts.offers.map((offer) => offerView(deps, parts, offer) as PaymentRecord['offers'][number]),
    credits: credits.map(creditView),
    webhooks,
    timeline: timelineOf(parts, { credits, webhooks, events, aml }),
  };
}

function creditView(credit: CreditDetail): PaymentRecord['credits'][number] {
  return {
    asset: credit.assetSymbol,
    pool: credit.pool as PaymentRecord['credits'][number]['pool'],
    gross: credit.gross,
    networkFee: credit.networkFee,
    commission: credit.commission,
    net: credit.net,
    remaining: credit.remaining,
    creditedAt: credit.creditedAt.toISOString(),
    maturesAt: credit.maturesAt.toISOString(),
    maturedAt: credit.maturedAt?.toISOString() ?? null,
  };
}

interface Told {
  credits: readonly CreditDetail[];
  webhooks: readonly Delivery[];
  events: readonly Pick<PaymentEventRow, 'fromStatus' | 'toStatus' | 'at'>[];
  aml: readonly { from: string | null; to: string; at: Date }[];
}

/**
 * Everything that happened to a payment, oldest first; what happened at one moment in the order in which one thing leads to the next. A block's time is a
 * whole second by somebody else's clock: its deposit still comes after the payer learned the address. Pure.
 */
export function timelineOf({ payment, offers, deposits }: PaymentParts, { credits, webhooks, events, aml }: Told): Moment[] {
  const moments: Moment[] = [
    { at: payment.createdAt.toISOString(), what: 'created' },
    ...offers.flatMap(({ selectedAt, symbol, networkName }): Moment[] =>
      selectedAt === null ? [] : [{ at: selectedAt.toISOString(), what: 'selected', asset: symbol, network: networkName }],
    ),
    ...deposits.flatMap((deposit): Moment[] => {
      const { symbol: asset, networkName: network, txid: txHash, amount, height } = deposit;
      const which = { asset, network, txHash, amount: formatAmount(amount), ...(height !== null && { blockHeight: height }) };
      return [
        { at: deposit.firstSeenAt.toISOString(), what: 'seen', ...which },
        ...(deposit.finalAt === null ? [] : [{ at: deposit.finalAt.toISOString(), what: 'confirmed' as const, ...which }]),
        ...(deposit.lostAt === null ? [] : [{ at: deposit.lostAt.toISOString(), what: 'lost' as const, ...which }]),
      ];
    }),
    ...events.flatMap(({ fromStatus, toStatus, at }): Moment[] =>
      fromStatus === null || fromStatus === toStatus ? [] : [{ at: at.toISOString(), what: 'resolved', from: fromStatus, to: toStatus }],
    ),
    ...credits.map((credit): Moment => ({ at: credit.creditedAt.toISOString(), what: 'credited', asset: credit.assetSymbol, amount: credit.net })),
    ...aml.map(({ from, to, at }): Moment => ({ at: at.toISOString(), what: 'screened', from: from ?? 'NONE', to })),
    ...webhooks.flatMap((webhook) =>
      webhook.attempts.map((attempt): Moment => ({ at: attempt.startedAt, what: 'webhook', webhookId: webhook.id, result: attempt.result })),
    ),
    ...(payment.verifiedAt === null ? [] : [{ at: payment.verifiedAt.toISOString(), what: 'verified' as const }]),
    ...credits.flatMap(({ maturedAt, assetSymbol, net }): Moment[] =>
      maturedAt === null ? [] : [{ at: maturedAt.toISOString(), what: 'matured', asset: assetSymbol, amount: net }],
    ),
  ];
  const addressKnownAt = (name: string | undefined): number => {
    const selected = offers.flatMap(({ selectedAt, networkName }) => (selectedAt !== null && networkName === name ? [selectedAt.getTime()] : []));
    return selected.length > 0 ? Math.min(...selected) : payment.createdAt.getTime();
  };
  const placeOf = ({ what, network, at }: Moment): number => Math.max(Date.parse(at), what === 'seen' ? addressKnownAt(network) : 0);
  return moments.sort((a, b) => placeOf(a) - placeOf(b));
}
