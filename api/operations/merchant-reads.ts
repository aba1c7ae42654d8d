import type { operations as Contract } from '#api/contract/types.ts';
import { listExports, readExport, readExportFile } from '#api/exports/exports.ts';
import { readAllowlists } from '#api/gateways/allowlists.ts';
import { readGatewayFunnel, readSeries } from '#api/gateways/day-figures.ts';
import { listCredits } from '#api/gateways/list-credits.ts';
import { listLedger } from '#api/gateways/list-ledger.ts';
import { listWebhooks } from '#api/gateways/list-webhooks.ts';
import { listKeys } from '#api/gateways/manage-keys.ts';
import { readScreening } from '#api/gateways/read-screening.ts';
import { readStatement } from '#api/gateways/read-statement.ts';
import { listRefusals } from '#api/gateways/refusals.ts';
import { listRequests } from '#api/gateways/requests.ts';
import { explainPayment } from '#api/payments/explain.ts';
import { listGatewayAssets } from '#api/payments/list-assets.ts';
import { listPayments } from '#api/payments/list-payments.ts';
import { listPaymentWebhooks } from '#api/payments/list-webhooks.ts';
import { readPayment } from '#api/payments/read-payment.ts';
import { listAddresses } from '#api/settlements/list-addresses.ts';
import { listBalances } from '#api/settlements/balances.ts';
import { getSettlement, listSettlements } from '#api/settlements/view.ts';
import { ok, type Registry } from './call.ts';

/**
 * What answers the operations that a gateway's own people may ask as well as its keys: they change nothing. The console comes to these and to no other, so that its login
 * needs rights for no more.
 */
export const merchantReads = {
  getPayment: (deps, { gateway, params }) => ok(readPayment(deps, { gateway, paymentId: params.paymentId })),
  explainPayment: (deps, { gateway, params }) => ok(explainPayment(deps, { gateway, paymentId: params.paymentId })),
  listPayments: (deps, { gateway, query }) => ok(listPayments(deps, { ...query, gateway })),
  listPaymentWebhooks: async (deps, { gateway, params }) => ({
    status: 200,
    data: { items: await listPaymentWebhooks(deps, { gateway, paymentId: params.paymentId }) },
  }),
  listAssets: async (deps, { gateway }) => ({ status: 200, data: { items: await listGatewayAssets(deps, gateway) } }),
  listBalances: (deps, { gateway }) => ok(listBalances(deps, { gateway })),
  listSettlements: (deps, { gateway, query }) => ok(listSettlements(deps, { ...query, gateway })),
  getSettlement: (deps, { gateway, params }) => ok(getSettlement(deps, { gateway, id: params.settlementId })),
  listWebhooks: (deps, { gateway, query }) => ok(listWebhooks(deps, { ...query, gateway })),
  listLedger: (deps, { gateway, query }) => ok(listLedger(deps, { ...query, gateway })),
  listCredits: (deps, { gateway, query }) => ok(listCredits(deps, { ...query, gateway })),
  getStatement: (deps, { gateway, params }) => ok(readStatement(deps, { gateway, month: params.month })),
  listAddresses: (deps, { gateway, query: { limit, after } }) => ok(listAddresses(deps, { gateway, limit, after })),
  getScreening: (deps, { gateway }) => ok(readScreening(deps, { gateway })),
  listRefusedRequests: (deps, { gateway, query: { limit, after } }) => ok(listRefusals(deps, { gateway, limit, after })),
  getAllowlists: (deps, { gateway }) => ok(readAllowlists(deps, { gateway })),
  listExports: (deps, { gateway, query: { limit, after } }) => ok(listExports(deps, { gateway, limit, after })),
  getExport: (deps, { gateway, params }) => ok(readExport(deps, { gateway, id: params.exportId })),
  getExportFile: async (deps, { gateway, params }) => ({ status: 200, data: {}, file: await readExportFile(deps, { gateway, id: params.exportId }) }),
  listRequests: (deps, { gateway, query }) => ok(listRequests(deps, { ...query, gateway })),
  getSeries: (deps, { gateway, query }) => ok(readSeries(deps, { ...query, gateway })),
  getFunnel: (deps, { gateway, query }) => ok(readGatewayFunnel(deps, { ...query, gateway })),
  listKeys: (deps, { gateway, query: { limit, after } }) => ok(listKeys(deps, { gateway, limit, after })),
} satisfies Partial<Registry<Contract>>;
