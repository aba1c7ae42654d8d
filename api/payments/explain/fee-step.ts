import type { PaymentDeposit } from '#api/store/payment-deposits.ts';
import type { Offer } from '#api/store/payment-offers.ts';
import { amount, coinsToUsd, formatAmount, parseTrusted, type Usd } from '#shared/core/money.ts';
import { isDecision } from './decision-steps.ts';
import { bearer, type ExplainedPayment, type ExplanationStep, step } from './step.ts';

/** The fees taken from a credited deposit, and from what amount; no step for a deposit without a credit. Pure (decisions 11). */
export function feeStep({ parts, events, assets }: ExplainedPayment, deposit: PaymentDeposit): ExplanationStep[] {
  const { payment, offers, deposits } = parts;
  const { credit } = deposit;
  if (credit === null || deposit.finalAt === null) return [];
  const offer = offers.find((one) => one.assetId === deposit.assetId);
  const decided = deposit.id === payment.decidingDepositId;
  const asOffered = (payment.txFeePayer === 'CUSTOMER' || payment.commissionFeePayer === 'CUSTOMER') && isExact(parts, events, deposit, credit.gross);
  const paidBefore =
    credit.networkFee === 0n && deposits.some((one) => one.id !== deposit.id && one.networkName === deposit.networkName && (one.credit?.networkFee ?? 0n) > 0n);
  const priceUsd = judgingPrice(parts, events, deposit);
  const borne = (payment.txFeePayer === 'PLATFORM' ? credit.networkFee : 0n) + (payment.commissionFeePayer === 'PLATFORM' ? credit.commission : 0n);
  const accruedUsd = borne > 0n && priceUsd !== null && !payment.sandbox ? coinsToUsd(amount<'asset'>(borne), priceUsd, 'half-up') : null;
  const figures = {
    depositId: deposit.id,
    asset: deposit.symbol,
    decimals: deposit.decimals,
    gross: credit.gross,
    networkFeeConfigured: offer?.networkFee ?? assets.find((one) => one.id === deposit.assetId)?.networkFee,
    networkFeePaidBefore: paidBefore,
    commissionBps: payment.commissionBps,
    commissionMinimumUsd: payment.commissionMinimumUsd,
    priceUsd,
    txFeePayer: payment.txFeePayer,
    commissionFeePayer: payment.commissionFeePayer,
    networkFee: credit.networkFee,
    commission: credit.commission,
    net: credit.net,
    accruedUsd,
    decided,
    isSandbox: payment.sandbox,
  };
  const taken = [
    `${formatAmount(credit.networkFee)} network fee${paidBefore ? ' (an earlier deposit on this network paid it)' : ''} borne by ${bearer(payment.txFeePayer)}`,
    `${formatAmount(credit.commission)} commission borne by ${bearer(payment.commissionFeePayer)}`,
  ].join(' and ');
  const how = asOffered ? "Exactly what was asked for arrived, so the fees the customer bears are the offer's own" : commissionRule(payment.commissionFeePayer);
  const effect = decided ? '' : ' It came after the decision and changed no status.';
  const accrued = accruedUsd === null ? '' : ` The platform bears ${formatAmount(accruedUsd)} USD of it at the judging price.`;
  const text = `Of ${formatAmount(credit.gross)} ${deposit.symbol}: ${taken}; ${formatAmount(credit.net)} ${deposit.symbol} ${payment.sandbox ? 'would have been' : 'were'} credited. ${how}.${accrued}${effect}`;
  return [step(deposit.finalAt, 'fees', asOffered ? 'fees_as_offered' : 'fees_computed', text, figures)];
}

function commissionRule(payer: string): string {
  const base = payer === 'CUSTOMER' ? '(gross − the network fee the customer bears) ÷ (1 + rate)' : 'gross';
  return `The commission is the rate on ${base}, or its minimum at the judging price, rounded up at the asset's decimals; what the platform bears is not deducted`;
}

/** Whether exactly the offer's total arrived, and its locked price applied. */
function isExact({ payment, offers }: ExplainedPayment['parts'], events: ExplainedPayment['events'], deposit: PaymentDeposit, gross: bigint): boolean {
  if (deposit.id === payment.decidingDepositId) return events.find(isDecision)?.facts.rule === 'exact_total_value';
  return gross === lockedOffer({ payment, offers }, deposit)?.totalValue;
}

/** The offer whose locked price applied to a deposit. */
function lockedOffer({ payment, offers }: Pick<ExplainedPayment['parts'], 'payment' | 'offers'>, deposit: PaymentDeposit): Offer | undefined {
  if (payment.openAmount || deposit.firstSeenAt >= payment.expiresAt) return undefined;
  // Nothing was selected, which only an operator's allocation makes possible: then any offer may judge.
  const selected = offers.filter((offer) => offer.selectedAt !== null);
  return (selected.length > 0 ? selected : offers).find((offer) => offer.assetId === deposit.assetId);
}

/** The price that judged a deposit: the evidence's for the deciding deposit, else the locked price if it still applied, else the market's. */
function judgingPrice({ payment, offers }: ExplainedPayment['parts'], events: ExplainedPayment['events'], deposit: PaymentDeposit): Usd | null {
  const decided = deposit.id === payment.decidingDepositId ? events.find(isDecision)?.facts.price : undefined;
  if (typeof decided === 'string') return parseTrusted<'usd'>(decided);
  return lockedOffer({ payment, offers }, deposit)?.priceUsd ?? deposit.usdPrice;
}
