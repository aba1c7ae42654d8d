import type { Deps, Gateway } from '#api/deps.ts';
import { markVerified, type Payment } from '#api/store/payments.ts';
import { formatAmount, formatCents } from '#shared/core/money.ts';
import { loadOwnPayment } from './load.ts';
import { decidingDeposit, explorerTxUrl, type PaymentParts, namedView, readParts, shownUsd } from './view.ts';

/**
 * Reads a payment's outcome with every money figure, and marks a resting payment as verified, once (contract 4.1, decisions 9). Repeating it
 * changes nothing else.
 * @throws not_found
 */
export async function verifyPayment(deps: Deps, call: { gateway: Gateway; paymentId: string }): Promise<object> {
  const payment = await loadOwnPayment(deps, call);
  // Answering a resting status counts as verifying it, so both happen in one transaction.
  const verified = payment.status === 'PENDING' || payment.isVerified ? payment : await markVerified(deps.db.sql, payment.id);
  return verifyView(deps, await readParts(deps, verified));
}

/** Turns a payment into the verify response; pure. Optional fields follow contract 2.7's presence rules. */
export function verifyView(deps: Pick<Deps, 'chains'>, parts: PaymentParts): object {
  const { payment, deposits } = parts;
  const deciding = decidingDeposit(parts);
  const offer = judgingOffer(parts);
  return {
    paymentUid: payment.id,
    status: payment.status,
    amount: payment.amount,
    amountUsd: shownUsd(payment),
    currencyCode: payment.currencyCode,
    isVerified: payment.isVerified,
    verifiedAt: payment.verifiedAt?.toISOString() ?? null,
    ...(offer !== undefined && !payment.openAmount && { expectedAmount: formatAmount(offer.totalValue) }),
    ...(offer !== undefined && { assetSymbol: offer.symbol }),
    ...(deciding !== undefined && {
      network: deciding.networkName,
      receivedAssetId: deciding.assetId,
      receivedAssetSymbol: deciding.symbol,
      receivedAmount: formatAmount(payment.receivedAmount ?? deciding.amount),
      txHash: deciding.txid,
      explorerTxUrl: explorerTxUrl(deps, deciding.networkName, deciding.txid),
      ...(payment.receivedAmountUsd !== null && { receivedAmountUsd: formatCents(payment.receivedAmountUsd) }),
      ...(payment.deviationUsd !== null && { deviationUsd: formatCents(payment.deviationUsd) }),
      ...(payment.depositPath !== null && { depositPath: payment.depositPath }),
      ...(deciding.finalAt !== null && { confirmedAt: deciding.finalAt.toISOString() }),
      ...(deciding.credit !== null && {
        txFee: formatAmount(deciding.credit.networkFee),
        commissionFee: formatAmount(deciding.credit.commission),
        txFeePayer: payment.txFeePayer,
        commissionFeePayer: payment.commissionFeePayer,
      }),
    }),
    ...(payment.amlState !== null && { amlState: payment.amlState }),
    callbackParams: payment.callbackParams,
    webhookParams: payment.webhookParams,
    ...namedView(payment),
    deposits: deposits.map((deposit) => ({
      asset: deposit.symbol,
      assetId: deposit.assetId,
      network: deposit.networkName,
      amount: formatAmount(deposit.amount),
      txHash: deposit.txid,
      state: deposit.state,
      confirmations: deposit.confirmations,
      depositPath: deposit.path,
      creditedAt: deposit.state === 'credited' ? (deposit.finalAt?.toISOString() ?? null) : null,
    })),
  };
}

/** The offer that the figures refer to: the judging one; before a deposit the one last selected; before a selection none (decisions 3). */
function judgingOffer({ payment, offers }: { payment: Payment; offers: PaymentParts['offers'] }): PaymentParts['offers'][number] | undefined {
  const id = payment.judgingOfferId ?? payment.selectedOfferId;
  return id === null ? undefined : offers.find((offer) => offer.id === id);
}
