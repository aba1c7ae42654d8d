import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WebhookHttp } from '#api/clients/webhook-http.ts';
import type { Gateway } from '#api/deps.ts';
import { deliverWebhook, resendWebhook, webhookJobs } from '#api/jobs/deliver-webhook.ts';
import { runDueJobs } from '#api/jobs/relay.ts';
import { resendOneWebhook } from '#api/operator/resend-webhook.ts';
import { newSecret, replaceSecret } from '#api/gateways/secrets.ts';
import { createPayment } from '#api/payments/create.ts';
import { enqueuePaymentWebhook } from '#api/payments/enqueue-webhook.ts';
import { expirePayment } from '#api/payments/expire.ts';
import { listPaymentWebhooks } from '#api/payments/list-webhooks.ts';
import { queueResend, resendPaymentWebhook } from '#api/payments/resend-webhook.ts';
import { createApiMetrics } from '#shared/platform/metrics.ts';
import { type ReceivedWebhook, startWebhookReceiver, type WebhookReceiver } from '#ops/dev/webhook-receiver.ts';
import { assertCleanAudit } from '#test/harness/audit.ts';
import { type InProcess, inProcess, plainCommit } from '#test/harness/in-process.ts';

let world: InProcess;
let shop: Gateway & { webhookSecret: string };
let receiver: WebhookReceiver;

beforeEach(async () => {
  [world, receiver] = await Promise.all([inProcess(), startWebhookReceiver()]);
  shop = await world.aGateway();
});
afterEach(() => Promise.all([world.stop(), receiver.stop()]));

async function aPayment(url = receiver.url): Promise<string> {
  const body = { currencyCode: 'USD', amount: '25', timeoutSeconds: 60, checkoutMode: 'API' as const, webhookUrl: url };
  const reply = await createPayment(world.deps, { gateway: shop, body, clientIp: '127.0.0.1', commit: plainCommit(world.deps) });
  return (reply.data as { paymentUid: string }).paymentUid;
}
/** A payment that has really expired, its webhook not sent yet. */
async function expired(): Promise<string> {
  const paymentId = await aPayment();
  await world.advance(61);
  await expirePayment(world.deps, { paymentId, clientIp: '127.0.0.1' });
  return paymentId;
}
/** A payment with these statuses announced, in this order. */
async function announced(statuses: string[]): Promise<string> {
  const paymentId = await aPayment();
  for (const status of statuses)
    await world.deps.db.transaction((tx) => enqueuePaymentWebhook(tx, world.deps, { paymentId, gatewayId: shop.id, status, webhookUrl: receiver.url }));
  return paymentId;
}

const run = () => runDueJobs(world.deps, [deliverWebhook, resendWebhook]);
const list = (paymentId: string) => listPaymentWebhooks(world.deps, { gateway: shop, paymentId });
const resend = (paymentId: string) => resendPaymentWebhook(world.deps, { gateway: shop, paymentId });
const statusOf = (webhook: ReceivedWebhook): string => (JSON.parse(webhook.body) as { status: string }).status;
/** What arrived, repetitions left out: the attempt of the schedule and the resend of one webhook may both be sent. */
const inOrder = (): string[] => receiver.received.map(statusOf).filter((status, index, all) => status !== all[index - 1]);
const queued = () => world.database.sql`select 1 from outbox where topic = 'webhook.resend' and state = 'due'`;

