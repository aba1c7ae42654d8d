import { createHmac } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createWebhookHttp } from '#api/clients/webhook-http.ts';
import type { Deps, Gateway } from '#api/deps.ts';
import { readSecrets } from '#api/gateways/secrets.ts';
import { deliverWebhook } from '#api/jobs/deliver-webhook.ts';
import { runDueJobs } from '#api/jobs/relay.ts';
import { testWebhook } from '#api/payments/test-webhook.ts';
import { webhookPolicy } from '#api/payments/webhook-policy.ts';
import { findGateway } from '#api/store/gateways.ts';
import { startWebhookReceiver, type WebhookReceiver } from '#ops/dev/webhook-receiver.ts';
import { POLICY } from '#shared/core/policy.ts';
import { createLimiter } from '#shared/platform/limiter.ts';
import { ANSWERS, WEBHOOK_URLS } from '#test/fixtures/webhook-urls.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import type { Sending } from './context.ts';
import { describeOperation } from './describe-operation.ts';
import { type Listening, listen, type Service, type Shop } from './service.ts';
import { assertWebhook } from './webhook.ts';

let receiver: WebhookReceiver;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
});
afterAll(() => receiver.stop());
beforeEach(() => {
  receiver.received.length = 0;
  receiver.answerWith(() => ({ status: 200 }));
});

const gatewayOf = async (service: Service, shop: Shop): Promise<Gateway> => (await findGateway(service.deps.db.sql, shop.id)) as Gateway;
/** A deployment in which webhooks reach public addresses only, by any scheme. */
const publicOnly = ({ deps }: Service): Deps => ({ ...deps, config: { ...deps.config, privateWebhookTargets: false } });

