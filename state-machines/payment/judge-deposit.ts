import { Invariant } from '#shared/core/errors.ts';
import { amount, type Coins, coinsToUsd, mulDiv, ONE, type Usd, zero } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import { type JudgingRule, type Verdict, verdictOf } from './verdict.ts';

/** How a payment's deviations are judged. A tolerance at or below zero means none on that side. */
export interface Tolerance {
  kind: 'ABSOLUTE' | 'PERCENTAGE';
  /** Dollars, or percent of the expected dollars. */
  over: bigint;
  under: bigint;
}

/** An offer for which select was called. */
export interface SelectedOffer {
  id: string;
  assetId: string;
  /** Locked price. */
  priceUsd: Usd;
  totalValue: Coins;
  /** Milliseconds since the epoch. */
  selectedAt: number;
}

export interface JudgedPayment {
  openAmount: boolean;
  /** Smallest open amount; null when there is none. */
  minimumUsd: Usd | null;
  checkAmountDeviation: boolean;
  tolerance: Tolerance;
  /** Milliseconds since the epoch, as are all times here. */
  expiresAt: number;
  /** Whether the payment's status is EXPIRED. */
  expired: boolean;
  /** Whether another deposit already decided the payment, so this one changes no status. */
  decided: boolean;
  /** The selected offers; at least one for a fixed amount, because only a selection assigns an address. */
  selected: readonly SelectedOffer[];
}

export interface ConfirmedDeposit {
  assetId: string;
  /** Sum of the transfers that are judged together (decisions 3). */
  received: Coins;
  /** Block time, or the first sighting in the mempool if that was earlier. */
  firstSeenAt: number;
  /** Time of the block that holds it; equals the first sighting where nothing waits in a mempool. */
  minedAt?: number;
  /** When it became final. */
  confirmedAt: number;
  /** Market price of one coin of the received asset, at most 120 s old at confirmation; null when there is none yet. */
  marketPriceUsd: Usd | null;
  /** Whether it was matched by hand: by an inquiry with its transaction hash, or by the operator. */
  byInquiry: boolean;
}

export type DepositPath = 'standard' | 'late_confirmation' | 'late_capture' | 'manual_inquiry';

/** The verdict on a deposit, with every figure that verify reports and an operator may ask about. */
export interface Judgement {
  verdict: Verdict;
  rule: JudgingRule;
  path: DepositPath;
  /** The offer that judged it: that of the received asset if selected, else the one selected last; null for an open amount without offers. */
  offerId: string | null;
  /** Whether the exact `totalValue` arrived while its locked price applied; fees then follow the offer's own figures. */
  exact: boolean;
  /** The price that valued the deposit, and whether it was the offer's or the market's. */
  priceUsd: Usd;
  priceKind: 'locked' | 'market';
  /** Coins that the judging offer asked for; null for an open amount. */
  expectedAmount: Coins | null;
  /** Dollars with all 18 decimals; the minimum for an open amount. */
  expectedUsd: Usd;
  /** At the price that judged, in cents. */
  receivedUsd: Usd;
  /** Signed difference of the two, both in cents; null on SUCCESS of an open amount. */
  deviationUsd: Usd | null;
  /** The tolerances that applied, in dollars; zero means none. */
  overUsd: Usd;
  underUsd: Usd;
  /** At the market price, in cents; null when there was no fresh price and none was needed to judge. */
  receivedAmountUsd: Usd | null;
}

/** `needs` names what must be fetched before the deposit can be judged; until then the payment stays as it is. */
export type Judged = { needs: 'marketPrice' } | Judgement;

const CENT = 10n ** 16n;

/**
 * Decides how a confirmed deposit changes its payment (contract 3.1, decisions 3 and 4).
 * Pure. Every comparison uses exact products, or cents that were rounded once, half-up, from them.
 */
export function judgeDeposit(payment: JudgedPayment, deposit: ConfirmedDeposit): Judged {
  return payment.openAmount ? judgeOpenAmount(payment, deposit) : judgeFixedAmount(payment, deposit);
}

/**
 * Whether a deposit was seen early enough to be valued at its locked price: before the deadline, and mined no later than soon after the deadline,
 * if it was first seen in the mempool.
 * Otherwise a payer could offer miners next to nothing, hold a price for weeks and then choose whether to pay (decisions 3).
 */
export function holdsPrice({ firstSeenAt, minedAt = firstSeenAt }: Pick<ConfirmedDeposit, 'firstSeenAt' | 'minedAt'>, expiresAt: number): boolean {
  return firstSeenAt < expiresAt && minedAt <= expiresAt + POLICY.mempoolHoldsPriceSeconds * 1_000;
}

/** Whether a transfer is too small to resolve a payment; dust is recorded and nothing else (decisions 3). */
export function isDust(received: Coins, dustFloor: Coins): boolean {
  return received < dustFloor;
}

/** Whether a deposit was first seen no later than the end of the grace period after expiry, that moment included (contract 3.1, decisions 4). */
export function isWithinGrace(firstSeenAt: number, expiresAt: number, graceSeconds: number): boolean {
  return firstSeenAt <= expiresAt + graceSeconds * 1000;
}

