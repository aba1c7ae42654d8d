import { databaseTime } from '#shared/platform/database-clock.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import { currentTraceparent, isTracing, traceparentWithin } from '#shared/platform/tracing.ts';

/** Every kind of work there is. */
export const TOPICS = [
  'webhook.deliver',
  'deposit.screen',
  'webhook.resend',
  'settlement.dispatch',
  'settlement.mail',
  'payout.broadcast',
  'person.mail',
] as const;
export type Topic = (typeof TOPICS)[number];

/** One piece of work, as the worker that holds its lease sees it. */
export interface OutboxLease {
  id: string;
  topic: string;
  refId: string;
  /** Fencing number of this run. */
  claims: number;
  /** Starts since the last one that ended well, this one included. */
  failures: number;
  traceContext: string | null;
}

/** A row that is due. */
export interface DueWork {
  id: string;
  topic: Topic;
}

/** What transactions added, and whether they also made due what they did not add. */
const touched = new WeakMap<Tx, { added: DueWork[]; others: boolean }>();

function touch(tx: Tx): { added: DueWork[]; others: boolean } {
  const known = touched.get(tx) ?? { added: [], others: false };
  touched.set(tx, known);
  return known;
}

/** Whether this transaction added work or made some due, for a caller that cannot know: it calls `deps.wake()` after the commit then. */
export function mayHaveWork(tx: Tx): boolean {
  return touched.has(tx);
}

/** All that this transaction made due, for `deps.wake`; empty where that cannot be told. */
export function workOf(tx: Tx): readonly DueWork[] {
  const { added, others } = touch(tx);
  return others ? [] : added;
}

/**
 * Adds work to the outbox in the transaction of the effect that caused it, with the trace of what it is about, or else the
 * current one. Without `dueAt` it is due at once.
 * Call `deps.wake()` after the commit; forgetting it, or dying before it, costs at most the time until relays look by themselves, 10 s.
 */
export async function insertOutbox(tx: Tx, ...rows: { id: string; topic: Topic; refId: string; dueAt?: Date }[]): Promise<void> {
  const traces: (string | undefined)[] = [];
  for (const { topic, refId } of rows) traces.push(traceparentWithin(await traceOfWork(tx, topic, refId)));
  for (const { id, topic, dueAt } of rows) if (dueAt === undefined) touch(tx).added.push({ id, topic });
  touch(tx).others ||= rows.some(({ dueAt }) => dueAt !== undefined);
  await tx`
    insert into outbox (id, topic, ref_id, due_at, trace_context)
    select id, topic, ref_id, coalesce(due_at, sluice_now()), trace_context from unnest(
      ${rows.map(({ id }) => id)}::uuid[], ${rows.map(({ topic }) => topic)}::text[], ${rows.map(({ refId }) => refId)}::uuid[],
      ${rows.map(({ dueAt }) => dueAt?.toISOString() ?? null)}::text[]::timestamptz[], ${traces.map((trace) => trace ?? null)}::text[]
    ) as given (id, topic, ref_id, due_at, trace_context)`;
}

/** The same for the webhooks of many payments at once, of those that there are. */
export async function insertWebhookOutbox(tx: Tx, rows: readonly { id: string; eventId: string }[]): Promise<void> {
  for (const { id } of rows) touch(tx).added.push({ id, topic: 'webhook.deliver' });
  const current = currentTraceparent() ?? null;
  await tx`
    insert into outbox (id, topic, ref_id, due_at, trace_context)
    select ours.id, 'webhook.deliver', ours.event_id, sluice_now(),
      case when t.trace_context is null or split_part(t.trace_context, '-', 2) = split_part(${current}, '-', 2) then ${current} else t.trace_context end
    from unnest(${rows.map((row) => row.id)}::uuid[], ${rows.map((row) => row.eventId)}::uuid[]) as ours (id, event_id)
    join webhook_events e on e.id = ours.event_id left join trace_contexts t on t.subject_id = e.payment_id`;
}

