import type { operations as Contract } from '#api/contract/types.ts';
import type { Registry } from './call.ts';
import { createPayment } from './create-payment.ts';
import { createSettlement } from './create-settlement.ts';
import { estimateSettlementFee } from './estimate-settlement-fee.ts';
import { expirePayment } from './expire-payment.ts';
import { getPublicPayment } from './get-public-payment.ts';
import { getSettlement } from './get-settlement.ts';
import { listAssets } from './list-assets.ts';
import { listBalances } from './list-balances.ts';
import { listSettlements } from './list-settlements.ts';
import { notImplemented } from './not-implemented.ts';
import { selectOffer } from './select-offer.ts';
import { verifyPayment } from './verify-payment.ts';

/** What answers each operation of the merchant contract; an operation of openapi.yaml that is missing here does not compile. */
export const operations: Registry<Omit<Contract, 'receivePaymentWebhook'>> = {
  createPayment,
  createOpenAmountPayment: notImplemented,
  previewPayment: notImplemented,
  verifyPayment,
  inquirePayment: notImplemented,
  explainPayment: notImplemented,
  listPayments: notImplemented,
  listPaymentWebhooks: notImplemented,
  resendPaymentWebhook: notImplemented,
  listAssets,
  getPublicPayment,
  selectOffer,
  expirePayment,
  simulateSandboxPayment: notImplemented,
  openPaymentSocket: notImplemented,
  listBalances,
  estimateSettlementFee,
  createSettlement,
  listSettlements,
  getSettlement,
  approveSettlement: notImplemented,
  retrySettlement: notImplemented,
  cancelSettlement: notImplemented,
};
