import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWebhookHttp } from '#api/clients/webhook-http.ts';
import type { Deps, Gateway } from '#api/deps.ts';
import { webhookJobs } from '#api/jobs/deliver-webhook.ts';
import { runDueJobs } from '#api/jobs/relay.ts';
import { createPayment } from '#api/payments/create.ts';
import { expirePayment } from '#api/payments/expire.ts';
import { listPaymentWebhooks } from '#api/payments/list-webhooks.ts';
import { webhookPolicy } from '#api/payments/webhook-policy.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { ANSWERS, WEBHOOK_URLS } from '#test/fixtures/webhook-urls.ts';
import { assertCleanAudit } from '#test/harness/audit.ts';
import { type InProcess, inProcess, plainCommit } from '#test/harness/in-process.ts';

let world: InProcess;
let shop: Gateway;
/** The service as a public deployment runs it: no private targets; plain http only where a test says so. */
let publicDeps: Deps;

beforeEach(async () => {
  world = await inProcess();
  shop = await world.aGateway();
  publicDeps = { ...world.deps, config: { ...world.deps.config, privateWebhookTargets: false } };
});
afterEach(() => world.stop());

async function create(deps: Deps, webhookUrl: string): Promise<string> {
  const body = { currencyCode: 'USD', amount: '25', timeoutSeconds: 60, checkoutMode: 'API' as const, webhookUrl };
  const reply = await createPayment(deps, { gateway: shop, body, clientIp: '127.0.0.1', commit: plainCommit(deps) });
  return (reply.data as { paymentUid: string }).paymentUid;
}

describe('creating a payment', () => {
  it('refuses every URL of the corpus that is not public, naming webhookUrl, and takes every one that is', async () => {
    const wrong: string[] = [];
    for (const { url, verdict, reason, problem } of WEBHOOK_URLS) {
      const said = await create(publicDeps, url).then(
        () => 'allowed',
        (error: ServiceError) => `${error.code} ${error.message}`,
      );
      const expected = verdict === 'public' ? 'allowed' : `validation_error webhookUrl: ${problem}`;
      // An empty webhookUrl is a missing one, in words of its own.
      if (said !== expected && !(url === '' && said.startsWith('validation_error webhookUrl: '))) wrong.push(`${reason}: ${url}: ${said}`);
    }
    expect(wrong).toEqual([]);
    const [row] = await world.database.sql`select count(*)::int as n from payments`;
    expect(row).toEqual({ n: WEBHOOK_URLS.filter((one) => one.verdict === 'public').length });
  });

  it('in production wants https besides, and refuses private targets unless the deployment lists them', async () => {
    const production = { ...publicDeps, config: { ...publicDeps.config, NODE_ENV: 'production' as const } };
    await expect(create(production, 'http://shop.example/')).rejects.toThrow('webhookUrl: must use https');
    await expect(create(production, 'https://10.0.0.1/')).rejects.toThrow('webhookUrl: must not point to a private or reserved address');
    await create(production, 'https://shop.example/');
    const opened = { ...production, config: { ...production.config, privateWebhookTargets: ['10.0.0.0/8'] } };
    await create(opened, 'https://10.0.0.1/');
    await expect(create(opened, 'https://192.168.0.1/')).rejects.toBeInstanceOf(ServiceError);
  });
});

describe('sending a webhook', () => {
  it('to a name that was public when the payment was created reaches nothing inside, whatever its name servers say by then', async () => {
    let connections = 0;
    const canary = createServer((_, response) => {
      connections += 1;
      response.end();
    });
    await new Promise<void>((resolve) => canary.listen(0, '127.0.0.1', resolve));
    const { port } = canary.address() as AddressInfo;
    try {
      for (const { addresses, verdict, reason } of ANSWERS.filter((one) => one.verdict !== 'public')) {
        const paymentId = await create(publicDeps, `http://hooks.example:${port}/hook`);
        await world.advance(61);
        await expirePayment(publicDeps, { paymentId, clientIp: '127.0.0.1' });
        const rebound = webhookJobs((deps) => createWebhookHttp({ policy: webhookPolicy(deps.config), resolve: async () => [...addresses] }));
        await runDueJobs(publicDeps, [rebound.deliver]);
        const [webhook] = await listPaymentWebhooks(publicDeps, { gateway: shop, paymentId });
        expect([reason, verdict, webhook]).toMatchObject([
          reason,
          verdict,
          { state: 'pending', attempts: [{ number: 1, result: 'blocked', httpStatus: null }] },
        ]);
        // Nothing of it is left to be due with the next one.
        await world.database.sql`update webhook_events set state = 'stopped'`;
      }
      expect(connections).toBe(0);
    } finally {
      canary.close();
    }
    await assertCleanAudit(world.database);
  });

  it('follows the policy of the moment: a URL that an earlier configuration let in is blocked', async () => {
    const paymentId = await create(world.deps, 'http://127.0.0.1:8099/hook');
    await world.advance(61);
    await expirePayment(world.deps, { paymentId, clientIp: '127.0.0.1' });
    const { deliver } = webhookJobs((deps) => createWebhookHttp({ policy: webhookPolicy(deps.config) }));
    await runDueJobs(publicDeps, [deliver]);
    expect((await listPaymentWebhooks(publicDeps, { gateway: shop, paymentId }))[0]?.attempts).toMatchObject([{ result: 'blocked' }]);
  });
});
