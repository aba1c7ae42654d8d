import type { Offer } from '#api/store/payment-offers.ts';
import type { Payment } from '#api/store/payments.ts';
import type { JudgedPayment, SelectedOffer } from '#state-machines/payment/judge-deposit.ts';
import type { PaymentStatus } from '#state-machines/payment/machine.ts';

type Judgeable = Pick<Payment, 'openAmount' | 'minimumUsd' | 'checkAmountDeviation' | 'toleranceKind' | 'overTolerance' | 'underTolerance' | 'expiresAt'>;

/** What the judgement of a deposit sees of its payment; `status` is the one it has by now. Pure. */
export function judgedPayment(payment: Judgeable, status: PaymentStatus, offers: readonly Offer[]): JudgedPayment {
  return {
    openAmount: payment.openAmount,
    minimumUsd: payment.minimumUsd,
    checkAmountDeviation: payment.checkAmountDeviation,
    tolerance: { kind: payment.toleranceKind, over: payment.overTolerance, under: payment.underTolerance },
    expiresAt: payment.expiresAt.getTime(),
    expired: status === 'EXPIRED',
    decided: status !== 'EXPIRED' && status !== 'PENDING',
    selected: judgingOffers(offers),
  };
}

/**
 * The offers that were selected. Only an operator can bring a deposit to a payment for which the payer selected nothing; then any offer may judge,
 * the first one listed where the asset is none of theirs.
 */
function judgingOffers(offers: readonly Offer[]): SelectedOffer[] {
  const selected = offers.filter((offer) => offer.selectedAt !== null);
  return (selected.length > 0 ? selected : offers.toReversed()).map(({ id, assetId, priceUsd, totalValue, selectedAt }) => ({
    id,
    assetId,
    priceUsd,
    totalValue,
    selectedAt: selectedAt?.getTime() ?? 0,
  }));
}
