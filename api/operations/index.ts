import type { operations as Contract } from '#api/contract/types.ts';
import type { Registry } from './call.ts';
import { approveSettlement } from './approve-settlement.ts';
import { cancelSettlement } from './cancel-settlement.ts';
import { createOpenAmountPayment } from './create-open-amount-payment.ts';
import { createPayment } from './create-payment.ts';
import { createSettlement } from './create-settlement.ts';
import { estimateSettlementFee } from './estimate-settlement-fee.ts';
import { expirePayment } from './expire-payment.ts';
import { explainPayment } from './explain-payment.ts';
import { getPublicPayment } from './get-public-payment.ts';
import { getSettlement } from './get-settlement.ts';
import { inquirePayment } from './inquire-payment.ts';
import { listAssets } from './list-assets.ts';
import { listBalances } from './list-balances.ts';
import { listPaymentWebhooks } from './list-payment-webhooks.ts';
import { listPayments } from './list-payments.ts';
import { listSettlements } from './list-settlements.ts';
import { openPaymentSocket } from './open-payment-socket.ts';
import { previewPayment } from './preview-payment.ts';
import { resendPaymentWebhook } from './resend-payment-webhook.ts';
import { retrySettlement } from './retry-settlement.ts';
import { selectOffer } from './select-offer.ts';
import { simulateSandboxPayment } from './simulate-sandbox-payment.ts';
import { verifyPayment } from './verify-payment.ts';

/** What answers each operation of the merchant contract; an operation of openapi.yaml that is missing here does not compile. */
export const operations: Registry<Omit<Contract, 'receivePaymentWebhook'>> = {
  createPayment,
  createOpenAmountPayment,
  previewPayment,
  verifyPayment,
  inquirePayment,
  explainPayment,
  listPayments,
  listPaymentWebhooks,
  resendPaymentWebhook,
  listAssets,
  getPublicPayment,
  selectOffer,
  expirePayment,
  simulateSandboxPayment,
  openPaymentSocket,
  listBalances,
  estimateSettlementFee,
  createSettlement,
  listSettlements,
  getSettlement,
  approveSettlement,
  retrySettlement,
  cancelSettlement,
};
