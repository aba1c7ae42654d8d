// Generated from api/contract/openapi.yaml by npm run generate; do not edit.
/** How an operation is called. */
export interface Operation {
  method: string;
  path: string;
  auth: 'none' | 'key' | 'signed';
  /** Takes an Idempotency-Key. */
  keyed: boolean;
  /** May be sent again when the answer was lost. */
  repeatable: boolean;
}

export const OPERATIONS = {
  listPayments: { method: 'GET', path: '/payments', auth: 'key', keyed: false, repeatable: true },
  createPayment: { method: 'POST', path: '/payments', auth: 'key', keyed: true, repeatable: true },
  createOpenAmountPayment: { method: 'POST', path: '/payments/open-amount', auth: 'key', keyed: true, repeatable: true },
  previewPayment: { method: 'POST', path: '/payments/preview', auth: 'key', keyed: false, repeatable: true },
  getPayment: { method: 'GET', path: '/payments/{paymentId}', auth: 'key', keyed: false, repeatable: true },
  verifyPayment: { method: 'POST', path: '/payments/{paymentId}/verify', auth: 'key', keyed: false, repeatable: true },
  inquirePayment: { method: 'POST', path: '/payments/{paymentId}/inquiry', auth: 'key', keyed: false, repeatable: false },
  explainPayment: { method: 'GET', path: '/payments/{paymentId}/explain', auth: 'key', keyed: false, repeatable: true },
  listPaymentWebhooks: { method: 'GET', path: '/payments/{paymentId}/webhooks', auth: 'key', keyed: false, repeatable: true },
  resendPaymentWebhook: { method: 'POST', path: '/payments/{paymentId}/webhooks/resend', auth: 'key', keyed: false, repeatable: false },
  listAssets: { method: 'GET', path: '/assets', auth: 'key', keyed: false, repeatable: true },
  listKeys: { method: 'GET', path: '/keys', auth: 'key', keyed: false, repeatable: true },
  createKey: { method: 'POST', path: '/keys', auth: 'key', keyed: false, repeatable: false },
  revokeKey: { method: 'DELETE', path: '/keys/{keyId}', auth: 'key', keyed: false, repeatable: false },
  getSeries: { method: 'GET', path: '/series', auth: 'key', keyed: false, repeatable: true },
  getFunnel: { method: 'GET', path: '/funnel', auth: 'key', keyed: false, repeatable: true },
  listRequests: { method: 'GET', path: '/requests', auth: 'key', keyed: false, repeatable: true },
  getAllowlists: { method: 'GET', path: '/allowlists', auth: 'key', keyed: false, repeatable: true },
  listExports: { method: 'GET', path: '/exports', auth: 'signed', keyed: false, repeatable: true },
  createExport: { method: 'POST', path: '/exports', auth: 'signed', keyed: true, repeatable: true },
  getExport: { method: 'GET', path: '/exports/{exportId}', auth: 'signed', keyed: false, repeatable: true },
  getExportFile: { method: 'GET', path: '/exports/{exportId}/file', auth: 'signed', keyed: false, repeatable: true },
  listRefusedRequests: { method: 'GET', path: '/refused-requests', auth: 'key', keyed: false, repeatable: true },
  listLedger: { method: 'GET', path: '/ledger', auth: 'signed', keyed: false, repeatable: true },
  listCredits: { method: 'GET', path: '/credits', auth: 'key', keyed: false, repeatable: true },
  getStatement: { method: 'GET', path: '/statements/{month}', auth: 'signed', keyed: false, repeatable: true },
  listAddresses: { method: 'GET', path: '/address-book', auth: 'signed', keyed: false, repeatable: true },
  addAddress: { method: 'POST', path: '/address-book', auth: 'signed', keyed: false, repeatable: false },
  renameAddress: { method: 'PATCH', path: '/address-book/{addressId}', auth: 'signed', keyed: false, repeatable: false },
  hideAddress: { method: 'DELETE', path: '/address-book/{addressId}', auth: 'signed', keyed: false, repeatable: false },
  getScreening: { method: 'GET', path: '/screening', auth: 'key', keyed: false, repeatable: true },
  listWebhooks: { method: 'GET', path: '/webhooks', auth: 'key', keyed: false, repeatable: true },
  testWebhook: { method: 'POST', path: '/webhooks/test', auth: 'key', keyed: false, repeatable: false },
  getPublicPayment: { method: 'GET', path: '/public/payments/{paymentId}', auth: 'none', keyed: false, repeatable: true },
  selectOffer: { method: 'POST', path: '/public/payments/{paymentId}/offers/{offerId}/select', auth: 'none', keyed: false, repeatable: true },
  expirePayment: { method: 'POST', path: '/public/payments/{paymentId}/expire', auth: 'none', keyed: false, repeatable: true },
  simulateSandboxPayment: { method: 'POST', path: '/public/payments/{paymentId}/sandbox/simulate', auth: 'none', keyed: false, repeatable: false },
  listBalances: { method: 'GET', path: '/merchant/settlements/balances', auth: 'signed', keyed: false, repeatable: true },
  estimateSettlementFee: { method: 'POST', path: '/merchant/settlements/estimate-fee', auth: 'signed', keyed: false, repeatable: true },
  listSettlements: { method: 'GET', path: '/merchant/settlements', auth: 'signed', keyed: false, repeatable: true },
  createSettlement: { method: 'POST', path: '/merchant/settlements', auth: 'signed', keyed: true, repeatable: true },
  getSettlement: { method: 'GET', path: '/merchant/settlements/{settlementId}', auth: 'signed', keyed: false, repeatable: true },
  approveSettlement: { method: 'POST', path: '/merchant/settlements/{settlementId}/approve', auth: 'signed', keyed: true, repeatable: true },
  retrySettlement: { method: 'POST', path: '/merchant/settlements/{settlementId}/retry', auth: 'signed', keyed: true, repeatable: true },
  cancelSettlement: { method: 'POST', path: '/merchant/settlements/{settlementId}/cancel', auth: 'signed', keyed: true, repeatable: true },
} as const satisfies Record<string, Operation>;

export type OperationId = keyof typeof OPERATIONS;
