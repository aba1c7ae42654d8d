import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWebhookHttp, type WebhookHttp, type WebhookOutcome } from '#api/clients/webhook-http.ts';
import type { Deps, Gateway } from '#api/deps.ts';
import { deliverWebhook, deliverWebhookThrough } from '#api/jobs/deliver-webhook.ts';
import { runDueJobs } from '#api/jobs/relay.ts';
import { startJobs } from '#api/jobs/start.ts';
import { newSecret, replaceSecret } from '#api/operator/secrets.ts';
import { createPayment } from '#api/payments/create.ts';
import { enqueuePaymentWebhook } from '#api/payments/enqueue-webhook.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { startWebhookReceiver, type WebhookReceiver } from '#ops/dev/webhook-receiver.ts';
import { type InProcess, inProcess, plainCommit } from '#test/harness/in-process.ts';

let world: InProcess;
let shop: Gateway & { webhookSecret: string };
let receiver: WebhookReceiver;

beforeEach(async () => {
  [world, receiver] = await Promise.all([inProcess(), startWebhookReceiver()]);
  shop = await world.aGateway();
});
afterEach(() => Promise.all([world.stop(), receiver.stop()]));

/** A payment with these statuses announced, in this order. */
async function announced(statuses: string[], url = receiver.url): Promise<string> {
  const body = { currencyCode: 'USD', amount: '25', checkoutMode: 'API' as const, webhookUrl: url };
  const reply = await createPayment(world.deps, { gateway: shop, body, clientIp: '127.0.0.1', commit: plainCommit(world.deps) });
  const paymentId = (reply.data as { paymentUid: string }).paymentUid;
  for (const status of statuses) {
    await world.database.transaction((tx) => enqueuePaymentWebhook(tx, world.deps, { paymentId, gatewayId: shop.id, status, webhookUrl: url }));
  }
  return paymentId;
}

const run = (job = deliverWebhook) => runDueJobs(world.deps, [job]);
const events = () => world.database.sql<{ id: string; status: string; state: string; attempts: number; wait: number }[]>`
  select id, status, state, attempts, round(extract(epoch from next_attempt_at - sluice_now()))::int as wait from webhook_events order by seq`;
const attempts = () => world.database.sql<{ number: number; result: string | null; http_status: number | null; finished: boolean }[]>`
  select number, result, http_status, finished_at is not null as finished from webhook_attempts order by started_at, number`;

