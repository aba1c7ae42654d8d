import { expect } from 'vitest';
import type { Offer, PublicPayment } from '#api/checkout/page/snapshot.ts';
import { call, newKey } from '#ops/dev/client.ts';
import type { Scene } from '#test/journeys/scene.ts';

/** A payment whose page is about to be opened. */
export interface HostedPayment {
  id: string;
  paymentUrl: string;
}

/** A merchant's server that sends its customers to the hosted checkout, and the wallets of those customers. */
export interface HostedShop {
  /** Origin of the merchant's own pages. */
  origin: string;
  create(overrides?: Record<string, unknown>): Promise<HostedPayment>;
  /** A payment of any amount. */
  createOpen(): Promise<HostedPayment>;
  /** The payment as anybody may read it. */
  read(payment: HostedPayment): Promise<PublicPayment>;
  /** The offer in an asset, `USDT`, as the payment shows it now. */
  offer(payment: HostedPayment, symbol: string): Promise<Offer>;
  /** Sends what the payer copied from the page, or what they mistook it for. */
  send(symbol: string, address: string, amount: string): Promise<string>;
}

/** Opens the shop; payments come back to a page of the scene's webhook receiver. */
export function hostedShop(scene: Scene): HostedShop {
  const { origin } = new URL(scene.receiver.url);
  const post = async (path: string, more: Record<string, unknown>): Promise<HostedPayment> => {
    const body = { currencyCode: 'USD', callbackUrl: `${origin}/thanks?order=7#paid`, webhookUrl: scene.receiver.url, ...more };
    const data = await scene.shop.must('POST', path, { body, headers: { 'idempotency-key': newKey() } });
    return { id: data.paymentUid as string, paymentUrl: data.paymentUrl as string };
  };
  const shop: HostedShop = {
    origin,
    create: (overrides = {}) => post('/payments', { amount: '40', ...overrides }),
    createOpen: () => post('/payments/open-amount', {}),
    read: async ({ id }) => (await call(`${scene.api.baseUrl}/public/payments/${id}`, 'GET')).data as unknown as PublicPayment,
    async offer(payment, symbol) {
      const { offers } = await shop.read(payment);
      return offers.find((one) => one.assetSymbol === symbol) ?? expect.fail(`no offer in ${symbol}`);
    },
    send: (symbol, address, amount) => scene.chainOf(symbol).pay(address, scene.contract(symbol), scene.raw(symbol, amount)),
  };
  return shop;
}
