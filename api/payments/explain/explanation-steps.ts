import type { Deps } from '#api/deps.ts';
import { MERCHANT_PRICE, type Offer } from '#api/store/payment-offers.ts';
import type { PaymentDeposit } from '#api/store/payment-deposits.ts';
import type { PaymentEventRow } from '#api/store/payments.ts';
import { coinsToUsd, formatAmount } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import { buildOffer, quoteDecimalsOf } from '#state-machines/payment/offer.ts';
import { decisionSteps, isDecision, judgedTogether } from './decision-steps.ts';
import { expectedStep } from './expected-steps.ts';
import { feeStep } from './fee-step.ts';
import { graceEnd, nextStep } from './next-step.ts';
import { ageSeconds, bearer, type ExplainedPayment, type ExplanationStep, step } from './step.ts';
import { type PaymentParts, shownAddress } from '../view.ts';

/** Tells a payment's story in order; every step has the figures of its sentence. Pure. */
export function explanationSteps(deps: Pick<Deps, 'chains'>, facts: ExplainedPayment): ExplanationStep[] {
  const { parts, events } = facts;
  const told = [
    ...creationSteps(parts),
    ...selectionSteps(deps, parts),
    ...facts.expected.map(expectedStep),
    ...parts.deposits.map((deposit) => depositStep(deps, facts, deposit)),
    ...events.flatMap((event) => (isDecision(event) ? decisionSteps(parts, event) : event.fromStatus === null ? [] : [expiryStep(parts, event)])),
    ...parts.deposits.flatMap((deposit) => feeStep(facts, deposit)),
    ...webhookSteps(facts),
    ...(parts.payment.verifiedAt === null ? [] : [step(parts.payment.verifiedAt, 'verify', 'verified', 'The merchant verified the outcome.', {})]),
  ];
  // The sort is stable, so steps of the same moment keep the order of the calculation.
  return [...told.sort((a, b) => a.at.localeCompare(b.at)), nextStep(facts)];
}

function creationSteps({ payment, offers }: PaymentParts): ExplanationStep[] {
  const at = payment.createdAt;
  const deadline = { timeoutSeconds: payment.timeoutSeconds, expiresAt: payment.expiresAt };
  return [
    invoiceStep({ payment }, deadline),
    termsStep({ payment }),
    ...offers.map((offer) => (payment.openAmount ? openOfferStep(at, offer) : offerStep({ payment }, offer))),
  ];
}

function invoiceStep({ payment }: Pick<PaymentParts, 'payment'>, deadline: Record<string, number | Date>): ExplanationStep {
  const { createdAt: at, currencyCode, fiatRate, fiatSource, fiatAt } = payment;
  const until = `payable until ${payment.expiresAt.toISOString()}`;
  if (payment.openAmount) {
    const minimum = formatAmount(payment.minimumUsd ?? 0n);
    return step(at, 'invoice', 'invoice_open_amount', `The payer chooses the amount, worth at least ${minimum} USD when it is confirmed; ${until}.`, {
      currencyCode,
      minAmountUsd: minimum,
      ...deadline,
    });
  }
  const amountUsd = formatAmount(payment.amountUsd);
  const figures = { amount: payment.amount, currencyCode, amountUsd, ...deadline };
  if (currencyCode === 'USD') return step(at, 'invoice', 'invoice_usd', `The invoice is ${payment.amount} USD; ${until}.`, figures);
  if (fiatRate === null || fiatAt === null)
    return step(
      at,
      'invoice',
      'invoice_fiat',
      `The invoice is ${payment.amount} ${currencyCode}, ${amountUsd} USD at the rate of that moment; ${until}.`,
      figures,
    );
  const age = ageSeconds(fiatAt, at);
  const text = `${payment.amount} ${currencyCode} × ${formatAmount(fiatRate)} USD per ${currencyCode} (${fiatSource}, ${age} s old) = ${amountUsd} USD, rounded up at 18 decimals; ${until}.`;
  return step(at, 'invoice', 'invoice_fiat', text, { ...figures, fiatRate, fiatSource, fiatAt, fiatAgeSeconds: age });
}

