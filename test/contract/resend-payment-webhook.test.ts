import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { deliverWebhook, resendWebhook } from '#api/jobs/deliver-webhook.ts';
import { runDueJobs } from '#api/jobs/relay.ts';
import { startWebhookReceiver, type WebhookReceiver } from '#ops/dev/webhook-receiver.ts';
import type { Context } from './context.ts';
import { describeOperation } from './describe-operation.ts';

let receiver: WebhookReceiver;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
});
afterAll(() => receiver.stop());
beforeEach(() => {
  receiver.received.length = 0;
});

async function expired({ service, shop }: Context): Promise<{ paymentId: string }> {
  const { paymentUid } = await shop.payment({ timeoutSeconds: 1, webhookUrl: receiver.url });
  await service.world.advance(2);
  expect((await service.ask('POST', `/api/v1/public/payments/${paymentUid}/expire`)).data.status).toBe('EXPIRED');
  return { paymentId: paymentUid };
}

describeOperation('resendPaymentWebhook', {
  202: (context) => {
    const { service, send, shop } = context;
    const run = () => runDueJobs(service.worker, [deliverWebhook, resendWebhook]);

    it('queues the newest webhook once more and answers with it (decisions 9)', async () => {
      const params = await expired(context);
      await run();
      const { status, data } = await send({ params });
      expect([status, data]).toMatchObject([
        202,
        { status: 'EXPIRED', state: 'delivered', resendRequestedAt: expect.any(String), attempts: [{ manual: false }] },
      ]);
      await run();
      expect(receiver.received.map((webhook) => webhook.body)).toEqual(
        Array.from({ length: 2 }, () => `{"paymentId":"${params.paymentId}","status":"EXPIRED"}`),
      );
      expect(new Set(receiver.received.map((webhook) => webhook.headers['webhook-id']))).toEqual(new Set([data.id]));
      const listed = await shop.call('GET', `/payments/${params.paymentId}/webhooks`);
      expect(listed.data.items).toMatchObject([{ resendRequestedAt: null, attempts: [{ manual: false }, { manual: true, result: '2xx' }] }]);
    });

    it('answers a storm of requests and sends once', async () => {
      const params = await expired(context);
      await run();
      const answers = await Promise.all(Array.from({ length: 20 }, () => send({ params })));
      expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([202]));
      expect(new Set(answers.map((answer) => answer.data.resendRequestedAt)).size).toBe(1);
      await run();
      expect(receiver.received).toHaveLength(2);
    });

    it('takes a body or none, and ignores it', async () => {
      const params = await expired(context);
      expect((await send({ params, body: { status: 'SUCCESS' } })).status).toBe(202);
    });
  },
  409: ({ send, shop, service }) => {
    it('of a payment that has no webhook: it is pending, or names no webhookUrl', async () => {
      const pending = await send({ params: { paymentId: (await shop.payment()).paymentUid } });
      expect([pending.status, pending.error.code]).toEqual([409, 'conflict']);
      const { data } = await shop.call('POST', '/payments', {
        body: { currencyCode: 'USD', amount: '10', timeoutSeconds: 1, callbackUrl: 'https://shop.example/thanks' },
      });
      const paymentId = String(data.paymentUid);
      await service.world.advance(2);
      await service.ask('POST', `/api/v1/public/payments/${paymentId}/expire`);
      expect((await send({ params: { paymentId } })).error.code).toBe('conflict');
    });
  },
});
