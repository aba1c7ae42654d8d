import { Invariant } from '#shared/core/errors.ts';
import { amount, basisPoints, type Coins, mulDiv, ONE, roundTo, type Usd, usdToCoins, zero } from '#shared/core/money.ts';

const CENT = ONE / 100n;

export type FeePayer = 'MERCHANT' | 'CUSTOMER' | 'PLATFORM';

/** The terms of one asset's offer: what the payment costs, the price, and who bears which fee. */
export interface OfferTerms {
  principalUsd: Usd;
  /** Locked price of one coin; above zero. */
  assetPriceUsd: Usd;
  decimals: number;
  /** Number of decimals of its figures, if the deployment sets it; otherwise as many as the smallest figure needs (decisions 1). */
  quoteDecimals?: number | undefined;
  /** The asset's configured network fee, asset units. */
  networkFee: Coins;
  commissionBps: number;
  commissionMinimumUsd: Usd;
  txFeePayer: FeePayer;
  commissionFeePayer: FeePayer;
}

/** The figures of an offer (contract 2.4), all with the decimals that the offer is quoted in. */
export interface OfferFigures {
  amount: Coins;
  txFee: Coins;
  commissionFee: Coins;
  totalValue: Coins;
}

/**
 * The dollar value of a payment: its amount × the fiat rate at creation (decisions 2). Rounded up at the 18th decimal, because it becomes what the
 * payer must send.
 */
export function dollarValueOf(paymentAmount: bigint, usdPerUnit: Usd): Usd {
  return amount(mulDiv(paymentAmount, usdPerUnit, ONE, 'up'));
}

/**
 * The number of decimals to which the payer's amount is rounded up (decisions 1). It is the smallest number at which one unit, at the offer's
 * price, is worth at most a cent and at most a thousandth of the payment; never more than the asset has.
 * People copy these figures by hand, and pay at most one such unit too much.
 */
export function quoteDecimalsOf({
  principalUsd,
  assetPriceUsd,
  decimals,
  quoteDecimals,
}: Pick<OfferTerms, 'principalUsd' | 'assetPriceUsd' | 'decimals' | 'quoteDecimals'>): number {
  if (quoteDecimals !== undefined) return Math.min(quoteDecimals, decimals);
  for (let places = 0; places < decimals; places++) {
    const unit = 10n ** BigInt(places);
    if (assetPriceUsd <= CENT * unit && assetPriceUsd * 1_000n <= principalUsd * unit) return places;
  }
  return decimals;
}

/**
 * Calculates what a payer of one asset must send (decisions 2). Each figure is rounded up at the quoted decimals, so the sum is exactly payable. A
 * fee that the customer does not bear is zero.
 */
export function buildOffer(given: OfferTerms): OfferFigures {
  const { principalUsd, assetPriceUsd, networkFee } = given;
  if (assetPriceUsd <= 0n) throw new Invariant('an offer needs a price above zero');
  const decimals = quoteDecimalsOf(given);
  const terms = { ...given, decimals };
  const principal = usdToCoins(principalUsd, assetPriceUsd, decimals, 'up');
  const txFee = terms.txFeePayer === 'CUSTOMER' ? roundTo(networkFee, decimals, 'up') : zero;
  const commissionFee = terms.commissionFeePayer === 'CUSTOMER' ? offerCommission(principal, terms) : zero;
  return { amount: principal, txFee, commissionFee, totalValue: amount(principal + txFee + commissionFee) };
}

function offerCommission(principal: Coins, { commissionBps, commissionMinimumUsd, assetPriceUsd, decimals }: OfferTerms): Coins {
  const rated = roundTo(basisPoints(principal, commissionBps, 'up'), decimals, 'up');
  const minimum = usdToCoins(commissionMinimumUsd, assetPriceUsd, decimals, 'up');
  return rated > minimum ? rated : minimum;
}