describe('a webhook', () => {
  it('arrives with the exact body, both signatures and a stable id, and is recorded', async () => {
    const paymentId = await announced(['SUCCESS']);
    expect(await run()).toBe(1);
    const [webhook] = receiver.received;
    expect(webhook?.body).toBe(`{"paymentId":"${paymentId}","status":"SUCCESS"}`);
    const headers = webhook?.headers as Record<string, string>;
    expect(new Webhook(shop.webhookSecret).verify(webhook?.body as string, headers)).toEqual({ paymentId, status: 'SUCCESS' });
    expect(headers['content-type']).toBe('application/json');
    const [event] = await events();
    expect(headers['webhook-id']).toBe(event?.id);
    expect(event).toMatchObject({ state: 'delivered', attempts: 1 });
    expect(await attempts()).toEqual([{ number: 1, result: '2xx', http_status: 200, finished: true }]);
    expect(await world.database.sql`select state from outbox`).toEqual([{ state: 'done' }]);
    expect(await run()).toBe(0);
  });

  it('is one per payment and status, however often it is announced', async () => {
    await announced(['EXPIRED', 'EXPIRED', 'EXPIRED']);
    await run();
    expect(receiver.received).toHaveLength(1);
    expect(await world.database.sql`select count(*) as n from outbox`).toEqual([{ n: 1 }]);
  });

  it('carries both signatures during a rotation overlap and only the new one after it', async () => {
    const replacement = newSecret('webhook', world.deps.randomBytes);
    await world.database.transaction((tx) =>
      replaceSecret(world.deps, tx, { gatewayId: shop.id, kind: 'webhook', secret: replacement, overlapSeconds: 86_400 }),
    );
    await announced(['SUCCESS']);
    await run();
    const during = receiver.received[0]?.headers as Record<string, string>;
    for (const secret of [replacement, shop.webhookSecret]) expect(new Webhook(secret).verify(receiver.received[0]?.body as string, during)).toBeDefined();
    await world.advance(86_401);
    await announced(['SUCCESS']);
    await run();
    const after = receiver.received[1]?.headers as Record<string, string>;
    expect(new Webhook(replacement).verify(receiver.received[1]?.body as string, after)).toBeDefined();
    expect(() => new Webhook(shop.webhookSecret).verify(receiver.received[1]?.body as string, after)).toThrow();
  });

  it('is tried six times over 2 h 42 m 30 s with the same id and bytes, then given up', async () => {
    receiver.answerWith(() => ({ status: 500 }));
    await announced(['SUCCESS']);
    const waits: number[] = [];
    for (let attempt = 1; attempt <= 6; attempt++) {
      expect(await run()).toBe(1);
      const [event] = await events();
      expect(event?.attempts).toBe(attempt);
      if (attempt === 6) break;
      waits.push(event?.wait as number);
      await world.advance((event?.wait as number) - 5);
      expect(await run()).toBe(0);
      await world.advance(6);
    }
    for (const [index, pause] of [30, 120, 600, 1_800, 7_200].entries()) {
      expect(waits[index]).toBeGreaterThanOrEqual(pause - 1);
      expect(waits[index]).toBeLessThanOrEqual(pause * 1.05);
    }
    expect((await events())[0]).toMatchObject({ state: 'exhausted', attempts: 6 });
    expect(receiver.received).toHaveLength(6);
    expect(new Set(receiver.received.map((webhook) => `${webhook.headers['webhook-id']} ${webhook.body} ${webhook.headers['x-webhook-signature']}`)).size).toBe(
      1,
    );
    await world.advance(1_000_000);
    expect(await run()).toBe(0);
    expect(await world.database.sql`select state from outbox`).toEqual([{ state: 'done' }]);
  });

  it('stops at 410, follows no redirect, and honours Retry-After upward', async () => {
    receiver.answerWith((webhook) =>
      webhook.body.includes('EXPIRED')
        ? { status: 410 }
        : webhook.body.includes('MISMATCH')
          ? { status: 307, headers: { location: receiver.url } }
          : { status: 503, headers: { 'retry-after': '300' } },
    );
    await announced(['EXPIRED']);
    await announced(['MISMATCH']);
    await announced(['SUCCESS']);
    await run();
    expect(receiver.received).toHaveLength(3);
    const [gone, redirected, busy] = await events();
    expect(gone).toMatchObject({ state: 'stopped', attempts: 1 });
    expect(redirected).toMatchObject({ state: 'pending', attempts: 1 });
    expect(redirected?.wait).toBeLessThanOrEqual(32);
    expect(busy?.wait).toBeGreaterThanOrEqual(298);
    expect((await attempts()).map((attempt) => attempt.result).sort()).toEqual(['3xx', '4xx', '5xx']);
  });

  it('of a later status waits for the earlier one, and follows it at once', async () => {
    receiver.answerWith(() => ({ status: 500 }));
    const paymentId = await announced(['EXPIRED', 'SUCCESS']);
    await run();
    expect(receiver.received.map((webhook) => webhook.body)).toEqual([`{"paymentId":"${paymentId}","status":"EXPIRED"}`]);
    receiver.answerWith(() => ({ status: 200 }));
    await world.advance(35);
    await run();
    expect(receiver.received.slice(1).map((webhook) => webhook.body)).toEqual([
      `{"paymentId":"${paymentId}","status":"EXPIRED"}`,
      `{"paymentId":"${paymentId}","status":"SUCCESS"}`,
    ]);
    expect((await events()).map((event) => event.state)).toEqual(['delivered', 'delivered']);
  });

  it("does not wait for another payment's", async () => {
    receiver.answerWith((webhook) => ({ status: webhook.body.includes('EXPIRED') ? 500 : 200 }));
    await announced(['EXPIRED']);
    await announced(['SUCCESS']);
    await run();
    expect((await events()).map((event) => event.state)).toEqual(['pending', 'delivered']);
  });

  it('that was sent but not recorded is sent again with the same id and body; the lost attempt does not count', async () => {
    await announced(['SUCCESS']);
    const real = createWebhookHttp({ policy: { privateTargets: true, requireHttps: false } });
    const dying: WebhookHttp = {
      post: async (...call) => {
        await real.post(...call);
        throw new Error('the process died here');
      },
    };
    await run(deliverWebhookThrough(() => dying));
    expect(await attempts()).toEqual([{ number: 1, result: null, http_status: null, finished: false }]);
    await world.advance(2);
    await run();
    expect(receiver.received).toHaveLength(2);
    expect(receiver.received[1]?.body).toBe(receiver.received[0]?.body);
    expect(receiver.received[1]?.headers['webhook-id']).toBe(receiver.received[0]?.headers['webhook-id']);
    expect((await events())[0]).toMatchObject({ state: 'delivered', attempts: 1 });
    expect((await attempts()).map((attempt) => attempt.finished)).toEqual([false, true]);
  });

  it('whose job runs twice at once is sent once', async () => {
    await announced(['SUCCESS']);
    await Promise.all([run(), run(), run()]);
    expect(receiver.received).toHaveLength(1);
  });

  it('of a gateway without a readable secret is not sent; the job is retried, not lost', async () => {
    await announced(['SUCCESS']);
    await world.database.sql`update gateway_secrets set sealed = ''::bytea`;
    await run();
    expect(receiver.received).toHaveLength(0);
    expect(await world.database.sql`select state, failures from outbox`).toEqual([{ state: 'due', failures: 1 }]);
  });
});

