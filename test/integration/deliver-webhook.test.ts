import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createWebhookHttp, type WebhookHttp, type WebhookOutcome } from '#api/clients/webhook-http.ts';
import type { Gateway } from '#api/deps.ts';
import { deliverWebhook, webhookJobs } from '#api/jobs/deliver-webhook.ts';
import { attemptRecords } from '#api/jobs/record-attempts.ts';
import { runDueJobs } from '#api/jobs/relay.ts';
import { runJob } from '#api/jobs/run-job.ts';
import { leaseOutbox, type OutboxLease } from '#api/store/outbox.ts';
import { DEFAULT_OVERLAP_SECONDS, newSecret, replaceSecret } from '#api/gateways/secrets.ts';
import { createPayment } from '#api/payments/create.ts';
import { enqueuePaymentWebhook } from '#api/payments/enqueue-webhook.ts';
import type { WebhookTurn } from '#api/store/webhook-events.ts';
import { startWebhookReceiver, type WebhookReceiver } from '#ops/dev/webhook-receiver.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import { type InProcess, inProcess, plainCommit } from '#test/harness/in-process.ts';
import { waitFor } from '#ops/dev/services/wait.ts';

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
    await world.deps.db.transaction((tx) => enqueuePaymentWebhook(tx, world.deps, { paymentId, gatewayId: shop.id, status, webhookUrl: url }));
  }
  return paymentId;
}

const run = (job = deliverWebhook) => runDueJobs(world.deps, [job]);
const events = () => world.database.sql<{ id: string; status: string; state: string; attempts: number; wait: number }[]>`
  select id, status, state, attempts, round(extract(epoch from next_attempt_at - sluice_now()))::int as wait from webhook_events order by seq`;
