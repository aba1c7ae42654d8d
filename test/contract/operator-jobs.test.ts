import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runDueJobs } from '#api/jobs/relay.ts';
import { TOPICS } from '#api/store/outbox.ts';
import { TEST_SECRETS } from '#test/harness/world.ts';
import type { Answer } from './client.ts';
import { aService, type Service, type Shop } from './service.ts';

const TOKEN = { authorization: `Bearer ${TEST_SECRETS.SLUICE_OPERATOR_TOKEN}` };

let service: Service;
let shop: Shop;
beforeAll(async () => {
  service = await aService();
  shop = await service.aShop();
});
afterAll(() => service.stop());

const sql = () => service.world.database.sql;
const ask = (method: string, path: string, body?: object): Promise<Answer> =>
  service.ask(method, `/operator/v1${path}`, { headers: TOKEN, ...(body !== undefined && { body }) });
const retry = (id: string): Promise<Answer> => ask('POST', `/jobs/${id}/retry`, { reason: 'it is mended' });
const discard = (id: string): Promise<Answer> => ask('POST', `/jobs/${id}/discard`, { reason: 'nobody needs it' });
const actsOn = async (id: string): Promise<string[]> =>
  ((await ask('GET', `/audit-log?target=${id}`)).data.items as { action: string }[]).map(({ action }) => action);
const jobs = async (query: string): Promise<{ id: string; state: string }[]> =>
  (await ask('GET', `/jobs?${query}`)).data.items as { id: string; state: string }[];

interface Made {
  topic?: string;
  refId?: string;
  state?: string;
  dueInSeconds?: number;
  failures?: number;
  error?: string | null;
  runningForSeconds?: number;
}

async function aJob(made: Made = {}): Promise<string> {
  const { topic = 'settlement.mail', refId = crypto.randomUUID(), state = 'due', dueInSeconds = 0, failures = 3, error = 'away', runningForSeconds } = made;
  const [row] = await sql()<{ id: string }[]>`
    insert into outbox (id, topic, ref_id, state, due_at, failures, last_error, claimed_until)
    values (gen_random_uuid(), ${topic}, ${refId}, ${state}, sluice_now() + make_interval(secs => ${dueInSeconds}), ${failures}, ${error},
      now() + make_interval(secs => ${runningForSeconds ?? null}::float8))
    returning id`;
  return row?.id ?? '';
}

/** A payment with a webhook that waits, and the job that is to deliver it. */
async function aWebhook(): Promise<{ paymentId: string; webhookId: string; jobId: string }> {
  const { paymentUid } = await shop.payment({ timeoutSeconds: 1 });
  await service.wait(2);
  await service.ask('POST', `/api/v1/public/payments/${paymentUid}/expire`);
  const [row] = await sql()<{ webhookId: string; jobId: string }[]>`
    select w.id as "webhookId", o.id as "jobId" from webhook_events w join outbox o on o.ref_id = w.id where w.payment_id = ${paymentUid}`;
  return { paymentId: paymentUid, webhookId: row?.webhookId ?? '', jobId: row?.jobId ?? '' };
}
const webhookState = async (id: string): Promise<unknown> =>
  (await sql()`select state, resend_requested_at is not null as asked from webhook_events where id = ${id}`)[0];

describe('the list of jobs', () => {
  it('tells what each is about, how often it failed and with what, and nothing of what it sends', async () => {
    const { paymentId, webhookId, jobId } = await aWebhook();
    await sql()`update outbox set failures = 4, claims = 9, last_error = 'no key opens it' where id = ${jobId}`;
    const answer = await ask('GET', `/jobs?q=${paymentId}`);
    expect(answer.data.items).toEqual([
      {
        id: jobId,
        topic: 'webhook.deliver',
        refId: webhookId,
        state: 'retrying',
        dueAt: expect.any(String),
        createdAt: expect.any(String),
        claims: 9,
        failures: 4,
        running: false,
        lastError: 'no key opens it',
        gatewayId: shop.id,
        paymentId,
        settlementId: null,
      },
    ]);
    expect(answer.text).not.toContain('8099/hook');
  });

  it('is narrowed to one state', async () => {
    const by = {
      dead: await aJob({ state: 'dead' }),
      retrying: await aJob({ dueInSeconds: 60 }),
      due: await aJob({ error: null }),
      scheduled: await aJob({ error: null, dueInSeconds: 60 }),
    };
    await aJob({ state: 'done' });
    for (const [state, id] of Object.entries(by)) {
      const found = await jobs(`state=${state}&topic=settlement.mail&limit=100`);
      expect(found.map((job) => job.id)).toContain(id);
      expect(new Set(found.map((job) => job.state))).toEqual(new Set([state]));
    }
  });
});