/** The trace that a piece of work belongs to, by what it is about; null when that was not traced. Locks nothing. */
async function traceOfWork(sql: Reads, topic: Topic, refId: string): Promise<string | null> {
  if (!isTracing()) return null;
  const [row] = await sql<{ trace: string | null }[]>`select (${owner(sql, topic, refId)}) as trace`;
  return row?.trace ?? null;
}

function owner(sql: Reads, topic: Topic, refId: string) {
  switch (topic) {
    case 'webhook.deliver':
    case 'webhook.resend':
      return sql`select t.trace_context from webhook_events e join trace_contexts t on t.subject_id = e.payment_id where e.id = ${refId}`;
    case 'deposit.screen':
      return sql`select t.trace_context from credits c join trace_contexts t on t.subject_id = c.payment_id where c.id = ${refId}`;
    case 'settlement.dispatch':
    case 'settlement.mail':
    case 'person.mail':
      return sql`select t.trace_context from trace_contexts t where t.subject_id = ${refId}`;
    case 'payout.broadcast':
      return sql`select t.trace_context from payout_attempts a join trace_contexts t on t.subject_id = a.payout_id where a.id = ${refId}`;
  }
}

/** What was handed over, and how long there is nothing else to hand over, as far as is known: null until somebody adds or changes a row. */
export interface HandedOver {
  /** With how often each was begun before. */
  rows: { id: string; topic: Topic; claims: number }[];
  nextInMs: number | null;
  /** Wall time of the database, Unix milliseconds; null where nothing was asked. */
  atMs: number | null;
}

/** Due rows looked at for one whose worker may have died; there are more of them only while everybody is busy. */
const BUSY_ROWS = 100;

/**
 * Marks due rows as handed to a worker for as many seconds as their topic's room says, of each topic at most as many as it has room for, oldest due
 * first, so that no topic waits for another's rows. Chosen by state and due time, never by a moving id, and with `skip locked`, so any number of relays may call
 * it at once and a slow transaction is never overtaken for good. The same statement finds out when the next row becomes due, or can be taken
 * from a worker that did not start it or died of it.
 */
export async function handOver(sql: Reads, rooms: readonly { topic: string; room: number; seconds: number }[]): Promise<HandedOver> {
  if (rooms.length === 0) return { rows: [], nextInMs: null, atMs: null };
  const [row] = await sql<[HandedOver]>`
    with asked as (
      select topic::text, room::int, seconds::float8
      from (values ${sql(rooms.map(({ topic, room, seconds }) => [topic, String(room), String(seconds)]))}) as a (topic, room, seconds)),
    picked as materialized (
      select due.id, a.seconds from asked a cross join lateral (
        select id from outbox
        where topic = a.topic and state = 'due' and due_at <= sluice_now()
          and (handed_until is null or handed_until < now()) and (claimed_until is null or claimed_until < now())
        order by due_at limit a.room for update skip locked) due),
    taken as (
      update outbox o set handed_until = now() + make_interval(secs => picked.seconds) from picked where o.id = picked.id
      returning o.id, o.topic, o.claims, picked.seconds),
    coming as (
      select (select o.due_at - sluice_now() from outbox o where o.topic = a.topic and o.state = 'due' and o.due_at > sluice_now() order by o.due_at limit 1) as pause
      from asked a
      union all
      select busy.until - now() from asked a cross join lateral (
        select greatest(handed_until, claimed_until) as until from outbox where topic = a.topic and state = 'due' and due_at <= sluice_now()
        order by due_at limit ${BUSY_ROWS}) busy
      where busy.until > now()
      union all
      select make_interval(secs => seconds) from taken)
    select coalesce((select json_agg(json_build_object('id', id, 'topic', topic, 'claims', claims)) from taken), '[]') as rows,
      (select ceil(extract(epoch from min(pause)) * 1000)::float8 from coming) as "nextInMs", ${databaseTime(sql)} as "atMs"`;
  return row;
}

