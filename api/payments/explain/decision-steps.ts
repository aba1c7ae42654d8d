import type { Offer } from '#api/store/payment-offers.ts';
import type { PaymentEventRow, DepositPath } from '#api/store/payments.ts';
import type { FinalityRule } from '#shared/core/assets.ts';
import { formatAmount, formatCents, ONE, parseTrusted, type Usd } from '#shared/core/money.ts';
import { centsOf } from '#state-machines/payment/judge-deposit.ts';
import type { JudgingRule } from '#state-machines/payment/verdict.ts';
import { type ExplanationStep, type Figures, step } from './step.ts';
import type { PaymentParts } from '../view.ts';

/** The facts that judging a deposit left in the payment's history (`evidence` of outcome.ts); money is decimal text. */
interface Evidence {
  /** Ids of the deposits that were judged together, deciding one first. */
  deposits: readonly string[];
  txid: string;
  height: number | null;
  confirmations?: number | null;
  finality?: FinalityRule | null;
  firstSeenAt?: string;
  confirmedAt?: string;
  asset: string;
  received: string;
  rule: JudgingRule;
  price: string;
  priceKind: 'locked' | 'market';
  priceSource?: string | null;
  priceAt?: string | null;
  marketPrice?: string;
  marketPriceSource?: string;
  marketPriceAt?: string;
  receivedUsd: string;
  deviationUsd: string | null;
  overUsd: string;
  underUsd: string;
  path: DepositPath;
  /** For an open amount: the amount filled in. */
  amount?: string;
  amountUsd?: string;
  fiatRate?: string;
  fiatSource?: string;
  fiatAt?: string;
}

/** The amount a deposit was judged against: an offer's total at its locked price, or an open amount's minimum. */
interface Expected {
  offer: Offer | undefined;
  /** Dollars, in cents. */
  usd: Usd;
}

const CENT = 10n ** 16n;

/** Ids and sum of the transfers that were judged together when a deposit decided the payment. */
export function judgedTogether(events: readonly PaymentEventRow[]): { ids: readonly string[]; received: string } {
  const { deposits = [], received = '' } = (events.find(isDecision)?.facts ?? {}) as Partial<Evidence>;
  return { ids: deposits, received };
}

/** Whether an event is that of the deposit that decided the payment; its facts hold the whole judgement. */
export function isDecision(event: PaymentEventRow): boolean {
  return event.event === 'DEPOSIT_CONFIRMED' && event.fromStatus !== null;
}

/** The judgement of a deposit, calculation by calculation: finality, price, value, tolerance, decision, and what was recorded. Pure. */
export function decisionSteps(parts: PaymentParts, event: PaymentEventRow): ExplanationStep[] {
  const { payment, offers } = parts;
  const seen = event.facts as unknown as Evidence;
  const offer = offers.find((one) => one.id === payment.judgingOfferId);
  const expected: Expected = {
    offer,
    usd: payment.openAmount || offer === undefined ? centsOf(payment.minimumUsd ?? 0n, ONE) : centsOf(offer.totalValue, offer.priceUsd),
  };
  return [
    ...finalityStep(parts, event.at, seen),
    priceStep(parts, event.at, seen, expected),
    valueStep(parts, event.at, seen, expected),
    ...toleranceStep(parts, event.at, seen, expected),
    verdictStep(parts, event, seen, expected),
    ...recordSteps(parts, event.at, seen),
  ];
}

function finalityStep({ payment, deposits }: PaymentParts, at: Date, seen: Evidence): ExplanationStep[] {
  const network = deposits.find((one) => one.id === payment.decidingDepositId)?.networkName;
  if (seen.finality === null || seen.finality === undefined || seen.height === null)
    return payment.sandbox
      ? [
          step(at, 'finality', 'finality_simulated', 'A simulated deposit is final when its scenario says so; no chain and no balance is touched.', {
            confirmedAt: seen.confirmedAt,
          }),
        ]
      : [];
  const figures: Figures = { network, height: seen.height, confirmations: seen.confirmations, firstSeenAt: seen.firstSeenAt, confirmedAt: seen.confirmedAt };
  const where = `Block ${seen.height} had ${seen.confirmations} confirmations`;
  if ('blocks' in seen.finality)
    return [
      step(at, 'finality', 'finality_blocks', `${where}; for this value the network asks for ${seen.finality.blocks}.`, {
        ...figures,
        requiredConfirmations: seen.finality.blocks,
      }),
    ];
  return [
    step(at, 'finality', `finality_${seen.finality.tag}`, `${where} and the chain itself calls it ${seen.finality.tag}, which this value asks for.`, figures),
  ];
}

