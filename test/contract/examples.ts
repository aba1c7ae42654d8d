import { randomBytes } from 'node:crypto';
import { makeNextPart } from '#api/exports/make-exports.ts';
import { expect } from 'vitest';
import type { operations } from '#api/contract/types.ts';
import { totpCode } from '#test/harness/totp-code.ts';
import { TEST_SECRETS } from '#test/harness/world.ts';
import type { Service, Shop } from './service.ts';

/** Operations of the merchant API; the webhook section is what the service calls. */
export type OperationId = Exclude<keyof operations, 'receivePaymentWebhook'>;

/** What goes into a request of one operation that succeeds. */
export interface Example {
  /** By name in the path template. */
  params?: Record<string, string>;
  body?: Record<string, unknown>;
}

type Make = (service: Service, shop: Shop) => Promise<Example>;

const ADDRESS = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const CALLBACK = 'https://shop.example/thanks';

const payment = async (shop: Shop, over: Record<string, unknown> = {}): Promise<{ paymentId: string }> => ({
  paymentId: (await shop.payment(over)).paymentUid,
});
const entered = async (shop: Shop): Promise<Example> => {
  const body = { label: 'Treasury', network: 'ethereum', address: `0x${randomBytes(20).toString('hex')}` };
  const made = await shop.signed('POST', '/address-book', { body });
  expect(made.status, made.text).toBe(201);
  return { params: { addressId: String(made.data.addressId) } };
};
const cashout = (service: Service): Record<string, unknown> => ({ assetId: service.world.assets.USDT?.id, amount: '2', address: ADDRESS });
const settlement = async (service: Service, shop: Shop): Promise<Example> => {
  await shop.fund('USDT', '10');
  const made = await shop.signed('POST', '/merchant/settlements', { body: cashout(service) });
  expect(made.status, made.text).toBe(200);
  return { params: { settlementId: String(made.data.id) } };
};
/** A code of an authenticator enrolled just now, so that it approved nothing yet. */
async function freshCode(service: Service, shop: Shop): Promise<string> {
  const headers = { authorization: `Bearer ${TEST_SECRETS.SLUICE_OPERATOR_TOKEN}` };
  const enrolled = await service.ask('POST', `/operator/v1/gateways/${shop.id}/totp`, { headers, body: {} });
  expect(enrolled.status, enrolled.text).toBe(201);
  return totpCode(String(enrolled.data.secret));
}

/** A cashout of two more than the pool holds. */
async function parked(service: Service, shop: Shop): Promise<Example> {
  const { items } = (await shop.signed('GET', '/merchant/settlements/balances')).data as { items: { symbol: string; totalAvailable: string }[] };
  const available = items.find(({ symbol }) => symbol === 'USDT')?.totalAvailable ?? '0';
  const made = await shop.signed('POST', '/merchant/settlements', { body: { ...cashout(service), amount: String(Number(available) + 2) } });
  expect(made.status, made.text).toBe(202);
  return { params: { settlementId: String(made.data.id) } };
}

const ofPayment: Make = async (_service, shop) => ({ params: await payment(shop) });

