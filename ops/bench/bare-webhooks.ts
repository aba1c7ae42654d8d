import { Agent, request } from 'node:http';
import postgres from 'postgres';
import { signedHeaders } from '#api/clients/webhook-signature.ts';
import { connect, type Sql } from '#shared/platform/postgres.ts';
import { nowMs } from './monotonic.ts';
import { answerLines } from './tool.ts';

/** A body for one receiver, and what it is signed with. */
export interface BareWebhook {
  id: string;
  url: string;
  body: string;
  secret: string;
}

/** What is asked: to post all of these, so many at a time; to deliver what these rows of the outbox ask for; or from now on to post each that Postgres notifies of. */
export type BareQuestion =
  | { ask: 'post'; webhooks: BareWebhook[]; clients: number }
  | { ask: 'deliver'; url: string; outboxIds: string[]; secrets: Record<string, string>; clients: number }
  | { ask: 'listen'; url: string; channel: string };

/** Loops that deliver side by side, so that one posts while others store. */
const LOOPS = 4;

const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });

async function answer(question: BareQuestion): Promise<object> {
  if (question.ask === 'listen') {
    await postgres(question.url, { max: 1 }).listen(question.channel, (text) => void post(JSON.parse(text) as BareWebhook));
    return {};
  }
  if (question.ask === 'deliver') return deliver(question);
  const began = nowMs();
  const { webhooks } = question;
  let at = 0;
  const client = async (): Promise<void> => {
    while (at < webhooks.length) await post(webhooks[at++] as BareWebhook);
  };
  await Promise.all(Array.from({ length: question.clients }, client));
  return { perSecond: (webhooks.length * 1_000) / (nowMs() - began) };
}

/**
 * The least that a webhook can cost whose start is stored before it is sent, and its result after: the same rows as the service writes, of many webhooks by two statements, with nothing
 * looked at, nothing locked for longer, and every receiver taken for one that answers.
 */
async function deliver({ url, outboxIds, secrets, clients }: BareQuestion & { ask: 'deliver' }): Promise<{ perSecond: number }> {
  // Half of them are for statements without a transaction.
  const database = connect(url, { name: 'sluice-bench-bare', max: 2 * LOOPS });
  const { sql } = database;
  await Promise.all(Array.from({ length: LOOPS }, () => sql`select 1`));
  const began = nowMs();
  let at = 0;
  const loop = async (): Promise<void> => {
    while (at < outboxIds.length) {
      const ids = outboxIds.slice(at, at + clients / LOOPS);
      at += ids.length;
      const begun = await begin(sql, ids);
      await Promise.all(begun.map(({ gatewayId, ...webhook }) => post({ ...webhook, secret: secrets[gatewayId] as string })));
      await end(sql, ids, begun);
    }
  };
  await Promise.all(Array.from({ length: LOOPS }, loop));
  const seconds = (nowMs() - began) / 1_000;
  await database.end();
  return { perSecond: outboxIds.length / seconds };
}

type Begun = Omit<BareWebhook, 'secret'> & { attemptId: string; gatewayId: string };

function begin(sql: Sql, outboxIds: string[]): Promise<Begun[]> {
  return sql<Begun[]>`
    with claimed as (
      update outbox set claims = claims + 1, failures = failures + 1, claimed_until = now() + interval '6 seconds', handed_until = null
      where id = any(${outboxIds}::uuid[]) returning ref_id),
    started as (
      insert into webhook_attempts (id, event_id, number, started_at, signed_seconds)
      select gen_random_uuid(), ref_id, 1, sluice_now(), extract(epoch from now())::bigint from claimed returning id, event_id)
    select started.id as attempt_id, e.id, e.gateway_id, e.url, e.body from started join webhook_events e on e.id = started.event_id`;
}

async function end(sql: Sql, outboxIds: string[], begun: readonly Begun[]): Promise<void> {
  const attemptIds = begun.map(({ attemptId }) => attemptId);
  await sql`
    with ended as (
      update webhook_attempts set finished_at = sluice_now(), result = '2xx', http_status = 200, duration_ms = 1 where id = any(${attemptIds}::uuid[])),
    told as (update webhook_events set state = 'delivered', attempts = 1, delivered_at = sluice_now() where id = any(${begun.map(({ id }) => id)}::uuid[])),
    kept as (
      insert into webhook_answers (attempt_id, gateway_id, number, at, body)
      select ours.*, 1, sluice_now(), '' from unnest(${attemptIds}::uuid[], ${begun.map(({ gatewayId }) => gatewayId)}::uuid[]) as ours)
    update outbox set state = 'done', failures = 0, claimed_until = null where id = any(${outboxIds}::uuid[])`;
}

/** Signs one body as the service does, sends it on a connection that stays open, and stores nothing. */
function post({ id, url, body, secret }: BareWebhook): Promise<void> {
  const headers = signedHeaders({ id, body, secrets: [secret], unixSeconds: Math.floor(Date.now() / 1_000) });
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, method: 'POST', headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) } }, (response) => {
      response.resume().once('end', resolve);
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

answerLines(answer);