function priceStep({ payment }: PaymentParts, at: Date, seen: Evidence, { offer }: Expected): ExplanationStep {
  const figures = {
    asset: seen.asset,
    priceUsd: seen.price,
    priceSource: seen.priceSource,
    priceAt: seen.priceAt ?? (seen.priceKind === 'locked' ? offer?.priceAt : null),
    firstSeenAt: seen.firstSeenAt,
    expiresAt: payment.expiresAt,
  };
  const price = `${seen.price} USD`;
  if (seen.priceKind === 'locked')
    return step(
      at,
      'price',
      'price_locked',
      `It was first seen before the deadline, in the asset of an offer, so that offer's locked price of ${price} applies.`,
      figures,
    );
  const market = `the market price at confirmation applies: ${price}${seen.priceSource ? ` (${seen.priceSource})` : ''}`;
  if (payment.openAmount) return step(at, 'price', 'price_market_open_amount', `The amount is open, so ${market}.`, figures);
  if (offer?.assetId !== payment.receivedAssetId)
    return step(at, 'price', 'price_market_other_asset', `${seen.asset} was not the selected asset, so ${market}.`, figures);
  return step(at, 'price', 'price_market_late', `It was first seen after the deadline, so ${market}.`, figures);
}

function valueStep({ payment }: PaymentParts, at: Date, seen: Evidence, { offer, usd }: Expected): ExplanationStep {
  const received = `${seen.received} ${seen.asset} × ${seen.price} USD = ${cents(seen.receivedUsd)} USD received`;
  const figures = {
    assetId: payment.receivedAssetId,
    asset: seen.asset,
    receivedAmount: seen.received,
    priceUsd: seen.price,
    receivedUsd: cents(seen.receivedUsd),
    expectedUsd: formatCents(usd),
  };
  if (payment.openAmount || offer === undefined)
    return step(at, 'value', 'value_against_minimum', `${received}, against a minimum of ${formatCents(usd)} USD.`, {
      ...figures,
      minAmountUsd: payment.minimumUsd,
    });
  const deviation = seen.deviationUsd === null ? undefined : cents(seen.deviationUsd);
  const text = `${received}; ${formatAmount(offer.totalValue)} ${offer.symbol} × ${formatAmount(offer.priceUsd)} USD = ${formatCents(usd)} USD expected; the difference is ${deviation} USD. Each is rounded half-up to cents.`;
  return step(at, 'value', 'value_against_offer', text, {
    ...figures,
    expectedAssetId: offer.assetId,
    expectedAsset: offer.symbol,
    expectedAmount: offer.totalValue,
    expectedPriceUsd: offer.priceUsd,
    deviationUsd: deviation,
  });
}

function toleranceStep({ payment }: PaymentParts, at: Date, seen: Evidence, { offer, usd }: Expected): ExplanationStep[] {
  if (payment.openAmount || offer === undefined || seen.rule === 'deviation_not_checked' || seen.rule === 'exact_total_value') return [];
  const [overUsd, underUsd] = [cents(seen.overUsd), cents(seen.underUsd)];
  const figures = {
    acceptableDiffKind: payment.toleranceKind,
    overAcceptableDiff: payment.overTolerance,
    underAcceptableDiff: payment.underTolerance,
    expectedAmount: offer.totalValue,
    expectedPriceUsd: offer.priceUsd,
    overUsd,
    underUsd,
  };
  if (offer.totalValue * offer.priceUsd < CENT * ONE)
    return [step(at, 'tolerance', 'tolerance_below_a_cent', 'Less than a cent was expected, so coins are compared and nothing is tolerated.', figures)];
  const bounds = `at most ${underUsd} USD too little and ${overUsd} USD too much, the bounds included`;
  if (payment.toleranceKind === 'ABSOLUTE') return [step(at, 'tolerance', 'tolerance_absolute', `Tolerated: ${bounds}.`, figures)];
  const percent = (value: bigint): string => formatAmount(value > 0n ? value : 0n);
  const text = `Tolerated: ${percent(payment.underTolerance)} % too little and ${percent(payment.overTolerance)} % too much of ${formatCents(usd)} USD, that is ${bounds}.`;
  return [step(at, 'tolerance', 'tolerance_percentage', text, figures)];
}