/** A request that succeeds, made anew at every call; what it needs exists when it is answered. */
export const EXAMPLES: Record<OperationId, Make> = {
  createPayment: async () => ({ body: { currencyCode: 'USD', amount: '10', callbackUrl: CALLBACK } }),
  createOpenAmountPayment: async () => ({ body: { callbackUrl: CALLBACK } }),
  previewPayment: async () => ({ body: { currencyCode: 'USD', amount: '10', callbackUrl: CALLBACK } }),
  listPayments: async () => ({}),
  verifyPayment: ofPayment,
  inquirePayment: async (_service, shop) => ({ params: await payment(shop), body: { txHash: `0x${'a'.repeat(64)}` } }),
  explainPayment: ofPayment,
  getPayment: ofPayment,
  listPaymentWebhooks: ofPayment,
  resendPaymentWebhook: async (service, shop) => {
    const params = await payment(shop, { timeoutSeconds: 1 });
    await service.world.advance(2);
    await service.ask('POST', `/api/v1/public/payments/${params.paymentId}/expire`);
    return { params };
  },
  listAssets: async () => ({}),
  getPublicPayment: ofPayment,
  expirePayment: ofPayment,
  openPaymentSocket: ofPayment,
  selectOffer: async (_service, shop) => {
    const { paymentUid, payment: made } = await shop.payment();
    return { params: { paymentId: paymentUid, offerId: made.offers[0]?.id ?? '' } };
  },
  simulateSandboxPayment: async (_service, shop) => ({ params: await payment(shop, { isSandbox: true }), body: { scenario: 'success' } }),
  listBalances: async () => ({}),
  estimateSettlementFee: async (service) => ({ body: cashout(service) }),
  createSettlement: async (service, shop) => {
    await shop.fund('USDT', '10');
    return { body: cashout(service) };
  },
  listSettlements: async () => ({}),
  getSettlement: settlement,
  approveSettlement: async (service, shop) => ({ ...(await settlement(service, shop)), body: { totpCode: await freshCode(service, shop) } }),
  retrySettlement: async (service, shop) => {
    const example = await parked(service, shop);
    await shop.fund('USDT', '10');
    return example;
  },
  cancelSettlement: parked,
  listWebhooks: async () => ({}),
  // Nobody listens there, which is an answer too.
  testWebhook: async () => ({ body: { url: 'http://127.0.0.1:8099/hook' } }),
  listLedger: async () => ({}),
  listCredits: async () => ({}),
  getScreening: async () => ({}),
  listAddresses: async () => ({}),
  addAddress: async () => ({ body: { label: 'Treasury', network: 'ethereum', address: `0x${randomBytes(20).toString('hex')}` } }),
  renameAddress: async (_service, shop) => ({ ...(await entered(shop)), body: { label: 'Payroll' } }),
  hideAddress: async (_service, shop) => entered(shop),
  getStatement: async (service) => {
    const [{ month }] = (await service.world.database.sql`select to_char(sluice_now() at time zone 'UTC', 'YYYY-MM') as month`) as unknown as [
      { month: string },
    ];
    return { params: { month } };
  },
  listRefusedRequests: async () => ({}),
  listRequests: async () => ({}),
  listExports: async () => ({}),
  createExport: async () => ({ body: { kind: 'payments' } }),
  getExport: exported,
  getExportFile: async (service, shop) => {
    const example = await exported(service, shop);
    while (await makeNextPart(service.worker));
    return example;
  },
  getAllowlists: async () => ({}),
  getSeries: async () => ({}),
  getFunnel: async () => ({}),
  listKeys: async () => ({}),
  createKey: async () => ({ body: { name: 'Till', permissions: ['payment:create'] } }),
  revokeKey: async (_service, shop) => {
    const made = await shop.call('POST', '/keys', { body: { name: 'Till', permissions: ['payment:create'] } });
    expect(made.status, made.text).toBe(201);
    return { params: { keyId: (made.data.key as { keyId: string }).keyId } };
  },
};

async function exported(service: Service, shop: Shop): Promise<Example> {
  // A gateway has two being made at most.
  while (await makeNextPart(service.worker));
  const made = await shop.signed('POST', '/exports', { body: { kind: 'payments' } });
  expect(made.status, made.text).toBe(202);
  return { params: { exportId: String(made.data.exportId) } };
}

const CASHOUT = { enabled: true, allowlist: ['127.0.0.1', '::1'] };
const PARKS = { cashout: { ...CASHOUT, parkingEnabled: true, parkedCap: 100 } };

/** What a gateway must be given before an operation can succeed on it; most need nothing beyond the defaults. */
export const GATEWAYS: Partial<Record<OperationId, Record<string, unknown>>> = {
  createOpenAmountPayment: { openAmount: { enabled: true, minAmountUsd: '1', assetIds: null } },
  approveSettlement: { cashout: { ...CASHOUT, approvalCapUsd: '1' } },
  retrySettlement: PARKS,
  cancelSettlement: PARKS,
};
