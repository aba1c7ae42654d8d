import type { Reads, Tx } from '#shared/platform/postgres.ts';
import { type SealedSecret, usableWebhookSecrets } from './gateways.ts';

export interface WebhookEvent {
  id: string;
  paymentId: string;
  gatewayId: string;
  seq: number;
  status: string;
  url: string;
  body: string;
  state: 'pending' | 'delivered' | 'exhausted' | 'stopped';
  /** Finished attempts of the schedule. */
  attempts: number;
  nextAttemptAt: Date;
  createdAt: Date;
  /** When a 2xx first came back. */
  deliveredAt: Date | null;
  /** When a resend was asked for that has not started yet. */
  resendRequestedAt: Date | null;
}

/** Writes webhooks of different payments, but none for a payment that has already announced this status. Call it while the payments are locked. */
export async function insertWebhookEvents(
  tx: Tx,
  rows: readonly { id: string; paymentId: string; gatewayId: string; status: string; url: string; body: string }[],
): Promise<void> {
  const column = (name: keyof (typeof rows)[number]): string[] => rows.map((row) => row[name]);
  await tx`
    insert into webhook_events (id, payment_id, gateway_id, status, url, body, next_attempt_at)
    select ours.*, sluice_now() from unnest(${column('id')}::uuid[], ${column('paymentId')}::uuid[], ${column('gatewayId')}::uuid[],
      ${column('status')}::text[], ${column('url')}::text[], ${column('body')}::text[]) as ours
    on conflict (payment_id, status) do nothing`;
}

/** Reads one webhook and locks it until commit; undefined when there is none. `now` is the service time. */
export async function lockWebhookEvent(tx: Tx, id: string): Promise<(WebhookEvent & { now: Date }) | undefined> {
  const [row] = await tx<(WebhookEvent & { now: Date })[]>`select ${columns(tx)}, sluice_now() as now from webhook_events where id = ${id} for update`;
  return row;
}

/** Locks until commit, against whoever ends it, the last webhook of the same payment that is to be delivered before this one; false when there is none any more. */
export async function lockAhead(tx: Tx, { paymentId, seq }: Pick<WebhookEvent, 'paymentId' | 'seq'>): Promise<boolean> {
  const rows = await tx`
    select 1 from webhook_events where payment_id = ${paymentId} and state = 'pending' and seq < ${seq} order by seq desc limit 1 for share`;
  return rows.length > 0;
}

/** Reads every webhook of a payment in order and locks them until commit. */
export async function lockWebhookEvents(tx: Tx, paymentId: string): Promise<WebhookEvent[]> {
  return tx<WebhookEvent[]>`select ${columns(tx)} from webhook_events where payment_id = ${paymentId} order by seq for update`;
}

/** A webhook whose turn may have come. */
export interface WebhookTurn extends WebhookEvent {
  /** Service time. */
  now: Date;
  /** One before it in the payment's order is not through yet. */
  isBehind: boolean;
  /** Since when it has been due; null where it is not, or failed for a reason of ours. It was put off until then because something of its own was in its way. */
  dueSince: Date | null;
  /** What its gateway signs with, the current one first. */
  secrets: readonly SealedSecret[];
}

/** Reads the webhooks that rows of the outbox are about, by the rows' ids. Locks nothing. */
export async function readTurnsOfWork(sql: Reads, outboxIds: readonly string[]): Promise<Map<string, WebhookTurn>> {
  const rows = await sql<(Omit<WebhookTurn, 'secrets'> & { by: string; secrets: { id: string; sealed: string }[] })[]>`
    select asked.by, ${columns(sql)}, sluice_now() as now, ${usableWebhookSecrets(sql, sql`e.gateway_id`)} as secrets, exists (
      select 1 from webhook_events a where a.payment_id = e.payment_id and a.state = 'pending' and a.seq < e.seq) as is_behind, asked.due_since
    from (
      select o.id as by, o.ref_id, case when o.topic = 'webhook.deliver' and o.state = 'due' and o.last_error is null then o.due_at end as due_since
      from outbox o where o.id = any(${[...outboxIds]}::uuid[])) as asked
    join webhook_events e on e.id = asked.ref_id`;
  return new Map(
    rows.map(({ by, secrets, ...turn }) => [by, { ...turn, secrets: secrets.map(({ id, sealed }) => ({ id, sealed: Buffer.from(sealed, 'base64') })) }]),
  );
}

