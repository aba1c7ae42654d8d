import { amount, type Coins, coinsToUsd, mulDiv, roundTo, SCALE, type Usd, usdToCoins, zero } from '#shared/core/money.ts';
import type { FeePayer, OfferFigures } from './offer.ts';

/** The facts that decide the fees of one deposit (decisions 11). */
export interface FeeTerms {
  /** What arrived, asset units. */
  gross: Coins;
  decimals: number;
  networkFee: Coins;
  /** Whether an earlier deposit of this payment on this network paid the network fee, which is charged once. */
  networkFeePaid: boolean;
  commissionBps: number;
  commissionMinimumUsd: Usd;
  /** The price that judged the deposit. The platform's share is valued at it too. */
  priceUsd: Usd;
  txFeePayer: FeePayer;
  commissionFeePayer: FeePayer;
  /** The offer whose exact `totalValue` arrived while its locked price applied, if there is one; its figures are then taken unchanged. */
  exactOffer: OfferFigures | null;
}

/** How a deposit is divided: `gross = net + networkFee + commission`, less the part that the platform bears. */
export interface DepositFees {
  /** N and C as charged, whoever bears them: payer, merchant or platform. */
  networkFee: Coins;
  commission: Coins;
  /** What the gateway is credited. */
  net: Coins;
  /** The part of N + C that was not taken from the deposit. */
  platformBears: Coins;
  /** That part in dollars, for the platform's invoice. */
  platformBearsUsd: Usd;
}

/**
 * Takes the fees of one deposit (decisions 11): network fee first, then commission, never below zero.
 * What cannot be taken because the deposit is too small is not owed. Fees are rounded up, so the credit is rounded down.
 */
export function takeFees(terms: FeeTerms): DepositFees {
  const { gross, txFeePayer, commissionFeePayer, exactOffer, decimals } = terms;
  const asOffered = exactOffer !== null && txFeePayer === 'CUSTOMER' ? exactOffer.txFee : roundTo(terms.networkFee, decimals, 'up');
  const dueNetwork = terms.networkFeePaid ? zero : asOffered;
  const platformNetwork = txFeePayer === 'PLATFORM';
  const networkFee = platformNetwork ? dueNetwork : least(dueNetwork, gross);
  const afterNetwork = amount<'asset'>(gross - (platformNetwork ? 0n : networkFee));

  const dueCommission =
    exactOffer !== null && commissionFeePayer === 'CUSTOMER' ? exactOffer.commissionFee : commissionDue(terms, txFeePayer === 'CUSTOMER' ? dueNetwork : zero);
  const platformCommission = commissionFeePayer === 'PLATFORM';
  const commission = platformCommission ? dueCommission : least(dueCommission, afterNetwork);
  const net = amount<'asset'>(afterNetwork - (platformCommission ? 0n : commission));

  const platformBears = amount<'asset'>((platformNetwork ? networkFee : 0n) + (platformCommission ? commission : 0n));
  return { networkFee, commission, net, platformBears, platformBearsUsd: coinsToUsd(platformBears, terms.priceUsd, 'half-up') };
}

/**
 * C = max(base × rate, minimum), rounded up once, at the asset's decimals. When the customer bears it, the deposit contains principal and
 * commission together, so the base is (G − customer-borne N) ÷ (1 + rate).
 */
function commissionDue({ gross, commissionBps, commissionMinimumUsd, commissionFeePayer, priceUsd, decimals }: FeeTerms, customerNetworkFee: Coins): Coins {
  const rate = BigInt(commissionBps);
  const step = 10n ** BigInt(SCALE - decimals);
  const holds = gross > customerNetworkFee ? gross - customerNetworkFee : 0n;
  const rated =
    commissionFeePayer === 'CUSTOMER' ? mulDiv(holds, rate, (10_000n + rate) * step, 'up') * step : mulDiv(gross, rate, 10_000n * step, 'up') * step;
  const minimum = usdToCoins(commissionMinimumUsd, priceUsd, decimals, 'up');
  return rated > minimum ? amount(rated) : minimum;
}

function least(a: Coins, b: Coins): Coins {
  return a < b ? a : b;
}