const attempts = () => world.database.sql<{ number: number; result: string | null; httpStatus: number | null; finished: boolean }[]>`
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
    expect(await attempts()).toEqual([{ number: 1, result: '2xx', httpStatus: 200, finished: true }]);
    expect(await world.database.sql`select state from outbox`).toEqual([{ state: 'done' }]);
    expect(await run()).toBe(0);
  });

  it('is one per payment and status, however often it is announced', async () => {
    await announced(['EXPIRED', 'EXPIRED', 'EXPIRED']);
    await run();
    expect(receiver.received).toHaveLength(1);
    expect(await world.database.sql`select count(*) as n from outbox`).toEqual([{ n: 1 }]);
  });

  it('carries both signatures during a rotation overlap and only the new one after it; X-Webhook-Signature always uses the newest', async () => {
    const [first, second] = [shop.webhookSecret, newSecret('webhook', world.deps.randomBytes)];
    const verifies = (secret: string): boolean => {
      const { body, headers } = receiver.received.at(-1) as { body: string; headers: Record<string, string> };
      try {
        new Webhook(secret).verify(body, headers);
        return true;
      } catch {
        return false;
      }
    };
    const keyedWith = (secret: string): boolean => {
      const { body, headers } = receiver.received.at(-1) as { body: string; headers: Record<string, string> };
      return headers['x-webhook-signature'] === createHmac('sha256', secret).update(body).digest('hex');
    };
    const send = async () => {
      const before = receiver.received.length;
      await announced(['SUCCESS']);
      await run();
      expect(receiver.received).toHaveLength(before + 1);
      return { first: [verifies(first), keyedWith(first)], second: [verifies(second), keyedWith(second)] };
    };
    expect(await send()).toEqual({ first: [true, true], second: [false, false] });
    await world.deps.db.transaction((tx) =>
      replaceSecret(world.deps, tx, { gatewayId: shop.id, kind: 'webhook', secret: second, overlapSeconds: DEFAULT_OVERLAP_SECONDS.webhook }),
    );
    expect(await send()).toEqual({ first: [true, false], second: [true, true] });
    await world.advance(86_390);
    expect(await send()).toEqual({ first: [true, false], second: [true, true] });
    await world.advance(11);
    expect(await send()).toEqual({ first: [false, false], second: [true, true] });
  });

  it('that is tried again after a rotation is signed with the secrets of that moment', async () => {
    receiver.answerWith(() => ({ status: 500 }));
    await announced(['SUCCESS']);
    await run();
    const second = newSecret('webhook', world.deps.randomBytes);
    await world.deps.db.transaction((tx) => replaceSecret(world.deps, tx, { gatewayId: shop.id, kind: 'webhook', secret: second, overlapSeconds: 0 }));
    await world.advance(35);
    await run();
    const [before, after] = receiver.received.map((one) => one.headers as Record<string, string>);
    expect(after?.['webhook-id']).toBe(before?.['webhook-id']);
    expect(new Webhook(second).verify(receiver.received[1]?.body as string, after as Record<string, string>)).toBeDefined();
    expect(() => new Webhook(shop.webhookSecret).verify(receiver.received[1]?.body as string, after as Record<string, string>)).toThrow();
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
      // Less what the run itself has taken since.
      expect(waits[index]).toBeGreaterThanOrEqual(pause - 10);
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
    expect(busy?.wait).toBeGreaterThanOrEqual(290);
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

  it.each([
    ['given up after its six attempts', 500, 6, 'exhausted'],
    ['stopped by the receiver', 410, 1, 'stopped'],
  ])('of a later status goes when the earlier one was %s', async (_what, status, count, state) => {
    receiver.answerWith((webhook) => ({ status: webhook.body.includes('EXPIRED') ? status : 200 }));
    await announced(['EXPIRED', 'SUCCESS']);
    for (let attempt = 1; attempt <= count; attempt++) {
      await run();
      const sent = receiver.received.map((webhook) => (JSON.parse(webhook.body) as { status: string }).status);
      expect(sent).toEqual([...Array.from({ length: attempt }, () => 'EXPIRED'), ...(attempt === count ? ['SUCCESS'] : [])]);
      await world.advance(7_600);
    }
    expect((await events()).map((event) => event.state)).toEqual([state, 'delivered']);
  });

  it('that gets through lets only the next one of its payment go on, for which all others wait', async () => {
    receiver.answerWith(() => ({ status: 500 }));
    await announced(['S1', 'S2', 'S3', 'S4']);
    await run();
    receiver.answerWith(() => ({ status: 200 }));
    await world.advance(35);
    const due = () => world.database.sql<{ id: string; status: string }[]>`
      select o.id, e.status from outbox o join webhook_events e on e.id = o.ref_id where o.state = 'due' and o.due_at <= sluice_now()`;
    for (const status of ['S1', 'S2', 'S3', 'S4']) {
      const [next, ...others] = await due();
      expect([next?.status, others]).toEqual([status, []]);
      expect(await runJob(world.deps, deliverWebhook, next?.id as string)).toBe('done');
    }
    expect((await events()).map(({ state }) => state)).toEqual(Array(4).fill('delivered'));
  });

  it('of which many wait behind a receiver that is down looks seldom whether its turn has come', async () => {
    receiver.answerWith(() => ({ status: 500 }));
    await announced(['EXPIRED', 'SUCCESS']);
    for (let minute = 0; minute < 14; minute++) {
      await run();
      await world.advance(60);
    }
    expect((await events()).map(({ attempts }) => attempts)).toEqual([3, 0]);
    expect(await world.database.sql`select o.claims::int from outbox o join webhook_events e on e.id = o.ref_id where e.status = 'SUCCESS'`).toEqual([
      { claims: 1 },
    ]);
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
    await run(webhookJobs(() => dying).deliver);
    expect(await attempts()).toEqual([{ number: 1, result: null, httpStatus: null, finished: false }]);
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

  it.each<[string, number, number, object]>([
    ['uses up one attempt of the six, not two', 500, 500, { state: 'pending', attempts: 1 }],
    ['is delivered when either run got a 2xx', 200, 500, { state: 'delivered', attempts: 1 }],
  ])('whose run lost its claim to another one %s', async (_what, status, meanwhile, expected) => {
    await announced(['SUCCESS']);
    const answering = (code: number): WebhookHttp => ({ post: async () => ({ kind: 'answered', status: code, retryAfter: null, durationMs: 1 }) });
    const overtaken: WebhookHttp = {
      post: async (...call) => {
        await world.database.sql`update outbox set claimed_until = now() - interval '1 second'`;
        await run(webhookJobs(() => answering(meanwhile)).deliver);
        return answering(status).post(...call);
      },
    };
    await run(webhookJobs(() => overtaken).deliver);
    expect((await events())[0]).toMatchObject(expected);
    expect((await attempts()).map(({ number, finished }) => [number, finished])).toEqual([
      [1, true],
      [1, true],
    ]);
  });

  it('of a gateway without a readable secret is not sent; the job is retried, not lost', async () => {
    await announced(['SUCCESS']);
    await world.database.sql`update gateway_secrets set sealed = ''::bytea`;
    await run();
    expect(receiver.received).toHaveLength(0);
    expect(await world.database.sql`select state, failures from outbox`).toEqual([{ state: 'due', failures: 1 }]);
    expect(await attempts()).toEqual([]);
  });
});

it('a blocked target counts as an attempt and says so, in the log with the reason and without the URL', async () => {
  const logged = vi.spyOn(world.deps.log, 'info');
  await announced(['SUCCESS'], 'http://hooks.example/hook?token=confidential');
  const strict = webhookJobs(() => createWebhookHttp({ policy: { privateTargets: false, requireHttps: false }, resolve: async () => ['10.0.0.1'] }));
  await run(strict.deliver);
  expect(await attempts()).toEqual([{ number: 1, result: 'blocked', httpStatus: null, finished: true }]);
  expect((await events())[0]).toMatchObject({ state: 'pending', attempts: 1 });
  expect(logged.mock.calls.map(([fields]) => fields)).toContainEqual(
    expect.objectContaining({ attempt: '1', result: 'blocked', problem: 'the host resolves to a private or reserved address' }),
  );
  expect(JSON.stringify(logged.mock.calls)).not.toContain('confidential');
  logged.mockRestore();
});

describe('webhooks of one moment', () => {
  const outbox = () =>
    world.database.sql<{ id: string; refId: string }[]>`select o.id, o.ref_id from outbox o join webhook_events e on e.id = o.ref_id order by e.seq`;
  const runAtOnce = async (job = deliverWebhook) => (await outbox()).map(({ id }) => runJob(world.deps, job, id));
  const states = async () => (await events()).map(({ state }) => state);
  const announceMany = async (count: number) => {
    for (let i = 0; i < count; i++) await announced(['SUCCESS']);
  };

  it('are begun and recorded by a few statements, each with its own answer, and none is run twice', async () => {
    receiver.answerWith((webhook) => ({ status: 200, body: `got ${(JSON.parse(webhook.body) as { paymentId: string }).paymentId}` }));
    await announceMany(6);
    const { deliver } = webhookJobs(() => createWebhookHttp({ policy: { privateTargets: true, requireHttps: false } }));
    const rows = await outbox();
    const runs = [...rows, ...rows].map(({ id }) => runJob(world.deps, deliver, id));
    expect((await Promise.all(runs)).toSorted()).toEqual([...Array(6).fill('done'), ...Array(6).fill('not-run')]);
    expect(receiver.received).toHaveLength(6);
    expect(await states()).toEqual(Array(6).fill('delivered'));
    const kept = await world.database.sql<{ body: string; paymentId: string; number: number }[]>`
      select k.body, e.payment_id, k.number from webhook_answers k join webhook_attempts a on a.id = k.attempt_id join webhook_events e on e.id = a.event_id`;
    expect(kept.map(({ body }) => body).toSorted()).toEqual(kept.map(({ paymentId }) => `got ${paymentId}`).toSorted());
    expect(kept).toHaveLength(6);
    const [transactions] = await world.database.sql<[{ count: number }]>`select count(distinct xmin::text)::int as count from webhook_attempts`;
    expect(transactions.count).toBeLessThan(6);
  });

  it('end with what their attempts made of them, in one transaction, and where another run has the row since only that stays as it is', async () => {
    await announceMany(2);
    const [first, second] = await outbox();
    const post = async (): Promise<WebhookOutcome> => {
      await world.database.sql`update outbox set claims = claims + 1 where id = ${second?.id as string}`;
      return { kind: 'answered', status: 200, retryAfter: null, durationMs: 1 };
    };
    const { deliver } = webhookJobs(() => ({ post }));
    await Promise.all([first, second].map((row) => runJob(world.deps, deliver, row?.id as string)));
    const rows = await world.database.sql<{ id: string; state: string; together: boolean; event: string }[]>`
      select o.id, o.state, o.xmin = e.xmin as together, e.state as event from outbox o join webhook_events e on e.id = o.ref_id order by e.seq`;
    expect(rows).toEqual([
      { id: first?.id, state: 'done', together: true, event: 'delivered' },
      { id: second?.id, state: 'due', together: false, event: 'delivered' },
    ]);
  });

  it('of one payment go on at once when the one ahead gets through just as the next one is to wait for it', async () => {
    await announced(['CONFIRMING', 'SUCCESS']);
    const [first, second] = await outbox();
    let sent = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      sent = resolve;
    });
    const order: string[] = [];
    const post = async (_url: string, _headers: unknown, body: string): Promise<WebhookOutcome> => {
      order.push((JSON.parse(body) as { status: string }).status);
      if (order.length === 1) await held;
      return { kind: 'answered', status: 200, retryAfter: null, durationMs: 1 };
    };
    const { deliver } = webhookJobs(() => ({ post }));
    const ahead = runJob(world.deps, deliver, first?.id as string);
    await waitFor(() => order.length === 1, { what: 'the one ahead to be on its way' });
    const read: typeof deliver.read = async (...asked) => {
      const turns = await deliver.read?.(...asked);
      sent();
      await ahead;
      return turns ?? new Map();
    };
    expect(await runJob(world.deps, { ...deliver, read }, second?.id as string)).toBe('done');
    expect(order).toEqual(['CONFIRMING', 'SUCCESS']);
    expect(await states()).toEqual(['delivered', 'delivered']);
  });

  it('of which two are attempts of the same one are judged one after the other', async () => {
    await announceMany(1);
    const [row] = await outbox();
    const [lease] = await leaseOutbox(world.deps.db.sql, [{ id: row?.id as string, topic: 'webhook.deliver' }], { seconds: 6, wait: true });
    const records = attemptRecords(world.deps.db);
    const sent = (await records.turn(row?.id as string)) as WebhookTurn;
    const ends = await Promise.all(
      [500, 200].map(async (status) => {
        const id = uuidFrom(world.deps.randomBytes(16));
        await records.start({ id, eventId: sent.id, number: 1, signedSeconds: 1 });
        const outcome = { kind: 'answered' as const, status, retryAfter: null, durationMs: 1 };
        return { deps: world.deps, id, sent, kind: 'scheduled' as const, outcome, lease: lease as OutboxLease };
      }),
    );
    const ended = await Promise.all(ends.map((one) => records.end(one)));
    expect(ended.map((one) => [one?.first, one?.next.state])).toEqual([
      [true, 'pending'],
      [false, 'delivered'],
    ]);
    expect((await events())[0]).toMatchObject({ state: 'delivered', attempts: 1 });
    expect((await attempts()).map(({ finished }) => finished)).toEqual([true, true]);
  });

  it.each([
    ['webhook, which is recorded', 'webhook_events'],
    ['turn, which is begun', 'outbox'],
  ])('do not wait for one that has its %s once nobody has it locked', async (_what, table) => {
    await announceMany(5);
    const [locked] = await outbox();
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const holder = world.deps.db.transaction(async (tx) => {
      // As whoever asks for a resend has the webhook; it lets attempts begin.
      await tx`select 1 from ${tx(table)} where id = ${(table === 'outbox' ? locked?.id : locked?.refId) as string} for no key update`;
      await held;
    });
    const [first, ...others] = await runAtOnce();
    expect(await Promise.all(others)).toEqual(Array(4).fill('done'));
    expect(await states()).toEqual(['pending', ...Array(4).fill('delivered')]);
    release();
    await holder;
    expect(await first).toBe('done');
    expect(await states()).toEqual(Array(5).fill('delivered'));
  });

  it('are recorded though one of them cannot be, which is tried again', async () => {
    await announceMany(5);
    const [broken] = await outbox();
    await world.database.sql.unsafe(`
      create function refuse_one() returns trigger language plpgsql as $$ begin raise exception 'not this one'; end $$;
      create trigger refuse_one before update on webhook_events for each row when (old.id = '${broken?.refId}') execute function refuse_one()`);
    expect(await Promise.all(await runAtOnce())).toEqual(['later', ...Array(4).fill('done')]);
    expect(await states()).toEqual(['pending', ...Array(4).fill('delivered')]);
    expect(await world.database.sql`select state, failures from outbox where id = ${broken?.id as string}`).toEqual([{ state: 'due', failures: 1 }]);
  });
});
