import type { operations as Contract } from '#api/contract/types.ts';
import type { Deps, Gateway } from '#api/deps.ts';
import { createExport } from '#api/exports/exports.ts';
import { createKey, revokeKey } from '#api/gateways/manage-keys.ts';
import { assertFixedAmounts, assertOpenAmounts } from '#api/payments/arrangement.ts';
import { createPayment } from '#api/payments/create.ts';
import { expirePayment } from '#api/payments/expire.ts';
import { inquirePayment } from '#api/payments/inquire.ts';
import { loadHostedPayment, refuseStrangers } from '#api/payments/load.ts';
import { createOpenAmountPayment } from '#api/payments/open-amount.ts';
import { previewPayment } from '#api/payments/preview.ts';
import { resendPaymentWebhook } from '#api/payments/resend-webhook.ts';
import { selectOffer } from '#api/payments/select-offer.ts';
import { simulatePayment } from '#api/payments/simulate.ts';
import { testWebhook } from '#api/payments/test-webhook.ts';
import { verifyPayment } from '#api/payments/verify.ts';
import { publicPayment, statusOnly } from '#api/payments/view.ts';
import { addAddress, hideAddress, renameAddress } from '#api/settlements/address-book.ts';
import { approveSettlement } from '#api/settlements/approve.ts';
import { cancelSettlement } from '#api/settlements/cancel.ts';
import { createSettlement } from '#api/settlements/create.ts';
import { estimateFee } from '#api/settlements/estimate-fee.ts';
import { retrySettlement } from '#api/settlements/retry.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { ok, type Registry } from './call.ts';
import { merchantReads } from './merchant-reads.ts';

type MerchantContract = Omit<Contract, 'receivePaymentWebhook'>;

/**
 * What answers each operation of the merchant contract: it adapts the call to a use case and nothing else. An operation of openapi.yaml
 * that is missing here does not compile.
 */
export const merchantOperations: Registry<MerchantContract> = {
  ...merchantReads,
  createPayment: (deps, { gateway, body, sent, clientIp, commit }) => createPayment(deps, { gateway, body, sent, clientIp, commit }),
  createOpenAmountPayment: (deps, { gateway, body, sent, clientIp, commit }) => createOpenAmountPayment(deps, { gateway, body, sent, clientIp, commit }),
  previewPayment: (deps, { gateway, body, sent, clientIp }) => previewPayment(deps, { gateway, body, sent, clientIp }),
  verifyPayment: (deps, { gateway, params }) => ok(verifyPayment(deps, { gateway, paymentId: params.paymentId })),
  inquirePayment: (deps, { gateway, params, body: { txHash, network } }) =>
    ok(inquirePayment(deps, { gateway, paymentId: params.paymentId, txHash, network: network ?? undefined })),
  resendPaymentWebhook: async (deps, { gateway, params }) => ({
    status: 202,
    data: await resendPaymentWebhook(deps, { gateway, paymentId: params.paymentId }),
  }),
  testWebhook: (deps, { gateway, body }) => ok(testWebhook(deps, { gateway, body })),

  getPublicPayment: (deps, { params, query, clientIp }) => {
    const read = query.statusOnly === true ? statusOnly : publicPayment;
    return ok(read(deps, { paymentId: params.paymentId, clientIp }));
  },
  selectOffer: (deps, { params, clientIp }) => selectOffer(deps, { paymentId: params.paymentId, offerId: params.offerId, clientIp }),
  expirePayment: (deps, { params, clientIp }) => ok(expirePayment(deps, { paymentId: params.paymentId, clientIp })),
  simulateSandboxPayment: (deps, { params, body, clientIp }) => ok(simulatePayment(deps, { paymentId: params.paymentId, clientIp, simulation: body })),
  // A request that asks for an upgrade never comes here (api/http/payment-socket.ts); what would refuse the upgrade refuses this first.
  openPaymentSocket: async (deps, { params }) => {
    await loadHostedPayment(deps, params);
    throw new ServiceError('upgrade_required');
  },

  estimateSettlementFee: (deps, { gateway, body }) => ok(estimateFee(deps, { gateway, body })),
  createSettlement: (deps, { gateway, key: { keyId }, body, sent, commit }) => createSettlement(deps, { gateway, by: { keyId }, body, sent, commit }),
  approveSettlement: (deps, { gateway, params, body, commit }) =>
    approveSettlement(deps, { gateway, id: params.settlementId, totpCode: body.totpCode, commit }),
  retrySettlement: (deps, { gateway, params, commit }) => retrySettlement(deps, { gateway, id: params.settlementId, commit }),
  cancelSettlement: (deps, { gateway, params, commit }) => cancelSettlement(deps, { gateway, id: params.settlementId, commit }),

  addAddress: (deps, { gateway, key, body, commit }) => addAddress(deps, { gateway, by: key.keyId, body, commit }),
  renameAddress: (deps, { gateway, key, params, body, commit }) => renameAddress(deps, { gateway, by: key.keyId, addressId: params.addressId, body, commit }),
  hideAddress: (deps, { gateway, key, params, commit }) => hideAddress(deps, { gateway, by: key.keyId, addressId: params.addressId, commit }),

  createExport: (deps, { gateway, key, body, commit }) => createExport(deps, { gateway, by: { keyId: key.keyId }, body, commit }),

  createKey: (deps, { gateway, key, body, clientIp, requestId, commit }) => createKey(deps, { gateway, by: { key, clientIp, requestId }, body, commit }),
  revokeKey: (deps, { gateway, key, params, clientIp, requestId, commit }) =>
    revokeKey(deps, { gateway, by: { key, clientIp, requestId }, keyId: params.keyId, commit }),
};

/**
 * What an operation asks of its gateway beyond the key's permission, and therefore before anything of the request is read
 * (contract 7, decisions 8). Each throws forbidden.
 */
export const arrangements: Partial<Record<keyof MerchantContract, (gateway: Gateway) => void>> = {
  createPayment: assertFixedAmounts,
  previewPayment: assertFixedAmounts,
  createOpenAmountPayment: assertOpenAmounts,
};

/**
 * What an operation without a key asks of its caller before anything of the body is read; those without a body ask it
 * themselves (contract 5.7). Each throws forbidden.
 */
export const strangers: Partial<Record<keyof MerchantContract, (deps: Deps, call: { paymentId: string; clientIp: string }) => Promise<void>>> = {
  simulateSandboxPayment: refuseStrangers,
};