/** The same for one topic; returns the ids. */
export async function handOverDue(sql: Reads, topic: string, limit: number, seconds: number): Promise<string[]> {
  return (await handOver(sql, [{ topic, room: limit, seconds }])).rows.map(({ id }) => id);
}

/**
 * Claims due rows, each of a topic, for `seconds` of wall time. Left out is what is done, not due yet, running elsewhere or of another topic, so
 * a job delivered twice by Redis runs once, and one that somebody made up closes no row whose work it does not do. Locks them in the order of their ids, those
 * that somebody else has locked only where it may `wait`, and finds them by nothing else: however many are due, only these are read.
 */
export async function leaseOutbox(
  sql: Reads,
  rows: readonly { id: string; topic: Topic }[],
  { seconds, wait }: { seconds: number; wait: boolean },
): Promise<OutboxLease[]> {
  return sql<OutboxLease[]>`
    with asked as (select * from unnest(${rows.map(({ id }) => id)}::uuid[], ${rows.map(({ topic }) => topic)}::text[]) as a (id, topic) order by a.id),
    free as materialized (
      select o.id from asked a
      cross join lateral (select id, topic, state, due_at, claimed_until from outbox where id = a.id for update ${wait ? sql`` : sql`skip locked`}) o
      where o.topic = a.topic and o.state = 'due' and o.due_at <= sluice_now() and (o.claimed_until is null or o.claimed_until < now()))
    update outbox o set claims = claims + 1, failures = failures + 1, claimed_until = now() + make_interval(secs => ${seconds}), handed_until = null
    from free where o.id = free.id
    returning o.id, o.topic, o.ref_id, o.claims, o.failures, o.trace_context`;
}

/** Renews the lease of a running row for `seconds` more of wall time. Does nothing when the lease was lost to a later run. */
export async function renewOutboxLease(sql: Reads, lease: OutboxLease, seconds: number): Promise<void> {
  await sql`update outbox set claimed_until = now() + make_interval(secs => ${seconds}) where id = ${lease.id} and claims = ${lease.claims} and claimed_until is not null`;
}

/** Closes rows whose jobs have nothing left to do, and puts back those whose job said until when. Does nothing about one whose lease was lost to a later run. */
export async function endOutbox(sql: Reads, given: readonly { lease: OutboxLease; again: Date | null }[]): Promise<void> {
  // In the order in which others lock rows.
  const ends = given.toSorted((a, b) => (a.lease.id < b.lease.id ? -1 : 1));
  await sql`
    update outbox o set state = case when ours.again is null then 'done' else 'due' end, due_at = coalesce(ours.again, o.due_at), failures = 0,
      claimed_until = null, handed_until = null, last_error = null
    from unnest(${ends.map(({ lease }) => lease.id)}::uuid[], ${ends.map(({ lease }) => lease.claims)}::int[],
      ${ends.map(({ again }) => again?.toISOString() ?? null)}::timestamptz[]) as ours (id, claims, again)
    where o.id = ours.id and o.claims = ours.claims`;
}

/** Puts a row back after a failed run: due again in `seconds`, or dead when null. Does nothing when the lease was lost. */
export async function failOutbox(sql: Reads, lease: OutboxLease, seconds: number | null, error: string): Promise<void> {
  await sql`
    update outbox set state = ${seconds === null ? 'dead' : 'due'}, due_at = sluice_now() + make_interval(secs => ${seconds ?? 0}),
      claimed_until = null, handed_until = null, last_error = ${error.slice(0, 500).replaceAll('\u0000', '')}
    where id = ${lease.id} and claims = ${lease.claims}`;
}

/** Makes waiting rows of a topic due at once for the given references; for work that waited on an earlier one. */
export async function hastenOutbox(tx: Tx, topic: Topic, refIds: string[]): Promise<void> {
  touch(tx).others = true;
  await tx`update outbox set due_at = sluice_now() where topic = ${topic} and ref_id = any(${refIds}::uuid[]) and state = 'due' and due_at > sluice_now()`;
}