/**
 * Payments of a gateway whose newest webhook is in this state with no resend asked for, the oldest first. Reads `webhook_events_undelivered`; locks nothing.
 */
export async function listUndelivered(sql: Reads, { gatewayId, state, limit }: { gatewayId: string; state: string; limit: number }): Promise<string[]> {
  const rows = await sql<{ paymentId: string }[]>`
    select e.payment_id from webhook_events e
    where e.gateway_id = ${gatewayId} and e.state = ${state} and e.state in ('exhausted', 'stopped') and e.resend_requested_at is null
      and not exists (select 1 from webhook_events newer where newer.payment_id = e.payment_id and newer.seq > e.seq)
    order by e.created_at, e.id limit ${limit}`;
  return rows.map(({ paymentId }) => paymentId);
}

/** What an attempt made of a webhook. */
export interface WebhookChange {
  id: string;
  state: WebhookEvent['state'];
  attempts: number;
  nextAttemptAt: Date;
  deliveredAt: Date | null;
}

/** Writes what attempts made of webhooks, which the caller has locked. */
export async function updateWebhookEvents(tx: Tx, changes: readonly WebhookChange[]): Promise<void> {
  await tx`
    update webhook_events e set state = ours.state, attempts = ours.attempts, next_attempt_at = ours.next_attempt_at, delivered_at = ours.delivered_at
    from unnest(${changes.map(({ id }) => id)}::uuid[], ${changes.map(({ state }) => state)}::text[], ${changes.map(({ attempts }) => attempts)}::int[],
      ${changes.map(({ nextAttemptAt }) => nextAttemptAt.toISOString())}::timestamptz[],
      ${changes.map(({ deliveredAt }) => deliveredAt?.toISOString() ?? null)}::timestamptz[]) as ours (id, state, attempts, next_attempt_at, delivered_at)
    where e.id = ours.id`;
}

/** Ends the schedule of a pending webhook without another attempt; it can still be sent again. Call it while the webhook is locked. */
export async function stopWebhook(tx: Tx, id: string): Promise<void> {
  await tx`update webhook_events set state = 'stopped' where id = ${id} and state = 'pending'`;
}

/**
 * Ids of webhooks that wait for one of these to be through: the next pending one of its payment, which those behind it wait for from then on, and those between them that
 * a resend was asked for.
 */
