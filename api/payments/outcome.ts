import type { Price } from '#api/deps.ts';
import type { Offer } from '#api/store/payment-offers.ts';
import type { Payment } from '#api/store/payments.ts';
import type { FinalityRule } from '#shared/core/assets.ts';
import { amount, type Coins, formatAmount, formatCents, mulDiv, ONE, toCents, type Usd } from '#shared/core/money.ts';
import type { Judgement } from '#state-machines/payment/judge-deposit.ts';

const HUNDREDTH = ONE / 100n;

/** Market prices at confirmation, by ticker or `fiat:<CODE>`. A price that is not fresh is missing. */
export type Prices = ReadonlyMap<string, Price>;

/** Coins that were judged together, from a chain or the sandbox. */
export interface Arrival {
  /** Ids of rows of `deposits`, or of `sandbox_deposits` for a sandbox payment; deciding one first. */
  depositIds: readonly string[];
  txid: string;
  assetId: string;
  symbol: string;
  total: Coins;
  /** Null in the sandbox, like the three below. */
  blockHash: string | null;
  height: number | null;
  confirmations: number | null;
  /** The rule by which it became final. */
  finality: FinalityRule | null;
  firstSeenAt: Date;
  confirmedAt: Date;
}

/** The amount an open-amount payment gets when its deposit decides (contract 2.7, 4.1). */
export interface FilledAmount {
  /** In the payment's currency, with two decimals. */
  amount: string;
  /** In cents: what was received on SUCCESS, the minimum on MISMATCH. */
  amountUsd: Usd;
  /** Dollars per unit of the currency; null for dollars. */
  fiat: Price | null;
}

/** A judged arrival, with everything that the payment's columns and history record of it. */
export interface Outcome {
  judged: Judgement;
  arrival: Arrival;
  offers: readonly Offer[];
  prices: Prices;
  /** Null for a fixed amount, which never changes. */
  filled: FilledAmount | null;
}

/**
 * The amount filled into an open-amount payment: dollars in cents, and those dollars in its currency, half-up to two decimals.
 * Null for a fixed amount. Undefined while the currency has no fresh rate; the decision then waits for it as for a price.
 */
export function filledAmountOf(payment: Pick<Payment, 'openAmount' | 'currencyCode'>, judged: Judgement, prices: Prices): FilledAmount | null | undefined {
  if (!payment.openAmount) return null;
  const amountUsd = judged.verdict === 'SUCCESS' ? judged.receivedUsd : toCents(judged.expectedUsd);
  if (payment.currencyCode === 'USD') return { amount: formatCents(amountUsd), amountUsd, fiat: null };
  const fiat = prices.get(fiatSymbol(payment.currencyCode));
  if (fiat === undefined) return undefined;
  // Rounded once, straight to hundredths: rounding to 18 places first could turn a value just below a half into a half.
  const hundredths = mulDiv(amountUsd, 100n, fiat.usd, 'half-up');
  return { amount: formatCents(amount(hundredths * HUNDREDTH)), amountUsd, fiat };
}

/** The key of a currency's rate among the prices. */
export function fiatSymbol(currencyCode: string): string {
  return `fiat:${currencyCode}`;
}

/** The columns of a payment that a deciding deposit fills. */
export function outcomeColumns({ judged, arrival, filled }: Outcome): Record<string, unknown> {
  return {
    resolved_at: arrival.confirmedAt,
    deciding_deposit_id: arrival.depositIds[0] ?? null,
    judging_offer_id: judged.offerId,
    received_asset_id: arrival.assetId,
    received_amount: formatAmount(arrival.total),
    received_amount_usd: money(judged.receivedAmountUsd),
    expected_usd: formatAmount(toCents(judged.expectedUsd)),
    deviation_usd: money(judged.deviationUsd),
    deposit_path: judged.path,
    ...(filled !== null && { amount: filled.amount, amount_usd: formatAmount(filled.amountUsd) }),
  };
}

/** The facts behind the decision, for the payment's history: the arithmetic can be repeated from them. */
export function evidence({ judged, arrival, offers, prices, filled }: Outcome): Record<string, unknown> {
  const market = prices.get(arrival.symbol);
  const locked = offers.find((offer) => offer.id === judged.offerId);
  return {
    deposits: arrival.depositIds,
    txid: arrival.txid,
    blockHash: arrival.blockHash,
    height: arrival.height,
    confirmations: arrival.confirmations,
    finality: arrival.finality,
    firstSeenAt: arrival.firstSeenAt.toISOString(),
    confirmedAt: arrival.confirmedAt.toISOString(),
    asset: arrival.symbol,
    received: formatAmount(arrival.total),
    expected: money(judged.expectedAmount),
    rule: judged.rule,
    price: formatAmount(judged.priceUsd),
    priceKind: judged.priceKind,
    priceSource: judged.priceKind === 'locked' ? (locked?.priceSource ?? null) : (market?.source ?? null),
    priceAt: (judged.priceKind === 'locked' ? locked?.priceAt : market?.at)?.toISOString() ?? null,
    ...(market !== undefined && { marketPrice: formatAmount(market.usd), marketPriceSource: market.source, marketPriceAt: market.at.toISOString() }),
    receivedUsd: formatAmount(judged.receivedUsd),
    expectedUsd: formatAmount(judged.expectedUsd),
    deviationUsd: money(judged.deviationUsd),
    overUsd: formatAmount(judged.overUsd),
    underUsd: formatAmount(judged.underUsd),
    path: judged.path,
    ...(filled !== null && { amount: filled.amount, amountUsd: formatAmount(filled.amountUsd) }),
    ...(filled?.fiat && { fiatRate: formatAmount(filled.fiat.usd), fiatSource: filled.fiat.source, fiatAt: filled.fiat.at.toISOString() }),
  };
}

function money(value: bigint | null): string | null {
  return value === null ? null : formatAmount(value);
}