function verdictStep({ payment, deposits }: PaymentParts, event: PaymentEventRow, seen: Evidence, { offer, usd }: Expected): ExplanationStep {
  const deviation = seen.deviationUsd === null ? undefined : cents(seen.deviationUsd);
  const tooLittle = deviation?.startsWith('-') === true;
  const off = `${deviation?.replace('-', '')} USD too ${tooLittle ? 'little' : 'much'}`;
  const reason: Record<JudgingRule, string> = {
    exact_total_value: `exactly the ${offer === undefined ? '' : `${formatAmount(offer.totalValue)} ${offer.symbol} `}asked for arrived`,
    deviation_not_checked: 'checkAmountDeviation is false, so any amount is accepted',
    no_deviation: `what arrived is worth the ${formatCents(usd)} USD expected`,
    within_over_tolerance: `${off} is within the tolerated ${cents(seen.overUsd)} USD`,
    within_under_tolerance: `${off} is within the tolerated ${cents(seen.underUsd)} USD`,
    outside_tolerance:
      deviation === '0.00'
        ? 'the coins are not those asked for, and too little for cents to tell'
        : `${off} is more than the tolerated ${cents(tooLittle ? seen.underUsd : seen.overUsd)} USD`,
    open_amount_minimum_met: `${cents(seen.receivedUsd)} USD is at least the minimum of ${formatCents(usd)} USD`,
    open_amount_below_minimum: `${cents(seen.receivedUsd)} USD is below the minimum of ${formatCents(usd)} USD`,
  };
  const claimedBy = deposits.find((one) => one.id === payment.decidingDepositId)?.claimedBy;
  const seenLate = seen.firstSeenAt !== undefined && new Date(seen.firstSeenAt) >= payment.expiresAt;
  const path: Record<DepositPath, string> = {
    standard: '',
    late_confirmation: seenLate
      ? ' The deposit was first seen after the deadline, before the payment had expired.'
      : ' The deposit was seen in time and confirmed after the deadline.',
    late_capture: ' The payment had expired; the deposit fell inside the grace period and reopened it.',
    manual_inquiry:
      claimedBy === 'operator' ? ' The operator allocated the deposit to this payment.' : ' The deposit was found by an inquiry about its transaction.',
  };
  const text = `${event.fromStatus} → ${event.toStatus}: ${reason[seen.rule] ?? 'the deposit was judged'}.${path[seen.path] ?? ''}`;
  return step(event.at, 'decision', seen.rule ?? 'judged', text, {
    from: event.fromStatus,
    to: event.toStatus,
    txHash: seen.txid,
    receivedUsd: cents(seen.receivedUsd),
    expectedUsd: formatCents(usd),
    deviationUsd: deviation,
    ...(!payment.openAmount && { overUsd: cents(seen.overUsd), underUsd: cents(seen.underUsd) }),
    depositPath: seen.path,
    claimedBy,
    actor: event.actor,
  });
}

/** The figures that verify reports beside the verdict: the market value of what arrived, and the amount filled into an open one. */
function recordSteps({ payment }: PaymentParts, at: Date, seen: Evidence): ExplanationStep[] {
  const steps: ExplanationStep[] = [];
  if (payment.receivedAmountUsd !== null && seen.marketPrice !== undefined) {
    const value = formatCents(payment.receivedAmountUsd);
    const text = `receivedAmountUsd: ${seen.received} ${seen.asset} × ${seen.marketPrice} USD on the market (${seen.marketPriceSource}) = ${value} USD, half-up to cents.`;
    const figures = {
      receivedAmount: seen.received,
      marketPriceUsd: seen.marketPrice,
      marketPriceSource: seen.marketPriceSource,
      marketPriceAt: seen.marketPriceAt,
      receivedAmountUsd: value,
    };
    steps.push(step(at, 'record', 'record_market_value', text, figures));
  }
  if (payment.openAmount && seen.amount !== undefined && seen.amountUsd !== undefined) {
    const usd = cents(seen.amountUsd);
    const figures = {
      amount: seen.amount,
      amountUsd: usd,
      currencyCode: payment.currencyCode,
      fiatRate: seen.fiatRate,
      fiatSource: seen.fiatSource,
      fiatAt: seen.fiatAt,
    };
    const sum =
      seen.fiatRate === undefined
        ? ''
        : ` ÷ ${seen.fiatRate} USD per ${payment.currencyCode} (${seen.fiatSource}) = ${seen.amount} ${payment.currencyCode}, half-up to 2 decimals`;
    steps.push(step(at, 'record', 'record_open_amount', `The payment's amount is now ${usd} USD${sum}.`, figures));
  }
  return steps;
}

function cents(text: string): string {
  return formatCents(parseTrusted<'usd'>(text));
}