export async function waitingBehind(tx: Tx, events: readonly { paymentId: string; seq: number }[]): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    select e.id from unnest(${events.map(({ paymentId }) => paymentId)}::uuid[], ${events.map(({ seq }) => seq)}::bigint[]) as ahead (payment_id, seq)
    left join lateral (
      select n.seq from webhook_events n where n.payment_id = ahead.payment_id and n.seq > ahead.seq and n.state = 'pending' order by n.seq limit 1) next on true
    join webhook_events e on e.payment_id = ahead.payment_id and e.seq > ahead.seq and (next.seq is null or e.seq <= next.seq)
    where e.state = 'pending' or e.resend_requested_at is not null order by e.payment_id, e.seq`;
  return rows.map((row) => row.id);
}

/**
 * Notes that a resend was asked for and returns the service time it may be sent at, which is `spacingSeconds` after the
 * last one started; undefined when one is already waiting. Call it while the webhook is locked.
 */
export async function askForResend(tx: Tx, id: string, spacingSeconds: number): Promise<Date | undefined> {
  const [row] = await tx<{ dueAt: Date }[]>`
    update webhook_events set resend_requested_at = sluice_now() where id = ${id} and resend_requested_at is null
    returning greatest(
      sluice_now(),
      (select max(started_at) from webhook_attempts a where a.event_id = webhook_events.id and a.manual) + make_interval(secs => ${spacingSeconds})) as "dueAt"`;
  return row?.dueAt;
}

/** Notes that the resend asked for has started, so that another one may be asked for. */
export async function noteResendStarted(tx: Tx, id: string): Promise<void> {
  await tx`update webhook_events set resend_requested_at = null where id = ${id}`;
}

/** Every webhook of a payment, in order. */
export async function listWebhookEvents(sql: Reads, paymentId: string): Promise<WebhookEvent[]> {
  return sql<WebhookEvent[]>`select ${columns(sql)} from webhook_events where payment_id = ${paymentId} order by seq`;
}

function columns(sql: Reads) {
  return sql`id, payment_id, gateway_id, seq, status, url, body, state, attempts, next_attempt_at,
    created_at, delivered_at, resend_requested_at`;
}

export interface WebhookAttempt {
  id: string;
  eventId: string;
  status: string;
  number: number;
  startedAt: Date;
  finishedAt: Date | null;
  result: string | null;
  httpStatus: number | null;
  durationMs: number | null;
  /** A resend, which the schedule does not count. */
  manual: boolean;
  /** The timestamp it was signed with, Unix seconds; null where that was not kept. */
  signedSeconds: number | null;
  /** How its answer began, where that is kept. */
  answer: AttemptAnswer | null;
}

/** The beginning of an answer: printable text, bounded. */
export interface AttemptAnswer {
  body: string;
  contentType: string | null;
  retryAfter: string | null;
}

/** An attempt of the schedule that starts. */
export interface StartedAttempt {
  id: string;
  eventId: string;
  number: number;
  signedSeconds: number;
}

/** Records that attempts of the schedule start now; one that is never finished (a crash) stays as it is and does not count. */
export async function startWebhookAttempts(sql: Reads, rows: readonly StartedAttempt[]): Promise<void> {
  await sql`
    insert into webhook_attempts (id, event_id, number, started_at, signed_seconds)
    select ours.id, ours.event_id, ours.number, sluice_now(), ours.signed_seconds
    from unnest(${rows.map(({ id }) => id)}::uuid[], ${rows.map(({ eventId }) => eventId)}::uuid[], ${rows.map(({ number }) => number)}::int[],
      ${rows.map(({ signedSeconds }) => signedSeconds)}::bigint[]) as ours (id, event_id, number, signed_seconds)`;
}

/** Records that a resend starts now, numbered after those before it. Call it while the webhook is locked. */
export async function startWebhookResend(tx: Tx, row: { id: string; eventId: string; signedSeconds: number }): Promise<void> {
  await tx`
    insert into webhook_attempts (id, event_id, number, started_at, manual, signed_seconds)
    select ${row.id}, ${row.eventId}, count(*) + 1, sluice_now(), true, ${row.signedSeconds}::bigint from webhook_attempts where event_id = ${row.eventId} and manual`;
}

/** How an attempt ended. */
export interface EndedAttempt {
  id: string;
  eventId: string;
  result: string;
  httpStatus: number | null;
  durationMs: number;
}

/** A webhook that is locked, with the attempt that ended: null where it is not there. */
export type LockedAttempt = WebhookEvent & { startedAt: Date | null; finishedAt: Date | null };

/**
 * Records how attempts ended, each of another webhook, and returns those webhooks with the attempts' start and end, service time. Locks the webhooks until commit, in the
 * order of their ids; those that somebody else has locked are left out, with their attempts, unless it is to `wait`.
 */
export async function finishWebhookAttempts(tx: Tx, rows: readonly EndedAttempt[], { wait }: { wait: boolean }): Promise<LockedAttempt[]> {
  return tx<LockedAttempt[]>`
    with ours as (
      select * from unnest(${rows.map(({ id }) => id)}::uuid[], ${rows.map(({ eventId }) => eventId)}::uuid[], ${rows.map(({ result }) => result)}::text[],
        ${rows.map(({ httpStatus }) => httpStatus)}::int[], ${rows.map(({ durationMs }) => durationMs)}::int[])
        as o (attempt_id, event_id, result, http_status, duration_ms)),
    locked as materialized (
      select ${columns(tx)} from webhook_events where id in (select event_id from ours) order by id for update ${wait ? tx`` : tx`skip locked`}),
    ended as (
      update webhook_attempts a set finished_at = sluice_now(), result = ours.result, http_status = ours.http_status, duration_ms = ours.duration_ms
      from ours join locked on locked.id = ours.event_id where a.id = ours.attempt_id
      returning a.event_id, a.started_at, a.finished_at)
    select locked.*, ended.started_at, ended.finished_at from locked left join ended on ended.event_id = locked.id`;
}

/** Keeps how the answers to attempts began, and forgets the oldest of each gateway beyond the newest `most`. Locks those. */
export async function keepWebhookAnswers(
  tx: Tx,
  rows: readonly { attemptId: string; gatewayId: string; answer: AttemptAnswer }[],
  most: number,
): Promise<void> {
  await tx`
    with ours as (
      select *, row_number() over (partition by gateway_id) as place
      from unnest(${rows.map(({ attemptId }) => attemptId)}::uuid[], ${rows.map(({ gatewayId }) => gatewayId)}::uuid[], ${rows.map(({ answer }) => answer.body)}::text[],
        ${rows.map(({ answer }) => answer.contentType)}::text[], ${rows.map(({ answer }) => answer.retryAfter)}::text[])
        as o (attempt_id, gateway_id, body, content_type, retry_after)),
    last as (
      select of.gateway_id, of.count, coalesce((select max(w.number) from webhook_answers w where w.gateway_id = of.gateway_id), 0) as number
      from (select gateway_id, count(*) as count from ours group by gateway_id) of),
    gone as (
      delete from webhook_answers w using last where w.gateway_id = last.gateway_id and w.number <= last.number + last.count - ${most}::bigint)
    insert into webhook_answers (attempt_id, gateway_id, number, at, body, content_type, retry_after)
    select ours.attempt_id, ours.gateway_id, last.number + ours.place, sluice_now(), ours.body, ours.content_type, ours.retry_after
    from ours join last on last.gateway_id = ours.gateway_id`;
}

/** Forgets answers that are older than `days`, at most `limit`; returns how many. */
export async function deleteOldWebhookAnswers(sql: Reads, { days, limit }: { days: number; limit: number }): Promise<number> {
  const rows = await sql`
    delete from webhook_answers where attempt_id in (
      select attempt_id from webhook_answers where at <= sluice_now() - make_interval(days => ${days}) order by at limit ${limit})
    returning 1`;
  return rows.length;
}

/** Most attempts of one webhook that are listed; a merchant who resends all day must not make a read slow. */
const LISTED = 100;

/** The attempts of every webhook of a payment, oldest first, with the status each announced; of each webhook the newest 100. */
export async function listWebhookAttempts(sql: Reads, paymentId: string): Promise<WebhookAttempt[]> {
  const rows = await sql<(Omit<WebhookAttempt, 'answer'> & Omit<AttemptAnswer, 'body'> & { answerBody: string | null })[]>`
    select listed.id, event_id, status, listed.number, started_at, finished_at, result, http_status, duration_ms, manual, signed_seconds, k.body as "answerBody", k.content_type, k.retry_after
    from (
      select a.id, a.event_id, e.status, a.number, a.started_at, a.finished_at, a.result, a.http_status, a.duration_ms, a.manual, a.signed_seconds, row_number() over (partition by a.event_id order by a.started_at desc) as place
      from webhook_attempts a join webhook_events e on e.id = a.event_id where e.payment_id = ${paymentId}) listed
    left join lateral (select * from webhook_answers x where x.attempt_id = listed.id offset 0) k on true
    where place <= ${LISTED} order by started_at, listed.number`;
  return rows.map(({ answerBody, contentType, retryAfter, ...row }) => ({
    ...row,
    answer: answerBody === null ? null : { body: answerBody, contentType, retryAfter },
  }));
}