describe('a retry', () => {
  it.each([
    ['that was given up', { state: 'dead', failures: 30 }],
    ['that waits for its next try', { dueInSeconds: 300 }],
  ])('has a job %s run now, once, whoever else asks at the same moment, with one line in the audit log', async (_which, made) => {
    const id = await aJob(made);
    const answers = await Promise.all([1, 2, 3, 4].map(() => retry(id)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409]);
    expect(answers.find(({ status }) => status === 200)?.data.job).toMatchObject({ id, state: 'retrying', failures: 0 });
    expect(await actsOn(id)).toEqual(['job.retry']);
    const [row] = await sql()`select state, due_at <= sluice_now() as due from outbox where id = ${id}`;
    expect(row).toEqual({ state: 'due', due: true });
  });

  it('is followed by a run of the work', async () => {
    const { webhookId, jobId } = await aWebhook();
    await sql()`update outbox set state = 'dead', failures = 30, last_error = 'x' where id = ${jobId}`;
    const runs: string[] = [];
    const run = async (_: unknown, ref: string) => {
      runs.push(ref);
      return { done: true as const };
    };
    const job = { topic: 'webhook.deliver' as const, concurrency: 1, run };
    await runDueJobs(service.worker, [job]);
    expect(runs).not.toContain(webhookId);
    expect((await retry(jobId)).status).toBe(200);
    await runDueJobs(service.worker, [job]);
    expect(runs).toContain(webhookId);
    expect((await retry(jobId)).error).toMatchObject({ code: 'conflict', message: 'It is done already.' });
  });

  it.each([
    ['is running', { runningForSeconds: 60, dueInSeconds: -1 }, 'running'],
    ['is done', { state: 'done' }, 'done already'],
    ['has not failed', { error: null, dueInSeconds: 60 }, 'has not failed'],
    ['is due already', {}, 'due already'],
  ])('is refused for a job that %s, and leaves nothing in the audit log', async (_which, made, words) => {
    const id = await aJob(made);
    const { status, error } = await retry(id);
    expect([status, error?.code]).toEqual([409, 'conflict']);
    expect(error?.message).toContain(words);
    expect(await actsOn(id)).toEqual([]);
  });

  it('is refused where another job does the same', async () => {
    const refId = crypto.randomUUID();
    const [dead, other] = [await aJob({ state: 'dead', refId }), await aJob({ refId, dueInSeconds: 60 })];
    expect((await retry(dead)).error?.message).toContain(other);
  });
});