describe('the client for outgoing webhooks', () => {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });
  async function listening(handler: RequestListener): Promise<number> {
    const server = createServer(handler);
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  }
  const open = { privateTargets: true, requireHttps: false };
  const post = (client: WebhookHttp, url: string): Promise<WebhookOutcome> => client.post(url, { 'x-test': '1' }, '{"a":1}');

  it('gives up on a receiver that never answers at the deadline, name resolution included', async () => {
    const port = await listening(() => undefined);
    const client = createWebhookHttp({ policy: open, deadlineMs: 150 });
    expect(await post(client, `http://127.0.0.1:${port}/`)).toMatchObject({ kind: 'failed', result: 'timeout' });
    const stuck = createWebhookHttp({ policy: open, deadlineMs: 150, resolve: () => new Promise(() => undefined) });
    expect(await post(stuck, 'http://hooks.example/')).toMatchObject({ kind: 'failed', result: 'timeout' });
  });

  it('takes the status line as the answer when the body stalls, breaks off or never ends', async () => {
    const stalls = await listening((_, response) => void response.writeHead(200).write('x'));
    const breaks = await listening((_, response) => {
      response.writeHead(200).write('x', () => response.socket?.destroy());
    });
    let sent = 0;
    const endless = await listening((_, response) => {
      response.writeHead(200);
      const chunk = Buffer.alloc(16_384);
      const more = (): void => {
        while (!response.destroyed && response.write(chunk)) sent += chunk.length;
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    });
    const client = createWebhookHttp({ policy: open, deadlineMs: 300 });
    expect(await post(client, `http://127.0.0.1:${stalls}/`)).toMatchObject({ kind: 'answered', status: 200 });
    expect(await post(client, `http://127.0.0.1:${endless}/`)).toMatchObject({ kind: 'answered', status: 200 });
    expect(sent).toBeLessThan(16 * 1024 * 1024);
    expect(await post(client, `http://127.0.0.1:${breaks}/`)).toMatchObject({ kind: 'answered', status: 200 });
  });

  it('tells a refused connection, an unknown name and a TLS failure apart', async () => {
    const port = await listening((_, response) => response.end());
    const client = createWebhookHttp({ policy: open, deadlineMs: 2_000 });
    expect(await post(client, `https://127.0.0.1:${port}/`)).toMatchObject({ kind: 'failed', result: 'tls' });
    expect(await post(client, 'http://127.0.0.1:1025/')).toMatchObject({ kind: 'failed', result: 'refused' });
    const unknown = createWebhookHttp({ policy: open, resolve: async () => Promise.reject(new Error('ENOTFOUND')) });
    expect(await post(unknown, 'http://hooks.example/')).toMatchObject({ kind: 'failed', result: 'dns' });
    expect(await post(createWebhookHttp({ policy: open, resolve: async () => [] }), 'http://hooks.example/')).toMatchObject({ kind: 'failed', result: 'dns' });
  });

  it('connects to the address that was checked and keeps the name, even when DNS would answer differently the second time (trap J)', async () => {
    const hosts: string[] = [];
    const port = await listening((request, response) => {
      hosts.push(String(request.headers.host));
      response.end();
    });
    let asked = 0;
    const rebinding = async (): Promise<string[]> => (++asked === 1 ? ['127.0.0.1'] : ['169.254.169.254']);
    const client = createWebhookHttp({ policy: open, resolve: rebinding });
    expect(await post(client, `http://hooks.example:${port}/`)).toMatchObject({ kind: 'answered', status: 200 });
    expect(asked).toBe(1);
    expect(hosts).toEqual([`hooks.example:${port}`]);
    expect(await post(client, `http://hooks.example:${port}/`)).toMatchObject({ kind: 'failed', result: 'blocked' });
  });

  it('never connects inside when private targets are off, by literal or by name (trap J)', async () => {
    let connections = 0;
    const port = await listening((_, response) => {
      connections += 1;
      response.end();
    });
    const strict = createWebhookHttp({ policy: { privateTargets: false, requireHttps: false }, resolve: async () => ['127.0.0.1'] });
    for (const host of ['127.0.0.1', '2130706433', '0x7f000001', 'localhost', 'hooks.example', '[::ffff:127.0.0.1]']) {
      expect(await post(strict, `http://${host}:${port}/`)).toMatchObject({ kind: 'failed', result: 'blocked' });
    }
    expect(connections).toBe(0);
  });

  it('uses no proxy from the environment', async () => {
    let proxied = 0;
    const proxy = await listening((_, response) => {
      proxied += 1;
      response.end();
    });
    const port = await listening((_, response) => response.end());
    process.env.http_proxy = `http://127.0.0.1:${proxy}`;
    try {
      expect(await post(createWebhookHttp({ policy: open }), `http://127.0.0.1:${port}/`)).toMatchObject({ kind: 'answered' });
    } finally {
      delete process.env.http_proxy;
    }
    expect(proxied).toBe(0);
  });
});

