import { expect, it } from 'vitest';
import { describeOperation } from './describe-operation.ts';

const ADDRESS = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

describeOperation('cancelSettlement', {
  200: ({ service, example, send, shop }) => {
    it('withdraws an UNDERFUNDED cashout: REJECTED, with no figure it never had (contract 4.3)', async () => {
      const known = await example();
      const { status, data } = await send(known);
      expect([status, data]).toMatchObject([200, { status: 'REJECTED', route: 'GREEN', feeLocked: '', netAmount: '', receivedAmount: '', txHash: '' }]);
      for (const field of ['shortfall', 'shortfallUsd', 'expiresAt']) expect(data).not.toHaveProperty(field);
      expect((await shop.signed('GET', `/merchant/settlements/${known.params?.settlementId}`)).data).toEqual(data);
    });

    it('withdraws one in WAITING_AML_CREDIT, which reads SMART no longer (contract 2.8)', async () => {
      const broke = await service.aShop({ screening: { enabled: true, credits: 0 } });
      const body = { assetId: service.world.assets.USDT?.id, amount: '2', address: ADDRESS, route: 'SMART' };
      const made = await broke.signed('POST', '/merchant/settlements', { body });
      expect([made.status, made.data]).toMatchObject([202, { status: 'WAITING_AML_CREDIT', route: 'SMART' }]);
      const { status, data } = await send({ params: { settlementId: String(made.data.id) }, from: broke });
      expect([status, data.status]).toEqual([200, 'REJECTED']);
      expect(data.route).not.toBe('SMART');
      expect(data).not.toHaveProperty('expiresAt');
    });
  },
  409: ({ service, example, send, shop }) => {
    it('conflicts with one that was withdrawn already, and with one that is claimed', async () => {
      const known = await example();
      expect((await send(known)).status).toBe(200);
      expect((await send(known)).error.code).toBe('conflict');
      await shop.fund('USDC', '10');
      const claimed = await shop.signed('POST', '/merchant/settlements', { body: { assetId: service.world.assets.USDC?.id, amount: '2', address: ADDRESS } });
      expect(claimed.data.status).toBe('REQUESTED');
      const params = { settlementId: String(claimed.data.id) };
      for (let times = 0; times < 2; times++) expect((await send({ params, idempotencyKey: 'too late' })).error.code).toBe('conflict');
      expect((await shop.signed('GET', `/merchant/settlements/${claimed.data.id}`)).data).toEqual(claimed.data);
    });
  },
  422: ({ example, send, shop }) => {
    it('leaves the cashout alone when the key is missing', async () => {
      const known = await example();
      expect((await send({ ...known, idempotencyKey: null })).error.code).toBe('validation_error');
      expect((await shop.signed('GET', `/merchant/settlements/${known.params?.settlementId}`)).data.status).toBe('UNDERFUNDED');
    });
  },
});
