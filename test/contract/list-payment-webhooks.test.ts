import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { components } from '#api/contract/types.ts';
import { deliverWebhook, resendWebhook } from '#api/jobs/deliver-webhook.ts';
import { runDueJobs } from '#api/jobs/relay.ts';
import { startWebhookReceiver, type WebhookReceiver } from '#ops/dev/webhook-receiver.ts';
import { describeOperation } from './describe-operation.ts';

let receiver: WebhookReceiver;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
});
afterAll(() => receiver.stop());
beforeEach(() => receiver.answerWith(() => ({ status: 200 })));

type Delivery = components['schemas']['WebhookDelivery'];

describeOperation('listPaymentWebhooks', {
  200: ({ service, shop, send }) => {
    const run = () => runDueJobs(service.worker, [deliverWebhook, resendWebhook]);
    const items = async (paymentId: string): Promise<Delivery[]> => {
      const { status, data, text } = await send({ params: { paymentId } });
      expect(status, text).toBe(200);
      return data.items as Delivery[];
    };
    /** An expired payment whose webhook has not been sent. */
    const expired = async (over: Record<string, unknown> = {}): Promise<string> => {
      const { paymentUid } = await shop.payment({ timeoutSeconds: 1, webhookUrl: receiver.url, ...over });
      await service.world.advance(2);
      expect((await service.ask('POST', `/api/v1/public/payments/${paymentUid}/expire`)).data.status).toBe('EXPIRED');
      return paymentUid;
    };

    it('is empty while the payment is pending, and when it names no webhookUrl', async () => {
      expect(await items((await shop.payment({ timeoutSeconds: 10_000_000 })).paymentUid)).toEqual([]);
      const { data } = await shop.call('POST', '/payments', {
        body: { currencyCode: 'USD', amount: '10', timeoutSeconds: 1, callbackUrl: 'https://shop.example/thanks' },
      });
      const paymentId = String(data.paymentUid);
      await service.world.advance(2);
      await service.ask('POST', `/api/v1/public/payments/${paymentId}/expire`);
      expect(await items(paymentId)).toEqual([]);
    });

    it('shows a webhook from the moment it is due, then with its attempt (contract 6)', async () => {
      const paymentId = await expired();
      const [waiting] = await items(paymentId);
      expect(waiting).toEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        status: 'EXPIRED',
        url: receiver.url,
        body: expect.stringContaining(paymentId),
        state: 'pending',
        createdAt: expect.any(String),
        nextAttemptAt: waiting?.createdAt,
        deliveredAt: null,
        resendRequestedAt: null,
        attempts: [],
      });
      await run();
      const [delivered] = await items(paymentId);
      const sent = receiver.received.at(-1);
      const attempt = {
        number: 1,
        startedAt: expect.any(String),
        finishedAt: delivered?.deliveredAt,
        timestamp: Number(sent?.headers['webhook-timestamp']),
        result: '2xx',
        httpStatus: 200,
        durationMs: expect.any(Number),
        manual: false,
        // What an address of a private network answers is kept on a developer's machine only.
        answer: null,
      };
      expect(delivered).toEqual({ ...waiting, state: 'delivered', nextAttemptAt: null, deliveredAt: expect.any(String), attempts: [attempt] });
      expect([sent?.body, sent?.headers['webhook-id']], 'byte for byte').toEqual([delivered?.body, delivered?.id]);
    });

    it('shows every attempt with its result until the webhook is given up', async () => {
      const answers = [500, 302, 404, 429, 503, 500];
      receiver.answerWith(() => ({ status: answers.shift() ?? 200 }));
      const paymentId = await expired();
      const seen: (string | null)[] = [];
      for (let attempt = 1; attempt <= 6; attempt++) {
        await run();
        const [webhook] = await items(paymentId);
        expect(webhook?.attempts).toHaveLength(attempt);
        seen.push(webhook?.nextAttemptAt ?? null);
        await service.world.advance(7_600);
      }
      const [webhook] = await items(paymentId);
      expect(webhook?.attempts.map(({ number, result, httpStatus }) => [number, result, httpStatus])).toEqual([
        [1, '5xx', 500],
        [2, '3xx', 302],
        [3, '4xx', 404],
        [4, '4xx', 429],
        [5, '5xx', 503],
        [6, '5xx', 500],
      ]);
      expect(webhook).toMatchObject({ state: 'exhausted', nextAttemptAt: null, deliveredAt: null });
      expect(seen.slice(0, 5)).toEqual([...seen.slice(0, 5)].sort());
      expect(seen[5]).toBeNull();
    });

    it.each([
      ['refused', 'http://127.0.0.1:1025/hook'],
      ['tls', ''],
      ['dns', 'http://nobody.invalid/hook'],
    ])('shows an attempt that had no answer as %s', async (result, url) => {
      const paymentId = await expired({ webhookUrl: url === '' ? receiver.url.replace('http:', 'https:') : url });
      await run();
      const [webhook] = await items(paymentId);
      expect(webhook?.attempts).toMatchObject([{ number: 1, result, httpStatus: null, durationMs: expect.any(Number) }]);
      expect(webhook?.state).toBe('pending');
    });

    it('shows one that the receiver stopped, and resends beside the schedule', async () => {
      receiver.answerWith(() => ({ status: 410 }));
      const paymentId = await expired();
      await run();
      expect(await items(paymentId)).toMatchObject([{ state: 'stopped', nextAttemptAt: null }]);
      receiver.answerWith(() => ({ status: 200 }));
      await shop.call('POST', `/payments/${paymentId}/webhooks/resend`);
      expect(await items(paymentId)).toMatchObject([{ state: 'stopped', resendRequestedAt: expect.any(String) }]);
      await run();
      const [webhook] = await items(paymentId);
      expect(webhook).toMatchObject({ state: 'delivered', resendRequestedAt: null, deliveredAt: webhook?.attempts[1]?.finishedAt });
      expect(webhook?.attempts.map(({ number, manual, httpStatus }) => [number, manual, httpStatus])).toEqual([
        [1, false, 410],
        [1, true, 200],
      ]);
    });

    it('lists the newest hundred attempts of a webhook that was resent all day', async () => {
      const paymentId = await expired();
      await run();
      await service.world.database.sql`
        insert into webhook_attempts (id, event_id, number, started_at, finished_at, result, http_status, duration_ms, manual)
        select gen_random_uuid(), e.id, n, sluice_now() + make_interval(secs => n), sluice_now() + make_interval(secs => n), '2xx', 200, 1, true
        from webhook_events e, generate_series(1, 150) n where e.payment_id = ${paymentId}`;
      const [webhook] = await items(paymentId);
      expect(webhook?.attempts.map((one) => one.number)).toEqual(Array.from({ length: 100 }, (_, index) => index + 51));
    });
  },
});