function termsStep({ payment }: Pick<PaymentParts, 'payment'>): ExplanationStep {
  const figures = {
    txFeePayer: payment.txFeePayer,
    commissionFeePayer: payment.commissionFeePayer,
    commissionBps: payment.commissionBps,
    commissionMinimumUsd: payment.commissionMinimumUsd,
    graceSeconds: payment.graceSeconds,
  };
  const minimum = payment.commissionMinimumUsd > 0n ? `, at least ${formatAmount(payment.commissionMinimumUsd)} USD` : '';
  const fees = `The network fee is borne by ${bearer(payment.txFeePayer)}, the commission of ${payment.commissionBps} basis points${minimum} by ${bearer(payment.commissionFeePayer)}.`;
  if (payment.openAmount) return step(payment.createdAt, 'terms', 'terms_open_amount', `${fees} Tolerances do not apply to an open amount.`, figures);
  const unit = payment.toleranceKind === 'ABSOLUTE' ? 'USD' : '% of the expected USD';
  const side = (value: bigint): string => (value > 0n ? `${formatAmount(value)} ${unit}` : 'nothing');
  const tolerated = payment.checkAmountDeviation
    ? `Tolerated: ${side(payment.underTolerance)} too little, ${side(payment.overTolerance)} too much.`
    : 'Any amount is accepted, because checkAmountDeviation is false.';
  return step(payment.createdAt, 'terms', payment.checkAmountDeviation ? 'terms_tolerance' : 'terms_any_amount', `${fees} ${tolerated}`, {
    ...figures,
    overAcceptableDiff: payment.overTolerance,
    underAcceptableDiff: payment.underTolerance,
    acceptableDiffKind: payment.toleranceKind,
    checkAmountDeviation: payment.checkAmountDeviation,
  });
}

const named = (offer: Offer) => ({ offerId: offer.id, assetId: offer.assetId, asset: offer.symbol, network: offer.networkName, decimals: offer.decimals });

function priced(offer: Offer, at: Date) {
  return {
    priceUsd: offer.priceUsd,
    priceSource: offer.priceSource,
    ...(offer.priceAt !== null && { priceAt: offer.priceAt, priceAgeSeconds: ageSeconds(offer.priceAt, at) }),
  };
}

/**
 * To how many decimals an offer was rounded up: as the rule says, unless its figures show another number (an older release, or the asset's own
 * setting).
 */
function quotedAt(payment: PaymentParts['payment'], offer: Offer): number {
  const terms = { ...payment, ...offer, principalUsd: payment.amountUsd, assetPriceUsd: offer.priceUsd };
  const isSo = (quoteDecimals: number): boolean => {
    const { amount, txFee, commissionFee } = buildOffer({ ...terms, quoteDecimals });
    return amount === offer.amount && txFee === offer.txFee && commissionFee === offer.commissionFee;
  };
  return [quoteDecimalsOf(terms), ...Array(offer.decimals).keys()].find(isSo) ?? offer.decimals;
}

function offerStep({ payment }: Pick<PaymentParts, 'payment'>, offer: Offer): ExplanationStep {
  const at = payment.createdAt;
  const quoteDecimals = quotedAt(payment, offer);
  const source =
    offer.priceAt === null
      ? offer.priceSource === MERCHANT_PRICE
        ? "the merchant's own price"
        : offer.priceSource
      : `${offer.priceSource}, ${ageSeconds(offer.priceAt, at)} s old`;
  const fees = [
    ...(offer.txFee > 0n ? [` + ${formatAmount(offer.txFee)} network fee`] : []),
    ...(offer.commissionFee > 0n ? [` + ${formatAmount(offer.commissionFee)} commission`] : []),
  ].join('');
  const sum = fees === '' ? '' : `${fees} = ${formatAmount(offer.totalValue)} ${offer.symbol}`;
  const text = `${formatAmount(payment.amountUsd)} USD ÷ ${formatAmount(offer.priceUsd)} USD (${source}) = ${formatAmount(offer.amount)} ${offer.symbol} on ${offer.networkName}, rounded up at ${quoteDecimals} decimals${sum}.`;
  return step(at, 'offer', offer.priceSource === MERCHANT_PRICE ? 'offer_merchant_price' : 'offer_market_price', text, {
    ...named(offer),
    ...priced(offer, at),
    quoteDecimals,
    amountUsd: payment.amountUsd,
    amount: offer.amount,
    networkFee: offer.networkFee,
    txFee: offer.txFee,
    commissionFee: offer.commissionFee,
    totalValue: offer.totalValue,
  });
}

