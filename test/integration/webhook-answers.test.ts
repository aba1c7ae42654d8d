import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Deps, Gateway } from '#api/deps.ts';
import { deliverWebhook, resendWebhook } from '#api/jobs/deliver-webhook.ts';
import { periodicWork } from '#api/jobs/periodic-work.ts';
import { runDueJobs } from '#api/jobs/relay.ts';
import { createPayment } from '#api/payments/create.ts';
import { enqueuePaymentWebhook } from '#api/payments/enqueue-webhook.ts';
import { listPaymentWebhooks } from '#api/payments/list-webhooks.ts';
import { resendPaymentWebhook } from '#api/payments/resend-webhook.ts';
import { listWebhookAttempts } from '#api/store/webhook-events.ts';
import { startWebhookReceiver, type WebhookAnswer, type WebhookReceiver } from '#ops/dev/webhook-receiver.ts';
import { POLICY } from '#shared/core/policy.ts';
import { plansOfHttp } from '#test/harness/explained.ts';
import { type InProcess, inProcess, plainCommit } from '#test/harness/in-process.ts';

let world: InProcess;
let receiver: WebhookReceiver;
/** A deployment that may send webhooks anywhere, and the worker's part of it. */
let deps: Deps;
let shop: Gateway;

beforeEach(async () => {
  [world, receiver] = await Promise.all([inProcess(), startWebhookReceiver()]);
  deps = { ...world.deps, config: { ...world.deps.config, privateWebhookTargets: true } };
  shop = await world.aGateway();
});
afterEach(() => Promise.all([world.stop(), receiver.stop()]));

async function announced(of = shop): Promise<string> {
  const body = { currencyCode: 'USD', amount: '25', checkoutMode: 'API' as const, webhookUrl: receiver.url };
  const reply = await createPayment(deps, { gateway: of, body, clientIp: '127.0.0.1', commit: plainCommit(deps) });
  const { paymentUid: paymentId } = reply.data as { paymentUid: string };
  await deps.db.transaction((tx) => enqueuePaymentWebhook(tx, deps, { paymentId, gatewayId: of.id, status: 'SUCCESS', webhookUrl: receiver.url }));
  return paymentId;
}

async function answeredWith(answer: WebhookAnswer | undefined, by = deps): Promise<{ paymentId: string; answer: unknown }> {
  receiver.answerWith(() => answer);
  const paymentId = await announced();
  await runDueJobs({ ...by, db: world.database.as('worker') }, [deliverWebhook, resendWebhook]);
  return { paymentId, answer: await shown(paymentId) };
}

async function shown(paymentId: string, of = shop): Promise<unknown> {
  const reader = { ...deps, db: world.database.as('http') };
  return (await listPaymentWebhooks(reader, { gateway: of, paymentId }))[0]?.attempts.map(({ answer }) => answer);
}

it('shows how a receiver answered each attempt, resends too, and null where nothing came', async () => {
  const failed = await answeredWith({ status: 503, headers: { 'content-type': 'text/html', 'retry-after': '120' }, body: '<h1>down</h1>' });
  expect(failed.answer).toEqual([{ body: '<h1>down</h1>', contentType: 'text/html', retryAfter: '120' }]);
  receiver.answerWith(() => ({ status: 200 }));
  await resendPaymentWebhook(deps, { gateway: shop, paymentId: failed.paymentId });
  await runDueJobs(deps, [resendWebhook]);
  expect(await shown(failed.paymentId)).toEqual([
    { body: '<h1>down</h1>', contentType: 'text/html', retryAfter: '120' },
    { body: '', contentType: null, retryAfter: null },
  ]);
  expect((await answeredWith(undefined)).answer).toEqual([null]);
});

it('keeps a kilobyte of printable text of whatever is answered', async () => {
  const { answer } = await answeredWith({
    status: 500,
    headers: { 'content-type': `a/${'b'.repeat(500)}` },
    body: `\0\u001b[2J\u202e\u2066\u200b\ufeff${'\u{10ffff}'}ok\r\n\t${'é'.repeat(9_000)}`,
  });
  const [{ body, contentType }] = answer as [{ body: string; contentType: string }];
  expect(body.startsWith('\ufffd\ufffd[2J\ufffd\ufffd\ufffd\ufffd\ufffdok\n\té')).toBe(true);
  expect(body).not.toMatch(/[^\P{C}\n\t]/u);
  expect([body.length <= POLICY.webhookAnswerBytes, body.at(-1), contentType.length]).toEqual([true, 'é', 200]);
});

it('keeps nothing of what a private address answers where the deployment opened that range alone', async () => {
  expect((await answeredWith({ status: 200, body: 'internal' }, world.deps)).answer).toEqual([null]);
  expect(await world.database.sql`select 1 from webhook_answers`).toHaveLength(0);
});

it('forgets answers after thirty days, and keeps their attempts', async () => {
  const { paymentId } = await answeredWith({ status: 500, body: 'old' });
  const worker = { ...deps, db: world.database.as('worker') };
  await world.advance((POLICY.webhookAnswersKeptDays - 1) * 86_400);
  expect(await periodicWork['forget-webhook-answers'].run(worker)).toBe(0);
  expect(await shown(paymentId)).toMatchObject([{ body: 'old' }]);
  await world.advance(86_401);
  expect(await periodicWork['forget-webhook-answers'].run(worker)).toBe(1);
  expect(await shown(paymentId)).toEqual([null]);
});

it('keeps so many of a gateway, the newest, and one that resends without end pushes out nobody else’s', async () => {
  const other = await world.aGateway();
  receiver.answerWith(() => ({ status: 500, body: 'theirs' }));
  const theirs = await announced(other);
  await runDueJobs(deps, [deliverWebhook]);
  const { paymentId } = await answeredWith({ status: 500, body: 'first' });
  const [{ id: eventId }] = await world.database.sql<[{ id: string }]>`select id from webhook_events where payment_id = ${paymentId}`;
  await world.database.sql`
    with made as (
      insert into webhook_attempts (id, event_id, number, started_at, manual)
      select gen_random_uuid(), ${eventId}, n, sluice_now(), true from generate_series(1, ${POLICY.webhookAnswersPerGateway - 1}) n returning id, number)
    insert into webhook_answers (attempt_id, gateway_id, number, at, body) select id, ${shop.id}, number + 1, sluice_now(), 'more' from made`;
  const kept = async (of: Gateway) =>
    (
      await world.database.sql<
        [{ n: number; first: boolean }]
      >`select count(*)::int as n, bool_or(body = 'first') as first from webhook_answers where gateway_id = ${of.id}`
    )[0];
  expect(await kept(shop)).toEqual({ n: POLICY.webhookAnswersPerGateway, first: true });
  await answeredWith({ status: 500, body: 'last' });
  expect(await kept(shop)).toEqual({ n: POLICY.webhookAnswersPerGateway, first: false });
  expect(await kept(other)).toEqual({ n: 1, first: false });
  expect(await shown(theirs, other)).toMatchObject([{ body: 'theirs' }]);
});

it('reads the answers of the attempts it lists by their key, however many others there are', async () => {
  const { paymentId } = await answeredWith({ status: 500, body: 'mine' });
  const nodes = await plansOfHttp(world.database, (reads) => listWebhookAttempts(reads, paymentId));
  expect(nodes.filter((node) => node['Relation Name'] === 'webhook_answers').map((node) => node['Index Name'])).toEqual(['webhook_answers_pkey']);
});
