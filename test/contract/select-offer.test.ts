import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aService, selectAddress, type Service, type Shop } from './service.ts';

let service: Service;
let shop: Shop;
beforeAll(async () => {
  service = await aService();
  shop = await service.aShop();
});
afterAll(() => service.stop());

const select = (payment: string, offer: string) => service.ask('POST', `/api/v1/public/payments/${payment}/offers/${offer}/select`);

describe('200', () => {
  it('answers a watched address, the same one for every asset of the network and on every repeat (contract 4.2)', async () => {
    const { paymentUid, payment } = await shop.payment();
    const address = await selectAddress(service, paymentUid, payment.offers[0]?.id ?? '');
    for (const offer of payment.offers) {
      const { status, data } = await select(paymentUid, offer.id);
      expect([status, data.assignmentStatus, data.depositAddress, data.paymentStatus]).toEqual([200, 'ASSIGNED', address, 'PENDING']);
      expect(data.amount).toBe((data.offer as { totalValue: string }).totalValue);
      expect(data).not.toHaveProperty('retryAfterMs');
    }
  });

  it('answers a sandbox payment with an address nobody can pay (decisions 9)', async () => {
    const { paymentUid, payment } = await shop.payment({ isSandbox: true });
    expect((await select(paymentUid, payment.offers[0]?.id ?? '')).data).toMatchObject({
      assignmentStatus: 'ASSIGNED',
      depositAddress: `sandbox-${paymentUid}`,
    });
  });
});

describe('202', () => {
  it('says when to call again while nobody watches the address, and shows it nowhere until then (contract 2.5)', async () => {
    const { paymentUid, payment } = await shop.payment();
    const offer = payment.offers[0]?.id ?? '';
    const { status, data } = await select(paymentUid, offer);
    expect([status, data.assignmentStatus]).toEqual([202, 'PENDING']);
    expect(data.retryAfterMs).toBeGreaterThan(0);
    expect(data).not.toHaveProperty('depositAddress');
    expect(JSON.stringify((await service.ask('GET', `/api/v1/public/payments/${paymentUid}`)).data)).not.toContain('depositAddress');
    await service.world.acknowledge();
    const late = (await service.ask('GET', `/api/v1/public/payments/${paymentUid}`)).data.offers as { id: string; depositAddress?: string }[];
    expect(late.find((one) => one.id === offer)?.depositAddress).toBe((await select(paymentUid, offer)).data.depositAddress);
  });
});

describe('403', () => {
  it('refuses an address off the allowlist and names it', async () => {
    const closing = await service.aShop();
    const { paymentUid, payment } = await closing.payment();
    await service.ask('PATCH', `/operator/v1/gateways/${closing.id}`, {
      headers: { authorization: `Bearer ${service.deps.config.SLUICE_OPERATOR_TOKEN}` },
      body: { apiAllowlist: [] },
    });
    const { status, error } = await select(paymentUid, payment.offers[0]?.id ?? '');
    expect([status, error.code]).toEqual([403, 'forbidden']);
    expect(error.message).toContain('127.0.0.1');
  });
});

describe('404', () => {
  it('knows neither other payments nor offers of other payments', async () => {
    const [one, other] = [await shop.payment(), await shop.payment()];
    for (const [payment, offer] of [
      [randomUUID(), one.payment.offers[0]?.id],
      [one.paymentUid, other.payment.offers[0]?.id],
      [one.paymentUid, 'x'],
      [one.paymentUid, randomUUID()],
    ] as [string, string][]) {
      const { status, text } = await select(payment, offer);
      expect([status, text]).toEqual([404, '{"success":false,"error":{"code":"not_found","message":"Not found."}}']);
    }
  });
});

describe('409', () => {
  it('refuses a hosted payment', async () => {
    const { data } = await shop.call('POST', '/payments', { body: { currencyCode: 'USD', amount: '1', callbackUrl: 'http://localhost/x' } });
    const offers = (await service.ask('GET', `/api/v1/public/payments/${data.paymentUid}`)).data.offers as { id: string }[];
    expect((await select(String(data.paymentUid), offers[0]?.id ?? '')).error.code).toBe('conflict');
  });

  it('refuses a payment that is overdue, then expired', async () => {
    const { paymentUid, payment } = await shop.payment({ timeoutSeconds: 60 });
    await service.world.advance(61);
    expect((await select(paymentUid, payment.offers[0]?.id ?? '')).error.code).toBe('conflict');
    expect((await service.ask('POST', `/api/v1/public/payments/${paymentUid}/expire`)).data.status).toBe('EXPIRED');
    expect((await select(paymentUid, payment.offers[0]?.id ?? '')).error.code).toBe('conflict');
  });
});
