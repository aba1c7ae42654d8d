import { afterAll, beforeAll, expect, it } from 'vitest';
import type { components } from '#api/contract/types.ts';
import { deliverWebhook } from '#api/jobs/deliver-webhook.ts';
import { runDueJobs } from '#api/jobs/relay.ts';
import { matureCredits } from '#api/ledger/mature-credits.ts';
import { expireDuePayments } from '#api/payments/expire.ts';
import type { StoredAsset } from '#api/store/assets.ts';
import { startWebhookReceiver, type WebhookReceiver } from '#ops/dev/webhook-receiver.ts';
import { describeOperation } from './describe-operation.ts';
import { payTo, selectAddress } from './service.ts';

type PaymentRecord = components['schemas']['PaymentRecord'];

let receiver: WebhookReceiver;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
});
afterAll(() => receiver.stop());

describeOperation('getPayment', {
  200: ({ service, shop, send }) => {
    const read = async (paymentId: string): Promise<PaymentRecord> => {
      const { status, data, text } = await send({ params: { paymentId } });
      expect(status, text).toBe(200);
      return data as unknown as PaymentRecord;
    };
    const usdt = () => service.world.assets.USDT as StoredAsset;
    /** A payment that was paid in full, whose webhook was sent. */
    const paid = async (): Promise<string> => {
      const { paymentUid } = await shop.payment({ amount: '10', webhookUrl: receiver.url, webhookParams: { order: 'A-1' } });
      const offer = (await read(paymentUid)).offers.find(({ assetSymbol }) => assetSymbol === 'USDT');
      const address = await selectAddress(service, paymentUid, offer?.id ?? '');
      await service.mine([payTo(address, usdt(), offer?.totalValue ?? '')]);
      await service.mine();
      await runDueJobs(service.worker, [deliverWebhook]);
      return paymentUid;
    };

    it('tells of a new payment its offers, and that it was created', async () => {
      const { paymentUid, payment } = await shop.payment({ amount: '10' });
      const record = await read(paymentUid);
      expect(record).toMatchObject({ outcome: { paymentUid, status: 'PENDING' }, isSandbox: false, resolvedAt: null, credits: [], webhooks: [] });
      expect(record.offers.map(({ id }) => id)).toEqual(payment.offers.map(({ id }) => id));
      expect(record.timeline).toEqual([{ at: record.createdAt, what: 'created' }]);
    });

    it('tells of a paid one what happened to it, in the order in which one thing led to the next', async () => {
      const paymentId = await paid();
      const record = await read(paymentId);
      expect(record.outcome).toMatchObject({ status: 'SUCCESS', isVerified: false, webhookParams: { order: 'A-1' } });
      expect(record.timeline.map(({ what }) => what)).toEqual(['created', 'selected', 'seen', 'confirmed', 'resolved', 'credited', 'webhook']);
      expect(record.timeline.find(({ what }) => what === 'seen')).toMatchObject({
        asset: 'USDT',
        txHash: record.outcome.txHash,
        amount: record.outcome.receivedAmount,
        blockHeight: expect.any(Number),
      });
      expect(record.timeline.find(({ what }) => what === 'resolved')).toMatchObject({ from: 'PENDING', to: 'SUCCESS' });
      expect(record.webhooks).toEqual([expect.objectContaining({ state: 'delivered', status: 'SUCCESS' })]);
      expect(record.timeline.at(-1)).toMatchObject({ webhookId: record.webhooks[0]?.id, result: '2xx' });
      expect(record.credits).toEqual([expect.objectContaining({ asset: 'USDT', pool: 'green', gross: record.outcome.receivedAmount, maturedAt: null })]);
    });

    it('tells the same outcome as verify, which is the one that marks it', async () => {
      const paymentId = await paid();
      const { outcome } = await read(paymentId);
      expect((await read(paymentId)).outcome).toEqual(outcome);
      const verified = (await shop.call('POST', `/payments/${paymentId}/verify`)).data;
      expect(verified).toEqual({ ...outcome, isVerified: true, verifiedAt: expect.any(String) });
      const after = await read(paymentId);
      expect(after.outcome).toEqual(verified);
      expect(after.timeline.at(-1)).toEqual({ at: verified.verifiedAt, what: 'verified' });
    });

    it('tells when the coins matured', async () => {
      const paymentId = await paid();
      await service.world.advance(86_400 * 30);
      await expireDuePayments(service.worker);
      await service.mine();
      await matureCredits(service.worker);
      const record = await read(paymentId);
      expect(record.credits[0]?.maturedAt).toEqual(expect.any(String));
      expect(record.timeline.at(-1)).toMatchObject({ what: 'matured', asset: 'USDT', amount: record.credits[0]?.net });
    });

    it('tells of a sandbox payment what its scenario did', async () => {
      const { paymentUid } = await shop.payment({ amount: '10', isSandbox: true });
      await service.ask('POST', `/api/v1/public/payments/${paymentUid}/sandbox/simulate`, { body: { scenario: 'success' } });
      const record = await read(paymentUid);
      expect(record.isSandbox).toBe(true);
      expect(record.timeline.map(({ what }) => what)).toContain('seen');
    });
  },
});
