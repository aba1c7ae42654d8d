import { expect, it } from 'vitest';
import type { Answer } from './client.ts';
import { describeOperation } from './describe-operation.ts';

describeOperation('expirePayment', {
  200: ({ service, shop, send }) => {
    const expire = (paymentId: string): Promise<Answer> => send({ params: { paymentId } });

    it('leaves a payment alone that is not overdue, and answers its status-only object (decisions 9)', async () => {
      const { paymentUid } = await shop.payment();
      expect((await expire(paymentUid)).data).toEqual({ paymentUid, status: 'PENDING', isVerified: false, verifiedAt: null });
    });

    it('expires an overdue one once, however often and by however many it is asked (contract 4.2)', async () => {
      const { paymentUid } = await shop.payment({ timeoutSeconds: 60 });
      await service.world.advance(61);
      const answers = await Promise.all(Array.from({ length: 10 }, () => expire(paymentUid)));
      for (const { status, data } of answers) expect([status, data.status]).toEqual([200, 'EXPIRED']);
      expect(await service.world.database.sql`select 1 from webhook_events where payment_id = ${paymentUid}`).toHaveLength(1);
    });

    it('answers PENDING while the chain was not read past the deadline (decisions 4)', async () => {
      const { paymentUid, payment } = await shop.payment({ timeoutSeconds: 60 });
      const asset = service.world.assets.USDT;
      const offer = payment.offers.find((one) => one.assetId === asset?.id);
      await Promise.all([
        service.ask('POST', `/api/v1/public/payments/${paymentUid}/offers/${offer?.id}/select`),
        (async () => {
          while ((await service.world.acknowledge()).length === 0) await service.world.acknowledge();
        })(),
      ]);
      await service.world.advance(61);
      expect((await expire(paymentUid)).data.status).toBe('PENDING');
      await service.world.advance(15 * 60);
      expect((await expire(paymentUid)).data.status).toBe('EXPIRED');
    });

    it('leaves every resting payment as it is', async () => {
      const { paymentUid } = await shop.payment({ isSandbox: true, timeoutSeconds: 60 });
      await service.ask('POST', `/api/v1/public/payments/${paymentUid}/sandbox/simulate`, { body: { scenario: 'underpaid' } });
      await service.world.advance(61);
      expect((await expire(paymentUid)).data).toEqual({ paymentUid, status: 'MISMATCH', isVerified: false, verifiedAt: null });
    });

    it('serves a hosted payment to anybody who knows its id, and ignores a body', async () => {
      const closed = await service.aShop({ apiAllowlist: [] });
      const { data } = await closed.call('POST', '/payments', { body: { currencyCode: 'USD', amount: '1', callbackUrl: 'http://localhost/x' } });
      expect((await send({ params: { paymentId: String(data.paymentUid) }, raw: 'not json' })).data.status).toBe('PENDING');
    });
  },
});