function openOfferStep(at: Date, offer: Offer): ExplanationStep {
  const text = `Payable in ${offer.symbol} on ${offer.networkName}, at ${formatAmount(offer.priceUsd)} USD for information: what counts is the price when the deposit is confirmed.`;
  return step(at, 'offer', 'offer_open_amount', text, { ...named(offer), ...priced(offer, at), networkFee: offer.networkFee });
}

function selectionSteps(deps: Pick<Deps, 'chains'>, { payment, offers, addresses }: PaymentParts): ExplanationStep[] {
  const selected = offers.flatMap((offer) => {
    if (offer.selectedAt === null) return [];
    if (payment.openAmount) return [step(offer.selectedAt, 'select', 'selected', `${offer.symbol} on ${offer.networkName} was selected.`, named(offer))];
    const expectedUsd = coinsToUsd(offer.totalValue, offer.priceUsd, 'half-up');
    const text = `${offer.symbol} on ${offer.networkName} was selected: ${formatAmount(offer.totalValue)} ${offer.symbol} × ${formatAmount(offer.priceUsd)} USD = ${formatAmount(expectedUsd)} USD expected.`;
    return [step(offer.selectedAt, 'select', 'selected', text, { ...named(offer), totalValue: offer.totalValue, priceUsd: offer.priceUsd, expectedUsd })];
  });
  const assigned = addresses.map((address) => {
    const offer = offers.find((one) => one.networkId === address.networkId && one.selectedAt !== null);
    const shown = offer === undefined ? undefined : shownAddress(deps, payment, addresses, offer);
    const network = offer?.networkName ?? address.networkId;
    return shown === undefined
      ? step(
          address.createdAt,
          'address',
          'address_not_watched',
          `An address on ${network} was assigned; it is shown once the indexer of ${network} watches it.`,
          { network },
        )
      : step(address.createdAt, 'address', 'address_assigned', `The address on ${network} is ${shown}.`, { network, depositAddress: shown });
  });
  return [...selected, ...assigned];
}

/**
 * When a deposit is told. A block's time has whole seconds and its producer's clock, so a deposit may look older than the address it paid or the
 * selection before it; it is told after both.
 * Only a deposit that the operator brought from another payment can really be older.
 */
function toldAt({ addresses, offers }: PaymentParts, { firstSeenAt, claimedBy, finalAt }: PaymentDeposit): Date {
  if (claimedBy === 'operator') return firstSeenAt;
  const seen = firstSeenAt.getTime();
  const selected = offers.flatMap((offer) => (offer.selectedAt === null ? [] : [offer.selectedAt.getTime()]));
  const earlier = selected.filter((at) => at < seen + 1_000 && (finalAt === null || at <= finalAt.getTime()));
  return new Date(Math.max(seen, addresses[0]?.createdAt.getTime() ?? 0, ...earlier));
}