it("a receiver that answers nothing does not hold up another one's webhooks, and is never sent more than four at once", async () => {
  let open = 0;
  let most = 0;
  const tarpit = createServer((_, response) => {
    open += 1;
    most = Math.max(most, open);
    response.on('close', () => {
      open -= 1;
    });
  });
  await new Promise<void>((resolve) => tarpit.listen(0, '127.0.0.1', resolve));
  const job = deliverWebhookThrough(() => createWebhookHttp({ policy: { privateTargets: true, requireHttps: false }, deadlineMs: 10_000 }));
  const jobs = await startJobs(world.deps, { jobs: [job], sweeps: [] });
  try {
    for (let index = 0; index < 40; index++) await announced(['SUCCESS'], `http://127.0.0.1:${(tarpit.address() as AddressInfo).port}/`);
    await announced(['SUCCESS']);
    const started = performance.now();
    await waitFor(() => receiver.received.length === 1, { what: "the other receiver's webhook" });
    expect(performance.now() - started).toBeLessThan(9_000);
    expect(most).toBeLessThanOrEqual(4);
  } finally {
    tarpit.close();
    tarpit.closeAllConnections();
    await jobs.stop();
  }
});

it('a blocked target counts as an attempt and says so', async () => {
  await announced(['SUCCESS'], 'http://hooks.example/');
  const strict = deliverWebhookThrough((_: Deps) =>
    createWebhookHttp({ policy: { privateTargets: false, requireHttps: false }, resolve: async () => ['10.0.0.1'] }),
  );
  await run(strict);
  expect(await attempts()).toEqual([{ number: 1, result: 'blocked', http_status: null, finished: true }]);
  expect((await events())[0]).toMatchObject({ state: 'pending', attempts: 1 });
});