describe('a resend', () => {
  it('of a delivered webhook sends the same id and bytes, signed now, and changes nothing but the log', async () => {
    const paymentId = await expired();
    await run();
    const before = await list(paymentId);
    const secret = newSecret('webhook', world.deps.randomBytes);
    await world.deps.db.transaction((tx) => replaceSecret(world.deps, tx, { gatewayId: shop.id, kind: 'webhook', secret, overlapSeconds: 0 }));
    const answer = await resend(paymentId);
    expect(answer).toMatchObject({ id: before[0]?.id, state: 'delivered', resendRequestedAt: expect.any(String) });
    await run();
    const [first, second] = receiver.received as [ReceivedWebhook, ReceivedWebhook];
    expect(receiver.received).toHaveLength(2);
    expect([second.body, second.headers['webhook-id']]).toEqual([first.body, first.headers['webhook-id']]);
    expect(new Webhook(secret).verify(second.body, second.headers as Record<string, string>)).toEqual({ paymentId, status: 'EXPIRED' });
    expect(await list(paymentId)).toEqual([
      {
        ...before[0],
        resendRequestedAt: null,
        attempts: [
          ...(before[0]?.attempts ?? []),
          {
            number: 1,
            startedAt: expect.any(String),
            finishedAt: expect.any(String),
            result: '2xx',
            httpStatus: 200,
            durationMs: expect.any(Number),
            timestamp: expect.any(Number),
            manual: true,
            answer: null,
          },
        ],
      },
    ]);
    await assertCleanAudit(world.database);
  });

  it('is not counted towards the six, and leaves the schedule where it was when it fails', async () => {
    receiver.answerWith(() => ({ status: 500 }));
    const paymentId = await expired();
    await run();
    const [before] = await list(paymentId);
    for (let click = 0; click < 8; click++) {
      await resend(paymentId);
      await run();
      await world.advance(2);
    }
    const [after] = await list(paymentId);
    expect(after).toMatchObject({ state: 'pending', nextAttemptAt: before?.nextAttemptAt, deliveredAt: null });
    expect(after?.attempts.map(({ number, manual }) => [number, manual])).toEqual([[1, false], ...[1, 2, 3, 4, 5, 6, 7, 8].map((number) => [number, true])]);
    for (let attempt = 2; attempt <= 6; attempt++) {
      await world.advance(7_600);
      await run();
    }
    const [last] = await list(paymentId);
    expect(last).toMatchObject({ state: 'exhausted', nextAttemptAt: null });
    expect(last?.attempts.filter((one) => !one.manual).map((one) => one.number)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it.each([
    ['pending', 500, 1],
    ['exhausted', 500, 6],
    ['stopped', 410, 1],
  ])('delivers a webhook that is %s, and no automatic attempt follows', async (state, status, attempts) => {
    receiver.answerWith(() => ({ status }));
    const paymentId = await expired();
    for (let attempt = 0; attempt < attempts; attempt++) {
      await run();
      if (attempt + 1 < attempts) await world.advance(7_600);
    }
    expect((await list(paymentId))[0]).toMatchObject({ state });
    receiver.answerWith(() => ({ status: 200 }));
    await resend(paymentId);
    await run();
    expect((await list(paymentId))[0]).toMatchObject({ state: 'delivered', deliveredAt: expect.any(String), nextAttemptAt: null });
    const count = receiver.received.length;
    await world.advance(100_000);
    await run();
    expect(receiver.received).toHaveLength(count);
    await assertCleanAudit(world.database);
  });

  it('waits for what is pending before it, and goes with what waits for the same, in order', async () => {
    receiver.answerWith(() => ({ status: 500 }));
    const paymentId = await announced(['S1', 'S2', 'S3', 'S4']);
    await run();
    // As an operator leaves those whose jobs were discarded.
    const given = await world.database.sql<
      { id: string }[]
    >`update webhook_events set state = 'stopped' where payment_id = ${paymentId} and status in ('S2', 'S4') returning id`;
    for (const { id } of given) await world.deps.db.transaction((tx) => queueResend(tx, world.deps, id));
    await run();
    expect(inOrder()).toEqual(['S1']);
    receiver.answerWith(() => ({ status: 200 }));
    await world.advance(35);
    await run();
    expect(inOrder()).toEqual(['S1', 'S2', 'S3', 'S4']);
    expect(await queued()).toEqual([]);
  });

  it('answered 410 stops a webhook that is pending', async () => {
    receiver.answerWith(() => ({ status: 500 }));
    const paymentId = await expired();
    await run();
    receiver.answerWith(() => ({ status: 410 }));
    await resend(paymentId);
    await run();
    expect((await list(paymentId))[0]).toMatchObject({ state: 'stopped', nextAttemptAt: null });
  });

  it('sends the newest webhook, after those before it that are still to be delivered', async () => {
    receiver.answerWith(() => ({ status: 500 }));
    const paymentId = await announced(['EXPIRED', 'SUCCESS']);
    await run();
    expect(receiver.received.map(statusOf)).toEqual(['EXPIRED']);
    receiver.answerWith(() => ({ status: 200 }));
    expect(await resend(paymentId)).toMatchObject({ status: 'SUCCESS' });
    await run();
    expect(inOrder()).toEqual(['EXPIRED', 'SUCCESS']);
    expect(receiver.received.map(statusOf).filter((status) => status === 'EXPIRED')).toHaveLength(2);
    expect((await list(paymentId)).map((one) => one.state)).toEqual(['delivered', 'delivered']);
  });

  it('never overtakes an earlier webhook of the payment that fails again', async () => {
    receiver.answerWith((webhook) => ({ status: webhook.body.includes('EXPIRED') ? 500 : 200 }));
    const paymentId = await announced(['EXPIRED', 'SUCCESS']);
    await run();
    await resend(paymentId);
    await run();
    expect(receiver.received.map(statusOf)).toEqual(['EXPIRED', 'EXPIRED']);
    receiver.answerWith(() => ({ status: 200 }));
    await world.advance(40);
    await run();
    expect(inOrder()).toEqual(['EXPIRED', 'SUCCESS']);
    expect((await list(paymentId)).map((one) => one.state)).toEqual(['delivered', 'delivered']);
  });

  it('of a payment whose earlier webhooks are delivered sends only the newest', async () => {
    const paymentId = await announced(['EXPIRED', 'SUCCESS']);
    await run();
    await resend(paymentId);
    await run();
    expect(receiver.received.map(statusOf)).toEqual(['EXPIRED', 'SUCCESS', 'SUCCESS']);
  });

  it('asked for thirty times at once is made once', async () => {
    const paymentId = await expired();
    await run();
    const answers = await Promise.all(Array.from({ length: 30 }, () => resend(paymentId)));
    expect(new Set(answers.map((answer) => answer.resendRequestedAt)).size).toBe(1);
    expect(await queued()).toHaveLength(1);
    await Promise.all([run(), run(), run()]);
    expect(receiver.received).toHaveLength(2);
  });

  it('asked for again and again is made every two seconds at most', async () => {
    const paymentId = await expired();
    await run();
    const began = performance.now();
    // Twenty times, or as often as a busy machine comes to it while the two seconds last.
    for (let click = 0; click < 20 && (click < 2 || performance.now() - began < 1_000); click++) {
      await resend(paymentId);
      await run();
    }
    expect(receiver.received).toHaveLength(2);
    await world.advance(2);
    await run();
    expect(receiver.received).toHaveLength(3);
    await world.advance(10);
    await run();
    expect(receiver.received).toHaveLength(3);
  });

  it('that a crash cut off is made again, with another asked for meanwhile', async () => {
    const paymentId = await expired();
    await run();
    await resend(paymentId);
    const dying: WebhookHttp = { post: () => Promise.reject(new Error('the process died here')) };
    await runDueJobs(world.deps, [webhookJobs(() => dying).resend]);
    expect((await list(paymentId))[0]?.attempts.at(-1)).toMatchObject({ manual: true, finishedAt: null, result: null });
    await resend(paymentId);
    await world.advance(5);
    await run();
    expect(receiver.received.length).toBeGreaterThanOrEqual(2);
    expect((await list(paymentId))[0]).toMatchObject({ state: 'delivered', resendRequestedAt: null });
    expect(await queued()).toHaveLength(0);
  });

  it('takes up again an attempt of the schedule that was given up by its job', async () => {
    const paymentId = await expired();
    await world.database.sql`update outbox set state = 'dead' where topic = 'webhook.deliver'`;
    await run();
    expect(receiver.received).toHaveLength(0);
    receiver.answerWith(() => ({ status: 500 }));
    await resend(paymentId);
    await run();
    const [webhook] = await list(paymentId);
    expect(webhook?.attempts.map((one) => one.manual).sort()).toEqual([false, true]);
  });

  it('of a payment that has announced nothing is a conflict', async () => {
    await expect(resend(await aPayment())).rejects.toMatchObject({ code: 'conflict' });
    expect(await queued()).toHaveLength(0);
  });

  it('wakes the workers', async () => {
    const paymentId = await expired();
    const { wake } = world.calls;
    await resend(paymentId);
    expect(world.calls.wake).toBe(wake + 1);
  });

  it('is counted apart from the attempts of the schedule', async () => {
    const metrics = createApiMetrics('test');
    const deps = { ...world.deps, metrics };
    receiver.answerWith(() => ({ status: 500 }));
    const paymentId = await expired();
    await runDueJobs(deps, [deliverWebhook]);
    receiver.answerWith(() => ({ status: 200 }));
    await resend(paymentId);
    await runDueJobs(deps, [resendWebhook]);
    const { body } = await metrics.scrape();
    expect(body).toContain('sluice_webhook_attempts_total{result="5xx",attempt="1"} 1');
    expect(body).toContain('sluice_webhook_attempts_total{result="2xx",attempt="resend"} 1');
    expect(body).toContain('sluice_webhook_first_attempt_delay_seconds_count 1');
    expect(body).toContain('sluice_webhook_delivered_after_seconds_count 1');
    expect(body).toContain('sluice_webhook_exhausted_total 0');
  });
});

describe("the operator's resend", () => {
  const operatorResend = (id: string, body: unknown = undefined) => resendOneWebhook(world.deps, { params: { id }, query: {}, body });

  it('sends the webhook named, newest or not, and keeps the reason in the operator log', async () => {
    const paymentId = await announced(['EXPIRED', 'SUCCESS']);
    await run();
    const [older] = await list(paymentId);
    const { status, data } = await operatorResend(older?.id ?? '', { reason: 'receiver lost it' });
    expect([status, data]).toMatchObject([202, { webhook: { id: older?.id, paymentId, status: 'EXPIRED', state: 'delivered' } }]);
    await run();
    expect(receiver.received.map(statusOf)).toEqual(['EXPIRED', 'SUCCESS', 'EXPIRED']);
    expect(await world.database.sql`select action, target, reason, details from operator_actions`).toEqual([
      { action: 'webhook.resend', target: older?.id, reason: 'receiver lost it', details: { paymentId, status: 'EXPIRED' } },
    ]);
  });

  it('of an unknown webhook is not found and leaves no trace', async () => {
    for (const id of ['7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44', 'x']) await expect(operatorResend(id)).rejects.toMatchObject({ code: 'not_found' });
    expect(await world.database.sql`select 1 from operator_actions`).toHaveLength(0);
  });

  it('behind a webhook that is tried next in an hour looks again within a quarter of an hour, in case it is not told when that one is through', async () => {
    receiver.answerWith(() => ({ status: 503, headers: { 'retry-after': '3600' } }));
    const paymentId = await announced(['EXPIRED', 'SUCCESS']);
    await run();
    await operatorResend((await list(paymentId))[1]?.id ?? '');
    await run();
    const waiting = await world.database.sql<{ wait: number }[]>`
      select extract(epoch from due_at - sluice_now())::float8 as wait from outbox o join webhook_events e on e.id = o.ref_id where e.status = 'SUCCESS'`;
    expect(waiting).toHaveLength(2);
    for (const { wait } of waiting) expect(wait).toBeLessThanOrEqual(900);
    expect(receiver.received.map(statusOf)).toEqual(['EXPIRED']);
  });

  it('joins the one the merchant asked for', async () => {
    const paymentId = await expired();
    await run();
    const [webhook] = await list(paymentId);
    await Promise.all([resend(paymentId), operatorResend(webhook?.id ?? ''), resend(paymentId)]);
    await run();
    expect(receiver.received).toHaveLength(2);
  });
});