/** Puts what is due for one reference off for `seconds`, unless a worker has it in hand; for work that was just found to have to wait. */
export async function deferOutbox(sql: Reads, topic: Topic, refId: string, seconds: number): Promise<void> {
  await sql`
    update outbox set due_at = sluice_now() + make_interval(secs => ${seconds}), handed_until = null
    where topic = ${topic} and ref_id = ${refId} and state = 'due' and due_at <= sluice_now() and (claimed_until is null or claimed_until < now())`;
}

/** Gives rows of one reference that were given up another life; for somebody who has mended what made them fail. */
export async function reviveOutbox(tx: Tx, refId: string): Promise<void> {
  await tx`update outbox set state = 'due', due_at = sluice_now(), failures = 0 where ref_id = ${refId} and state = 'dead'`;
}

/** One piece of work, as an operator who decides about it meets it. */
export interface OutboxRow {
  id: string;
  topic: Topic;
  refId: string;
  state: 'due' | 'done' | 'dead';
  dueAt: Date;
  failures: number;
  lastError: string | null;
  /** A worker has it in hand. */
  running: boolean;
  /** It is not due yet. */
  waits: boolean;
}

/** Reads one row; locks nothing. */
export async function findOutbox(sql: Reads, id: string): Promise<OutboxRow | undefined> {
  const [row] = await sql<OutboxRow[]>`select ${rowColumns(sql)} from outbox where id = ${id}`;
  return row;
}

/** Reads one row and locks it until commit, so that no worker begins it; the last lock of its transaction, behind the row it works on. */
export async function lockOutbox(tx: Tx, id: string): Promise<OutboxRow | undefined> {
  const [row] = await tx<OutboxRow[]>`select ${rowColumns(tx)} from outbox where id = ${id} for update`;
  return row;
}

/** The other row, if any, that the same work will be done by; locks nothing. */
export async function findSameWork(sql: Reads, { id, topic, refId }: Pick<OutboxRow, 'id' | 'topic' | 'refId'>): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`select id from outbox where ref_id = ${refId} and topic = ${topic} and state = 'due' and id <> ${id} limit 1`;
  return row?.id;
}

/** Makes a row due now, with as many failures before it as a new one has; the caller holds its lock. */
export async function retryOutbox(tx: Tx, id: string): Promise<void> {
  touch(tx).others = true;
  await tx`update outbox set state = 'due', due_at = sluice_now(), failures = 0 where id = ${id}`;
}

/**
 * The same for up to `limit` rows of a topic that failed: those that were given up, then those that wait for their next try, the longest due first; returns their ids. One that
 * a worker has in hand, or that somebody else decides about, is left alone. Reads outbox_dead and outbox_due.
 */
export async function retryFailedOutbox(tx: Tx, topic: Topic, limit: number): Promise<string[]> {
  touch(tx).others = true;
  const taken: string[] = [];
  for (const which of [givenUp(tx), waitsAgain(tx)]) {
    const rows = await tx<{ id: string }[]>`
      update outbox set state = 'due', due_at = sluice_now(), failures = 0
      where id in (
        select o.id from outbox o where o.topic = ${topic} and ${which} order by o.due_at, o.id limit ${limit - taken.length} for update of o skip locked)
      returning id`;
    taken.push(...rows.map(({ id }) => id));
  }
  return taken;
}

/** Failed rows that a count looks at, of either way to fail: there are more only while nothing works. */
const FAILED_LOOKED = 5_000;

