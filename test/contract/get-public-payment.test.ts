import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { StoredAsset } from '#api/store/assets.ts';
import { describeOperation } from './describe-operation.ts';
import { payTo, selectAddress } from './service.ts';

// What each field means in each status, line by line of contract 2.3, 2.4 and 2.6, is in integration/payment-views.test.ts.
describeOperation('getPublicPayment', {
  200: ({ send, service, shop }) => {
    const read = (paymentId: string, query = '') => send({ params: { paymentId }, query });

    it('shows the payment without a key, as the create answered it (contract 2.3)', async () => {
      const { paymentUid, payment } = await shop.payment();
      expect((await read(paymentUid)).data).toEqual(payment);
      expect((await read(paymentUid.toUpperCase())).data).toEqual(payment);
    });

    it('shows a hosted payment to anybody, whatever the allowlist says (contract 5.7)', async () => {
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

    it('shows the deposit address once select assigned one, and what was paid once it resolved (contract 2.3, 2.4)', async () => {
      const { paymentUid, payment } = await shop.payment();
      const depositAddress = await selectAddress(service, paymentUid, payment.offers.find((offer) => offer.assetSymbol === 'USDT')?.id ?? '');
      const before = (await read(paymentUid)).data;
      expect((before.offers as { depositAddress?: string }[]).flatMap((offer) => offer.depositAddress ?? [])).toEqual([depositAddress]);
      for (const field of ['paidAssetId', 'paidAssetSymbol', 'txHash', 'receivedAmount', 'explorerTxUrl']) expect(before).not.toHaveProperty(field);
      await service.mine([payTo(depositAddress, service.world.assets.USDT as StoredAsset, '10')]);
      await service.mine();
      const { data } = await read(paymentUid);
      expect(data).toMatchObject({ status: 'SUCCESS', paidAssetSymbol: 'USDT', receivedAmount: '10' });
      expect(data.explorerTxUrl).toBe(service.world.network.config.explorerTxUrl.replace('{txHash}', String(data.txHash)));
    });

    it('links to logos that this service answers', async () => {
      const { payment } = await shop.payment();
      const offers = payment.offers as unknown as Record<string, string>[];
      const links = new Set(offers.flatMap((offer) => [offer.assetLogoUrl ?? '', offer.networkLogoUrl ?? '']));
      for (const link of links) {
        const response = await fetch(new URL(new URL(link).pathname, service.origin));
        expect([link, response.status, response.headers.get('content-type')]).toEqual([link, 200, 'image/svg+xml; charset=utf-8']);
      }
    });
  },

  404: ({ send }) => {
    it('knows an id neither with nor without statusOnly, and answers the same bytes', async () => {
      const answers = [await send({ params: { paymentId: randomUUID() } }), await send({ params: { paymentId: 'nope' }, query: '?statusOnly=true' })];
      expect(answers.map(({ status, text }) => [status, text])).toEqual(answers.map(() => [404, answers[0]?.text]));
    });
  },

  422: ({ send, shop }) => {
    it('names statusOnly when it is neither true nor false', async () => {
      const { paymentUid } = await shop.payment();
      for (const query of ['?statusOnly=maybe', '?statusOnly=', '?statusOnly=true&statusOnly=false']) {
        const { status, error } = await send({ params: { paymentId: paymentUid }, query });
        expect([query, status, error.code]).toEqual([query, 422, 'validation_error']);
        expect(error.message).toMatch(/^statusOnly: /);
      }
    });
  },
});
