import type { Offer } from '#api/store/payment-offers.ts';
import type { Payment } from '#api/store/payments.ts';
import type { JudgedPayment, SelectedOffer } from '#state-machines/payment/judge-deposit.ts';
import type { PaymentStatus } from '#state-machines/payment/machine.ts';

type Judgeable = Pick<Payment, 'openAmount' | 'minimumUsd' | 'checkAmountDeviation' | 'toleranceKind' | 'overTolerance' | 'underTolerance' | 'expiresAt'>;

/** The facts about a payment that judging a deposit needs; `status` is its current one. Pure. */
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
 * The selected offers. If the payer selected none, only an operator can have brought the deposit: then any offer may judge, the first in the list
 * if the deposit's asset is in none.
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