describe('a retry of all that failed', () => {
  const retryAll = (topic: string): Promise<Answer> => ask('POST', '/jobs/retry', { topic, reason: 'the scanner answers again' });
  const stateOf = async (id: string): Promise<unknown> => (await sql()`select state, failures, due_at <= sluice_now() as due from outbox where id = ${id}`)[0];

  it('has those of one kind run now that were given up or wait for their next try, each work once, and names them in one line of the audit log', async () => {
    const topic = 'deposit.screen';
    const [refId, over] = [crypto.randomUUID(), crypto.randomUUID()];
    const ids = {
      dead: await aJob({ topic, state: 'dead', failures: 30 }),
      retrying: await aJob({ topic, dueInSeconds: 300 }),
      twice: await aJob({ topic, state: 'dead', refId }),
      again: await aJob({ topic, state: 'dead', refId }),
      overtaken: await aJob({ topic, state: 'dead', refId: over }),
      running: await aJob({ topic, dueInSeconds: 300, runningForSeconds: 60 }),
      healthy: await aJob({ topic, dueInSeconds: 300, error: null, failures: 0 }),
      another: await aJob({ state: 'dead' }),
    };
    // It was done by a later job since.
    await sql()`update outbox set created_at = created_at - interval '1 minute' where id in (${ids.overtaken}, ${ids.twice})`;
    await aJob({ topic, state: 'done', refId: over });
    const answers = await Promise.all([retryAll(topic), retryAll(topic)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers.reduce((sum, { data }) => sum + (data.retried as number), 0)).toBe(3);
    for (const id of [ids.dead, ids.retrying, ids.again]) expect(await stateOf(id)).toEqual({ state: 'due', failures: 0, due: true });
    for (const id of [ids.twice, ids.overtaken, ids.another]) expect(await stateOf(id)).toMatchObject({ state: 'dead' });
    for (const id of [ids.running, ids.healthy]) expect(await stateOf(id)).toMatchObject({ due: false });
    const logged = (await ask('GET', `/audit-log?target=${topic}`)).data.items as { details: { jobs: string[] }; reason: string }[];
    expect(logged.flatMap(({ details }) => details.jobs).toSorted()).toEqual([ids.dead, ids.retrying, ids.again].toSorted());
    await sql()`delete from outbox where topic = ${topic}`;
  });

  it('takes no more than 500 at once, those first that have waited the longest, and says that some are left', async () => {
    const topic = 'person.mail';
    await sql()`
      insert into outbox (id, topic, ref_id, state, due_at, failures, last_error)
      select gen_random_uuid(), ${topic}, gen_random_uuid(), 'dead', sluice_now() - make_interval(secs => n), 3, 'away' from generate_series(1, 502) n`;
    expect((await retryAll(topic)).data).toEqual({ topic, retried: 500, more: true });
    expect(await sql()`select extract(epoch from sluice_now() - due_at)::int <= 60 as new from outbox where topic = ${topic} and state = 'dead'`).toEqual([
      { new: true },
      { new: true },
    ]);
    expect((await retryAll(topic)).data).toEqual({ topic, retried: 2, more: false });
    await sql()`delete from outbox where topic = ${topic}`;
  });

  it('takes a kind that there is, and a reason', async () => {
    for (const body of [{ topic: 'everything', reason: 'x' }, { topic: 'settlement.mail' }, { reason: 'x' }])
      expect((await ask('POST', '/jobs/retry', body)).error?.code).toBe('validation_error');
  });
});

describe('a discard', () => {
  it('of a delivery stops its webhook, lets those behind it go, and keeps it from being sent until somebody asks', async () => {
    const { webhookId, jobId, paymentId } = await aWebhook();
    const [{ id: behind }] = await sql()<[{ id: string }]>`
      insert into webhook_events (id, payment_id, gateway_id, status, url, body, next_attempt_at)
      select gen_random_uuid(), payment_id, gateway_id, 'SUCCESS', url, body, sluice_now() from webhook_events where id = ${webhookId} returning id`;
    const waiting = await aJob({ topic: 'webhook.deliver', refId: behind, dueInSeconds: 600, error: null });
    const answers = await Promise.all([1, 2, 3].map(() => discard(jobId)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
    expect(await actsOn(jobId)).toEqual(['job.discard']);
    expect(await webhookState(webhookId)).toEqual({ state: 'stopped', asked: false });
    const [next] = await sql()`select due_at <= sluice_now() as due from outbox where id = ${waiting}`;
    expect(next).toEqual({ due: true });
    expect((await jobs(`q=${paymentId}`)).map(({ id }) => id)).toEqual([waiting]);
    expect((await ask('POST', `/webhooks/${webhookId}/resend`)).status).toBe(202);
    expect(await webhookState(webhookId)).toEqual({ state: 'stopped', asked: true });
    await sql()`delete from webhook_events where id = ${behind}`;
  });

  it('of a resend lets the next one be asked for', async () => {
    const { webhookId } = await aWebhook();
    await ask('POST', `/webhooks/${webhookId}/resend`);
    const [row] = await sql()<{ id: string }[]>`select id from outbox where ref_id = ${webhookId} and topic = 'webhook.resend'`;
    expect((await discard(row?.id ?? '')).status).toBe(200);
    expect(await webhookState(webhookId)).toEqual({ state: 'pending', asked: false });
    await ask('POST', `/webhooks/${webhookId}/resend`);
    expect(await sql()`select 1 from outbox where ref_id = ${webhookId} and topic = 'webhook.resend' and state = 'due'`).toHaveLength(1);
  });

  it.each(TOPICS.filter((topic) => !topic.startsWith('webhook.') && !topic.endsWith('.mail')))(
    'of %s is refused, because money waits for it',
    async (topic) => {
      const id = await aJob({ topic, state: 'dead' });
      const { status, error } = await discard(id);
      expect([status, error?.code]).toEqual([409, 'conflict']);
      expect(error?.message).toContain(topic);
      expect([await actsOn(id), (await jobs(`q=${id}`)).map((job) => job.state)]).toEqual([[], ['dead']]);
    },
  );

  it('is refused while the job runs, once it is done, and without a reason', async () => {
    expect((await discard(await aJob({ runningForSeconds: 60 }))).error?.message).toContain('running');
    expect((await discard(await aJob({ state: 'done' }))).error?.message).toContain('done already');
    const { status, error } = await ask('POST', `/jobs/${await aJob()}/discard`, { reason: ' ' });
    expect([status, error?.message]).toEqual([422, 'reason: is required']);
  });
});
