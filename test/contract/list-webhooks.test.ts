import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { components } from '#api/contract/types.ts';
import { deliverWebhook, resendWebhook } from '#api/jobs/deliver-webhook.ts';
import { runDueJobs } from '#api/jobs/relay.ts';
import { startWebhookReceiver, type WebhookReceiver } from '#ops/dev/webhook-receiver.ts';
import { describeOperation } from './describe-operation.ts';
import type { Shop } from './service.ts';

let receiver: WebhookReceiver;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
});
afterAll(() => receiver.stop());
beforeEach(() => receiver.answerWith(() => ({ status: 200 })));

interface Page {
  items: components['schemas']['GatewayWebhook'][];
  pagination: { limit: number; hasMore: boolean; nextCursor: string | null };
}
const cursorOf = (text: string): string => Buffer.from(text).toString('base64url');

describeOperation('listWebhooks', {
  200: ({ service, send, anotherShop }) => {
    const list = async (from: Shop, query = ''): Promise<Page> => (await send({ from, query })).data as unknown as Page;
    /** An expired payment whose webhook has not been sent. */
    const expired = async (shop: Shop): Promise<string> => {
      const { paymentUid } = await shop.payment({ timeoutSeconds: 1, webhookUrl: receiver.url });
      await service.world.advance(2);
      await service.ask('POST', `/api/v1/public/payments/${paymentUid}/expire`);
      return paymentUid;
    };
    const run = () => runDueJobs(service.worker, [deliverWebhook, resendWebhook]);

    it('shows those of all payments, newest first, with how the last attempt ended', async () => {
      const shop = await anotherShop();
      const first = await expired(shop);
      await run();
      receiver.answerWith(() => ({ status: 503 }));
      const second = await expired(shop);
      await run();
      const third = await expired(shop);
      const { items, pagination } = await list(shop);
      expect(items).toMatchObject([
        { paymentUid: third, status: 'EXPIRED', state: 'pending', attempts: 0, lastAttemptAt: null, lastResult: null, lastHttpStatus: null },
        { paymentUid: second, state: 'pending', attempts: 1, nextAttemptAt: expect.any(String), lastResult: '5xx', lastHttpStatus: 503 },
        { paymentUid: first, state: 'delivered', attempts: 1, url: receiver.url, nextAttemptAt: null, lastResult: '2xx', lastHttpStatus: 200 },
      ]);
      expect(pagination).toEqual({ limit: 20, hasMore: false, nextCursor: null });
      expect((await list(await anotherShop())).items).toEqual([]);
    });

    it('tells of a resend when it came last, and of the schedule when that did', async () => {
      const shop = await anotherShop();
      receiver.answerWith(() => ({ status: 503 }));
      const paymentId = await expired(shop);
      await run();
      receiver.answerWith(() => ({ status: 404 }));
      await shop.call('POST', `/payments/${paymentId}/webhooks/resend`);
      await run();
      expect((await list(shop)).items).toMatchObject([{ attempts: 1, lastResult: '4xx', lastHttpStatus: 404 }]);
      receiver.answerWith(() => ({ status: 500 }));
      await service.world.advance(60);
      await run();
      expect((await list(shop)).items).toMatchObject([{ attempts: 2, lastResult: '5xx', lastHttpStatus: 500 }]);
    });

    it('filters by state, status, payment and time, and finds nothing of a payment of another gateway', async () => {
      const [shop, other] = [await anotherShop(), await anotherShop()];
      const sent = await expired(shop);
      await run();
      const waiting = await expired(shop);
      const theirs = await expired(other);
      const found = async (query: string): Promise<string[]> => (await list(shop, query)).items.map(({ paymentUid }) => paymentUid);
      expect(await found('?state=pending')).toEqual([waiting]);
      expect(await found('?state=delivered&status=EXPIRED')).toEqual([sent]);
      expect(await found('?status=SUCCESS')).toEqual([]);
      expect(await found(`?payment=${sent}`)).toEqual([sent]);
      expect((await send({ from: shop, query: `?payment=${theirs}` })).text).toBe((await send({ from: shop, query: `?payment=${randomUUID()}` })).text);
      const { createdAt } = (await list(shop, `?payment=${waiting}`)).items[0] as { createdAt: string };
      await service.world.database.sql`update webhook_events set created_at = '2026-01-01T00:00:00Z' where payment_id = ${sent}`;
      expect(await found(`?from=${createdAt}`)).toEqual([waiting]);
      expect(await found(`?to=${createdAt}`)).toEqual([sent]);
    });

    it('pages by a cursor without leaving out or repeating one, even those of one moment', async () => {
      const shop = await anotherShop();
      const made: string[] = [];
      for (let count = 0; count < 3; count++) made.push(await expired(shop));
      const { sql } = service.world.database;
      await sql`update webhook_events set created_at = '2026-01-01T00:00:00.123456Z' where gateway_id = ${shop.id}`;
      const walk = async (query: string): Promise<string[]> => {
        const seen: string[] = [];
        for (let after: string | null | undefined; after !== null; ) {
          const page: Page = await list(shop, `?limit=1${query}${after === undefined ? '' : `&after=${after}`}`);
          seen.push(...page.items.map(({ paymentUid }) => paymentUid));
          after = page.pagination.nextCursor;
        }
        return seen;
      };
      expect((await walk('')).toSorted()).toEqual(made.toSorted());
    });
  },
  422: ({ send, anotherShop, service }) => {
    it("refuses another gateway's cursor, and any other that it never gave, in the same words", async () => {
      const theirs = await anotherShop();
      for (let count = 0; count < 2; count++) {
        const { paymentUid } = await theirs.payment({ timeoutSeconds: 1, webhookUrl: receiver.url });
        await service.world.advance(2);
        await service.ask('POST', `/api/v1/public/payments/${paymentUid}/expire`);
      }
      const { nextCursor } = ((await send({ from: theirs, query: '?limit=1' })).data as unknown as Page).pagination;
      expect(nextCursor).toEqual(expect.any(String));
      const texts = new Set<string>();
      for (const cursor of [nextCursor, cursorOf(randomUUID()), cursorOf('1'), cursorOf("' or 1=1"), 'x']) {
        const answer = await send({ query: `?after=${cursor}` });
        expect(answer.status).toBe(422);
        texts.add(answer.text);
      }
      expect(texts.size).toBe(1);
    });

    it.each([
      ['limit', '?limit=0'],
      ['state', '?state=DELIVERED'],
      ['status', '?status='],
      ['payment', '?payment=x'],
      ['payment', '?payment=%00'],
      ['from', '?from=yesterday'],
      ['to', '?to='],
    ])('names %s in %s', async (field, query) => {
      const { status, error } = await send({ query });
      expect([status, error.code]).toEqual([422, 'validation_error']);
      expect(error.message).toMatch(new RegExp(`^${field}: `));
    });
  },
});
