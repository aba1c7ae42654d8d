import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StoredAsset } from '#api/store/assets.ts';
import { aService, payTo, selectAddress, type Service, type Shop } from './service.ts';

let service: Service;
let shop: Shop;
beforeAll(async () => {
  service = await aService();
  shop = await service.aShop();
});
afterAll(() => service.stop());

const read = (id: string, query = '') => service.ask('GET', `/api/v1/public/payments/${id}${query}`);

describe('200', () => {
  it('shows the payment without a key, as the create answered it (contract 2.3)', async () => {
    const { paymentUid, payment } = await shop.payment();
    expect((await read(paymentUid)).data).toEqual(payment);
    expect((await read(paymentUid.toUpperCase())).data).toEqual(payment);
  });

  it('shows a hosted payment to anybody', async () => {
    const far = await service.aShop({ apiAllowlist: [] });
    const { data } = await far.call('POST', '/payments', { body: { currencyCode: 'USD', amount: '1', callbackUrl: 'http://localhost/x' } });
    expect((await read(String(data.paymentUid))).data).toMatchObject({ checkoutMode: 'HOSTED', status: 'PENDING' });
  });

  it('answers just the status with statusOnly=true, and reading never verifies (contract 2.6)', async () => {
    const { paymentUid } = await shop.payment();
    for (let reads = 0; reads < 2; reads++)
      expect((await read(paymentUid, '?statusOnly=true')).data).toEqual({ paymentUid, status: 'PENDING', isVerified: false, verifiedAt: null });
    expect((await read(paymentUid, '?statusOnly=false&utm_source=mail')).data).toMatchObject({ id: paymentUid });
  });

  it('shows what was paid once the payment resolved', async () => {
    const { paymentUid, payment } = await shop.payment();
    const address = await selectAddress(service, paymentUid, payment.offers.find((offer) => offer.assetSymbol === 'USDT')?.id ?? '');
    await service.mine([payTo(address, service.world.assets.USDT as StoredAsset, '10')]);
    await service.mine();
    const { data } = await read(paymentUid);
    expect(data).toMatchObject({ status: 'SUCCESS', paidAssetSymbol: 'USDT', receivedAmount: '10' });
    expect(data.explorerTxUrl).toContain(data.txHash);
  });
});

describe('403', () => {
  it('refuses an API-mode payment from an address off the allowlist and names it', async () => {
    const { paymentUid } = await shop.payment();
    await service.ask('PATCH', `/operator/v1/gateways/${shop.id}`, {
      headers: { authorization: `Bearer ${service.deps.config.SLUICE_OPERATOR_TOKEN}` },
      body: { apiAllowlist: ['198.51.100.1/32'] },
    });
    const { status, error } = await read(paymentUid);
    expect([status, error.code]).toEqual([403, 'forbidden']);
    expect(error.message).toContain('127.0.0.1');
    await service.ask('PATCH', `/operator/v1/gateways/${shop.id}`, {
      headers: { authorization: `Bearer ${service.deps.config.SLUICE_OPERATOR_TOKEN}` },
      body: { apiAllowlist: ['127.0.0.1'] },
    });
    expect((await read(paymentUid)).status).toBe(200);
  });
});

describe('404', () => {
  it('does not know any other id', async () => {
    expect((await read(randomUUID())).error.code).toBe('not_found');
  });
});

describe('422', () => {
  it('names statusOnly when it is neither true nor false', async () => {
    const { paymentUid } = await shop.payment();
    for (const query of ['?statusOnly=maybe', '?statusOnly=', '?statusOnly=true&statusOnly=false']) {
      const { status, error } = await read(paymentUid, query);
      expect([query, status, error.code]).toEqual([query, 422, 'validation_error']);
      expect(error.message).toMatch(/^statusOnly: /);
    }
  });
});
