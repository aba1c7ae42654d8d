import type { Offer } from '#api/store/payment-offers.ts';
import type { Payment } from '#api/store/payments.ts';
import type { Coins } from '#shared/core/money.ts';
import { type DepositFees, takeFees } from '#state-machines/payment/fees.ts';
import type { Judgement } from '#state-machines/payment/judge-deposit.ts';

/** The facts about a judged deposit that decide its fees. */
export interface FeeBearing {
  asset: { id: string; decimals: number; networkFee: Coins };
  gross: Coins;
  judged: Judgement;
  /** True when an earlier deposit of the payment on this network paid the network fee. */
  networkFeePaid: boolean;
}

/** The fees of a deposit to a payment, by the payment's locked terms and the offer of its asset if there is one (decisions 11). Pure. */
export function depositFees(
  payment: Pick<Payment, 'commissionBps' | 'commissionMinimumUsd' | 'txFeePayer' | 'commissionFeePayer'>,
  offers: readonly Offer[],
  { asset, gross, judged, networkFeePaid }: FeeBearing,
): DepositFees {
  const own = offers.find((offer) => offer.assetId === asset.id);
  return takeFees({
    gross,
    decimals: asset.decimals,
    networkFee: own?.networkFee ?? asset.networkFee,
    networkFeePaid,
    commissionBps: payment.commissionBps,
    commissionMinimumUsd: payment.commissionMinimumUsd,
    priceUsd: judged.priceUsd,
    txFeePayer: payment.txFeePayer,
    commissionFeePayer: payment.commissionFeePayer,
    exactOffer: judged.exact && own !== undefined ? own : null,
  });
}