/** How many rows of each topic that would take, as far as they are looked at; topics without any are left out. Reads outbox_dead and outbox_retrying; locks nothing. */
export async function countFailedOutbox(sql: Reads): Promise<{ topic: Topic; failed: number }[]> {
  return sql<{ topic: Topic; failed: number }[]>`
    select o.topic, count(*)::int as failed from (
      (select o.topic from outbox o where ${givenUp(sql)} order by o.due_at, o.id limit ${FAILED_LOOKED})
      union all (select o.topic from outbox o where ${waitsAgain(sql)} order by o.due_at, o.id limit ${FAILED_LOOKED})) o
    group by o.topic order by o.topic`;
}

/** Whether there are any of one topic. Locks nothing. */
export async function hasFailedOutbox(sql: Reads, topic: Topic): Promise<boolean> {
  const [row] = await sql<[{ some: boolean }]>`
    select exists (select 1 from outbox o where o.topic = ${topic} and ${givenUp(sql)}) or exists (select 1 from outbox o where o.topic = ${topic} and ${waitsAgain(sql)}) as some`;
  return row.some;
}

/** Given up, and nothing else does it, did it since, or was given up since. */
function givenUp(sql: Reads) {
  return sql`
    (o.state = 'dead' and not exists (
      select 1 from outbox s where s.ref_id = o.ref_id and s.topic = o.topic and s.id <> o.id and (s.state = 'due' or (s.created_at, s.id) > (o.created_at, o.id))))`;
}

/** Failed, and waits for its next try. */
function waitsAgain(sql: Reads) {
  return sql`
    o.state = 'due' and o.last_error is not null and o.failures > 0 and o.due_at > sluice_now() and (o.claimed_until is null or o.claimed_until < now())`;
}

/** Closes a row that nobody shall run; the caller holds its lock. */
export async function discardOutbox(tx: Tx, id: string): Promise<void> {
  await tx`update outbox set state = 'done', due_at = sluice_now() where id = ${id}`;
}

function rowColumns(sql: Reads) {
  return sql`id, topic, ref_id, state, due_at, failures, last_error, coalesce(claimed_until > now(), false) as running, due_at > sluice_now() as waits`;
}

/**
 * Deletes up to `limit` rows that were given up so many `days` of service time ago and whose work another row has done since, or was given up with; returns how many. To be done
 * before that other row is deleted: then nobody could tell any more.
 */
export async function deleteOvertakenOutbox(sql: Reads, days: number, limit: number): Promise<number> {
  const rows = await sql`
    delete from outbox where id in (
      select o.id from outbox o where o.state = 'dead' and o.due_at < sluice_now() - make_interval(days => ${days}) and not ${givenUp(sql)}
      order by o.due_at limit ${limit} for update of o skip locked)
    returning 1`;
  return rows.length;
}

/** Deletes up to `limit` rows that have had nothing left to do for `days` of service time; returns how many. */
export async function deleteDoneOutbox(sql: Reads, days: number, limit: number): Promise<number> {
  const rows = await sql`
    delete from outbox where id in (
      select id from outbox where state = 'done' and due_at < sluice_now() - make_interval(days => ${days}) order by due_at limit ${limit} for update skip locked)
    returning 1`;
  return rows.length;
}

export interface OutboxCount {
  topic: string;
  /** `due` now, `running` under a lease, `scheduled` for later, or `dead`: given up, and nothing else does it or did it since. */
  waiting: 'due' | 'running' | 'scheduled' | 'dead';
  count: number;
  /** Seconds since the one that has been due longest was due; negative when none is due yet. */
  oldestDueAgeSeconds: number;
}

/** Counts open rows by topic and what they wait for; locks nothing. */
export async function countOutbox(sql: Reads): Promise<OutboxCount[]> {
  return sql<OutboxCount[]>`
    select topic, waiting, count(*) as count, extract(epoch from sluice_now() - min(due_at))::float8 as "oldestDueAgeSeconds"
    from (
      select topic, due_at, case
        when state = 'dead' then 'dead' when claimed_until > now() then 'running' when due_at <= sluice_now() then 'due' else 'scheduled' end as waiting
      from outbox o where state = 'due' or ${givenUp(sql)}) open
    group by topic, waiting order by topic, waiting`;
}