function depositStep(deps: Pick<Deps, 'chains'>, { parts, events, assets }: ExplainedPayment, deposit: PaymentDeposit): ExplanationStep {
  const { payment, addresses } = parts;
  const asset = assets.find((one) => one.id === deposit.assetId);
  const graceEndsAt = graceEnd(payment);
  const block = deposit.height === null ? '' : ` in block ${deposit.height}`;
  const arrived = `${formatAmount(deposit.amount)} ${deposit.symbol} arrived on ${deposit.networkName}${block}, transaction ${deposit.txid}`;
  const claimed =
    deposit.claimedBy === null
      ? ''
      : deposit.claimedBy === 'inquiry'
        ? '; an inquiry matched it to this payment'
        : '; the operator allocated it to this payment';
  const figures = {
    depositId: deposit.id,
    txHash: deposit.txid,
    assetId: deposit.assetId,
    asset: deposit.symbol,
    network: deposit.networkName,
    decimals: deposit.decimals,
    amount: deposit.amount,
    height: deposit.height,
    confirmations: deposit.confirmations,
    firstSeenAt: deposit.firstSeenAt,
    blockTime: deposit.blockTime,
    state: deposit.state,
    finalAt: deposit.finalAt,
    depositPath: deposit.path,
    claimedBy: deposit.claimedBy,
  };
  const at = toldAt(parts, deposit);
  if (deposit.lostAt !== null)
    return step(
      at,
      'deposit',
      'deposit_lost',
      `${arrived}${claimed}; since ${deposit.lostAt.toISOString()} that block is no longer part of the chain. What was booked and decided by then stands.`,
      { ...figures, lostAt: deposit.lostAt },
    );
  switch (deposit.state) {
    case 'seen':
      return step(at, 'deposit', 'deposit_seen', `${arrived}${claimed}; it has ${deposit.confirmations} confirmations and is not booked yet.`, figures);
    case 'dropped':
      return step(at, 'deposit', 'deposit_dropped', `${arrived}; that block is no longer part of the chain.`, figures);
    case 'dust':
      return step(
        at,
        'deposit',
        'deposit_dust',
        `${arrived}; below ${formatAmount(asset?.dustFloor ?? 0n)} ${deposit.symbol} a transfer is recorded and decides nothing.`,
        {
          ...figures,
          dustFloor: asset?.dustFloor ?? null,
        },
      );
    case 'unallocated': {
      const own = addresses.some((address) => address.networkId === deps.chains.get(deposit.networkName)?.id);
      return own
        ? step(
            at,
            'deposit',
            'deposit_after_grace',
            `${arrived}; the grace period had ended at ${graceEndsAt.toISOString()}, so it is kept for the operator to allocate.`,
            { ...figures, graceEndsAt },
          )
        : step(
            at,
            'deposit',
            'deposit_other_network',
            `${arrived}, a network this payment was not selected on; it is kept for the operator to allocate.`,
            figures,
          );
    }
    case 'credited': {
      const { ids, received } = judgedTogether(events);
      if (!ids.includes(deposit.id)) return step(at, 'deposit', 'deposit_credited', `${arrived}${claimed}.`, figures);
      if (ids.length === 1) return step(at, 'deposit', 'deposit_decided', `${arrived}${claimed}.`, figures);
      const together = `the transfers of ${deposit.symbol} in that block counted as one deposit of ${received} ${deposit.symbol}`;
      return step(at, 'deposit', 'deposit_decided', `${arrived}${claimed}; ${together}.`, { ...figures, judgedTogether: received });
    }
  }
}

/** That the deadline passed: whatever else moves a payment is a deposit, whose judgement says so. */
function expiryStep({ payment }: PaymentParts, event: PaymentEventRow): ExplanationStep {
  const text = `${event.fromStatus} → EXPIRED: the deadline ${payment.expiresAt.toISOString()} passed and no deposit was on its way.`;
  const moved = { from: event.fromStatus, to: event.toStatus, actor: event.actor };
  return step(event.at, 'expiry', 'unpaid_at_deadline', text, { ...moved, expiresAt: payment.expiresAt });
}

function webhookSteps({ parts, webhooks, attempts }: ExplainedPayment): ExplanationStep[] {
  const { webhookUrl, resolvedAt } = parts.payment;
  if (webhookUrl === null)
    return resolvedAt === null ? [] : [step(resolvedAt, 'webhook', 'webhook_none', 'No webhook was sent: the payment has no webhookUrl.', {})];
  const queued = webhooks.map((webhook) => {
    const state = {
      pending: `attempt ${webhook.attempts + 1} is due at ${webhook.nextAttemptAt.toISOString()}`,
      delivered: 'delivered',
      exhausted: `given up after ${webhook.attempts} attempts`,
      stopped: 'stopped by the receiver (410)',
    }[webhook.state];
    return step(webhook.createdAt, 'webhook', `webhook_${webhook.state}`, `The webhook ${webhook.status} to ${webhook.url}: ${state}.`, {
      webhookId: webhook.id,
      status: webhook.status,
      url: webhook.url,
      state: webhook.state,
      attempts: webhook.attempts,
      nextAttemptAt: webhook.state === 'pending' ? webhook.nextAttemptAt : null,
      deliveredAt: webhook.deliveredAt,
    });
  });
  const tried = attempts.map((attempt) => {
    const outcome = attempt.finishedAt === null ? 'never finished' : `${attempt.httpStatus ?? attempt.result} after ${attempt.durationMs} ms`;
    return step(
      attempt.startedAt,
      'webhook',
      'webhook_attempt',
      `${attempt.manual ? 'Resend' : 'Attempt'} ${attempt.number} of the webhook ${attempt.status}: ${outcome}.`,
      {
        webhookId: attempt.eventId,
        status: attempt.status,
        number: attempt.number,
        manual: attempt.manual,
        scheduledAttempts: POLICY.webhookPausesSeconds.length,
        result: attempt.result,
        httpStatus: attempt.httpStatus,
        durationMs: attempt.durationMs,
      },
    );
  });
  return [...queued, ...tried];
}