describeOperation('testWebhook', {
  200: ({ service, send: sendTo, shop, anotherShop }) => {
    /** The service as on a developer's own machine: webhooks may go anywhere. */
    let open: Listening;
    beforeAll(async () => {
      open = await listen({ ...service.deps, config: { ...service.deps.config, privateWebhookTargets: true } });
    });
    afterAll(() => open.close());
    const send = (sending: Sending) => sendTo({ ...sending, through: open.ask });

    it('sends what every webhook is, signed with the secret of this gateway, marked as a test, about a payment that nobody has', async () => {
      receiver.answerWith(() => ({ status: 401, headers: { 'content-type': 'text/plain', 'retry-after': '7' }, body: 'bad signature' }));
      const { status, data } = await send({ body: { url: receiver.url, status: 'EXPIRED' } });
      const [sent] = receiver.received as [(typeof receiver.received)[number]];
      expect([status, data]).toEqual([
        200,
        {
          webhookId: sent.headers['webhook-id'],
          url: receiver.url,
          body: sent.body,
          result: '4xx',
          httpStatus: 401,
          durationMs: expect.any(Number),
          problem: null,
          answer: { body: 'bad signature', contentType: 'text/plain', retryAfter: '7' },
        },
      ]);
      await assertWebhook(sent);
      const event = JSON.parse(sent.body) as { paymentId: string };
      expect(event).toEqual({ paymentId: expect.any(String), status: 'EXPIRED', test: true });
      const [secret = ''] = await readSecrets(service.deps, shop.id, 'webhook');
      expect(sent.headers['x-webhook-signature']).toBe(createHmac('sha256', secret).update(sent.body).digest('hex'));
      expect((await shop.call('POST', `/payments/${event.paymentId}/verify`)).status).toBe(404);
    });

    it('goes to the webhookUrl of the newest payment that has one when it names none, and announces SUCCESS', async () => {
      const other = await anotherShop();
      await other.payment({ webhookUrl: receiver.url });
      await other.call('POST', '/payments', { body: { currencyCode: 'USD', amount: '10', callbackUrl: 'https://shop.example/thanks' } });
      const { data } = await send({ from: other });
      expect(data).toMatchObject({ url: receiver.url, result: '2xx', httpStatus: 200, answer: { body: '' } });
      expect(JSON.parse(receiver.received[0]?.body ?? '')).toMatchObject({ status: 'SUCCESS', test: true });
    });

    it('changes nothing: no webhook, no attempt and no job is written', async () => {
      const counts = () => service.world.database.sql`
        select (select count(*) from webhook_events) as events, (select count(*) from webhook_attempts) as attempts, (select count(*) from outbox) as jobs`;
      const before = await counts();
      expect((await send({ body: { url: receiver.url } })).status).toBe(200);
      expect(await counts()).toEqual(before);
    });

    it('says what went wrong, and follows no redirect', async () => {
      const said = async (answer: Parameters<WebhookReceiver['answerWith']>[0]): Promise<unknown[]> => {
        receiver.answerWith(answer);
        const { data } = await send({ body: { url: receiver.url } });
        return [data.result, data.httpStatus, typeof data.problem];
      };
      expect(await said(() => undefined)).toEqual(['refused', null, 'string']);
      expect(await said(() => ({ status: 302, headers: { location: receiver.url } }))).toEqual(['3xx', 302, 'object']);
      expect(await said(() => ({ status: 503 }))).toEqual(['5xx', 503, 'object']);
      expect(receiver.received).toHaveLength(3);
    });

    it('shows of an answer the first kilobyte, as text in which nothing is hidden', async () => {
      const hostile = await hostileReceiver(
        Buffer.concat([Buffer.from('a\u202eb\0\u001b[31m\u200b\r\nc\td'), Buffer.from([0xff, 0xc3]), Buffer.alloc(70_000, 'é')]),
      );
      const { data } = await send({ body: { url: hostile.url } });
      await hostile.close();
      const { body } = data.answer as { body: string };
      expect(body.slice(0, 15)).toBe('a\ufffdb\ufffd\ufffd[31m\ufffd\nc\td\ufffd\ufffd'.slice(0, 15));
      expect(body).toMatch(/é$/);
      expect(Buffer.byteLength(body.replaceAll('\ufffd', ''))).toBeLessThanOrEqual(POLICY.webhookAnswerBytes);
    });

    it('waits for nothing that real webhooks wait for, and keeps none of them waiting', async () => {
      const slow = await anotherShop();
      const { paymentUid } = await slow.payment({ timeoutSeconds: 1, webhookUrl: receiver.url });
      const held: (() => void)[] = [];
      const holding = createServer((request, response) => request.resume().on('end', () => held.push(() => response.end())));
      const url = await listening(holding);
      const test = send({ from: slow, body: { url } });
      await waitFor(async () => held.length === 1, { what: 'the test to be under way' });
      await service.world.advance(2);
      await service.ask('POST', `/api/v1/public/payments/${paymentUid}/expire`);
      await runDueJobs(service.worker, [deliverWebhook]);
      expect(receiver.received.map(({ body }) => body)).toContain(`{"paymentId":"${paymentUid}","status":"EXPIRED"}`);
      held[0]?.();
      expect((await test).data).toMatchObject({ result: '2xx' });
      holding.close();
    });

    it('reaches nothing inside, and tells an unknown name, an internal one and one that points inside apart for nobody', async () => {
      let connections = 0;
      const inside = createServer((_, response) => {
        connections += 1;
        response.end('secret');
      });
      const { port } = new URL(await listening(inside));
      const deps = publicOnly(service);
      const gateway = await gatewayOf(service, shop);
      const told = new Set<string>();
      const resolves = [
        ...ANSWERS.filter(({ verdict }) => verdict !== 'public').map(({ addresses }) => async () => [...addresses]),
        async () => [],
        async (): Promise<string[]> => {
          throw new Error('queryA ENOTFOUND db.internal.example 10.0.0.7');
        },
      ];
      for (const resolve of resolves) {
        const http = createWebhookHttp({ policy: webhookPolicy(deps.config), resolve });
        const { webhookId, body, durationMs, ...rest } = await testWebhook(deps, { gateway, body: { url: `http://hooks.example:${port}/` } }, http);
        told.add(JSON.stringify(rest));
      }
      inside.close();
      expect(connections).toBe(0);
      expect([...told].map((one) => JSON.parse(one) as object)).toEqual([
        expect.objectContaining({ result: 'dns', httpStatus: null, answer: null, problem: expect.not.stringContaining('10.0.0.7') }),
      ]);
    });

    it('shows nothing of what an address of an opened private network answers but its status', async () => {
      receiver.answerWith(() => ({ status: 200, body: 'internal' }));
      const deps = { ...service.deps, config: { ...service.deps.config, privateWebhookTargets: ['127.0.0.0/8'] } };
      const answered = await testWebhook(deps, { gateway: await gatewayOf(service, shop), body: { url: receiver.url } });
      expect([answered.httpStatus, answered.answer]).toEqual([200, null]);
    });
  },
  422: ({ service, send, shop, anotherShop }) => {
    it('refuses every URL that no payment could have, naming url', async () => {
      const deps = publicOnly(service);
      const gateway = await gatewayOf(service, shop);
      for (const { url, verdict, problem } of WEBHOOK_URLS.filter((one) => one.verdict !== 'public' && one.url !== ''))
        await expect(testWebhook(deps, { gateway, body: { url } }), `${verdict} ${url}`).rejects.toMatchObject({ message: `url: ${problem}` });
    });

    it('asks for a url while no payment has one, and names a status that is none', async () => {
      expect((await send({ from: await anotherShop() })).error.message).toMatch(/^url: /);
      expect((await send({ body: { url: receiver.url, status: 'PENDING' } })).error.message).toMatch(/^status: /);
      expect((await send({ body: { url: 7 } })).error.message).toMatch(/^url: /);
    });
  },
  429: ({ service, shop, anotherShop }) => {
    const strict = (): Deps => ({
      ...service.deps,
      config: { ...service.deps.config, SLUICE_RATE_LIMIT_SCALE: 1 },
      limiter: createLimiter({ now: () => 0 }),
    });
    const ask = async (deps: Deps, of: Shop): Promise<string> =>
      testWebhook(deps, { gateway: await gatewayOf(service, of), body: { url: receiver.url } }).then(
        ({ result }) => result,
        (error: { code: string }) => error.code,
      );

    it('lets a gateway send ten a minute from however many addresses, and takes none of them from another', async () => {
      const deps = strict();
      for (let n = 0; n < POLICY.webhookTestsPerMinute; n++) expect(await ask(deps, shop)).toBe('2xx');
      expect(await ask(deps, shop)).toBe('rate_limit_exceeded');
      expect(await ask(deps, await anotherShop())).toBe('2xx');
      expect(receiver.received).toHaveLength(POLICY.webhookTestsPerMinute + 1);
    });

    it('lets a gateway have one under way, and another gateway one of its own', async () => {
      const other = await anotherShop();
      const answers: (() => void)[] = [];
      const holding = createServer((request, response) => request.resume().on('end', () => answers.push(() => response.end())));
      const url = await listening(holding);
      const first = testWebhook(strict(), { gateway: await gatewayOf(service, shop), body: { url } });
      await waitFor(async () => answers.length === 1, { what: 'the first test to be under way' });
      expect(await ask(strict(), shop)).toBe('rate_limit_exceeded');
      expect(await ask(strict(), other)).toBe('2xx');
      answers[0]?.();
      expect((await first).result).toBe('2xx');
      expect(await ask(strict(), shop)).toBe('2xx');
      holding.close();
    });
  },
});

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

/** Answers these bytes, whatever they are. */
async function hostileReceiver(bytes: Buffer): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((_, response) => response.end(bytes));
  const url = await listening(server);
  return {
    url,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