/** Open amounts have no tolerances, no `checkAmountDeviation` and no ACCEPTABLE; only the minimum counts (contract 3.1, 4.1). */
function judgeOpenAmount(payment: JudgedPayment, deposit: ConfirmedDeposit): Judged {
  if (deposit.marketPriceUsd === null) return { needs: 'marketPrice' };
  const receivedCents = centsOf(deposit.received, deposit.marketPriceUsd);
  const expectedUsd = payment.minimumUsd ?? zero;
  const deviation = amount<'usd'>(receivedCents - centsOf(expectedUsd, ONE));
  const rule = deviation >= 0n ? 'open_amount_minimum_met' : 'open_amount_below_minimum';
  return {
    verdict: verdictOf(rule),
    rule,
    path: pathOf(payment, deposit),
    offerId: (payment.selected.find((offer) => offer.assetId === deposit.assetId) ?? lastSelected(payment))?.id ?? null,
    exact: false,
    priceUsd: deposit.marketPriceUsd,
    priceKind: 'market',
    expectedAmount: null,
    expectedUsd,
    receivedUsd: receivedCents,
    deviationUsd: deviation >= 0n ? null : deviation,
    overUsd: zero,
    underUsd: zero,
    receivedAmountUsd: receivedCents,
  };
}

function judgeFixedAmount(payment: JudgedPayment, deposit: ConfirmedDeposit): Judged {
  const own = payment.selected.find((offer) => offer.assetId === deposit.assetId);
  const offer = own ?? lastSelected(payment);
  if (offer === undefined) throw new Invariant('a deposit reached a payment for which nothing was selected');

  // The merchant bears the risk of the locked price only until the deadline, and only for an asset that was quoted.
  const locked = own !== undefined && holdsPrice(deposit, payment.expiresAt);
  const priceUsd = locked ? own.priceUsd : deposit.marketPriceUsd;
  if (priceUsd === null) return { needs: 'marketPrice' };

  const receivedCents = centsOf(deposit.received, priceUsd);
  const sameCoins = own !== undefined && deposit.received === offer.totalValue;
  const exact = locked && sameCoins;
  // Cents cannot distinguish amounts this small, so any difference counts.
  const tiny = offer.totalValue * offer.priceUsd < CENT * ONE;
  const overUsd = tiny ? zero : toleranceUsd(payment.tolerance.kind, payment.tolerance.over, offer);
  const underUsd = tiny ? zero : toleranceUsd(payment.tolerance.kind, payment.tolerance.under, offer);
  const deviationUsd = exact ? zero : amount<'usd'>(receivedCents - centsOf(offer.totalValue, offer.priceUsd));
  const sameTinyValue = sameCoins || (own === undefined && deposit.received * priceUsd === offer.totalValue * offer.priceUsd);
  const rule = exact
    ? 'exact_total_value'
    : !payment.checkAmountDeviation
      ? 'deviation_not_checked'
      : (tiny ? sameTinyValue : deviationUsd === 0n)
        ? 'no_deviation'
        : toleranceRule(deviationUsd, overUsd, underUsd);

  return {
    verdict: verdictOf(rule),
    rule,
    path: pathOf(payment, deposit),
    offerId: offer.id,
    exact,
    priceUsd,
    priceKind: locked ? 'locked' : 'market',
    expectedAmount: offer.totalValue,
    expectedUsd: coinsToUsd(offer.totalValue, offer.priceUsd, 'half-up'),
    receivedUsd: receivedCents,
    deviationUsd,
    overUsd,
    underUsd,
    receivedAmountUsd: deposit.marketPriceUsd === null ? null : centsOf(deposit.received, deposit.marketPriceUsd),
  };
}

/** Bounds are inclusive: 99.00 of 100 with 1 % under is ACCEPTABLE, 98.99 is not. */
function toleranceRule(deviation: Usd, overUsd: Usd, underUsd: Usd): JudgingRule {
  if (deviation > 0n && deviation <= overUsd) return 'within_over_tolerance';
  return deviation < 0n && -deviation <= underUsd ? 'within_under_tolerance' : 'outside_tolerance';
}

/** The tolerance of one side in dollars, rounded to cents; zero or less means none. */
function toleranceUsd(kind: Tolerance['kind'], value: bigint, offer: SelectedOffer): Usd {
  if (value <= 0n) return zero;
  if (kind === 'ABSOLUTE') return centsOf(value, ONE);
  return amount(mulDiv(offer.totalValue * offer.priceUsd, value, 100n * ONE * ONE * CENT, 'half-up') * CENT);
}

/** `quantity × priceUsd` in dollars, rounded once, half-up, to whole cents. */
export function centsOf(quantity: bigint, priceUsd: bigint): Usd {
  return amount(mulDiv(quantity, priceUsd, ONE * CENT, 'half-up') * CENT);
}

function lastSelected(payment: JudgedPayment): SelectedOffer | undefined {
  return payment.selected.reduce<SelectedOffer | undefined>(
    (last, offer) => (last === undefined || offer.selectedAt >= last.selectedAt ? offer : last),
    undefined,
  );
}

/** A further deposit that was not seen before the deadline is captured late, whatever its payment's status (decisions 4). */
function pathOf(payment: JudgedPayment, deposit: ConfirmedDeposit): DepositPath {
  if (deposit.byInquiry) return 'manual_inquiry';
  if (payment.expired || (payment.decided && deposit.firstSeenAt >= payment.expiresAt)) return 'late_capture';
  return deposit.confirmedAt < payment.expiresAt ? 'standard' : 'late_confirmation';
}
