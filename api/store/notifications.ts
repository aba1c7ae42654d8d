import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** What people may be mailed about a gateway. */
export const NOTIFICATION_KINDS = ['approval', 'parked', 'rejected', 'held', 'webhook', 'credits'] as const;
export type NotificationKind = (typeof NOTIFICATION_KINDS)[number];
/** What people are mailed: what they chose by kind, and what became of the files that they want each month. */
export const NOTE_KINDS = [...NOTIFICATION_KINDS, 'export', 'export-failed'] as const;
export type NoteKind = (typeof NOTE_KINDS)[number];

/** What a person wants to be told of one gateway. */
export interface NotificationChoice {
  gatewayId: string;
  kind: NotificationKind;
}

/** What a person chose, of all gateways; by the key. Locks nothing. */
export async function listChoices(sql: Reads, personId: string): Promise<NotificationChoice[]> {
  return sql<NotificationChoice[]>`select gateway_id, kind from notification_choices where person_id = ${personId} order by gateway_id, kind`;
}

/** Replaces what a person chose of one gateway; what stays chosen stays since when it was. Locks those rows. */
export async function replaceChoices(tx: Tx, personId: string, gatewayId: string, kinds: readonly NotificationKind[]): Promise<void> {
  await tx`delete from notification_choices where person_id = ${personId} and gateway_id = ${gatewayId} and kind <> all(${[...kinds]})`;
  await tx`
    insert into notification_choices (person_id, gateway_id, kind)
    select ${personId}, ${gatewayId}, kind from unnest(${[...kinds]}::text[]) as kind on conflict do nothing`;
}

/** Forgets what people chose at gateways that they left: they hear nothing of them, and keep nobody else from being told. Locks what it deletes. Returns how much that was. */
export async function endChoices(tx: Tx): Promise<number> {
  const rows = await tx`
    delete from notification_choices c where not exists (
      select 1 from memberships m where m.person_id = c.person_id and m.gateway_id = c.gateway_id and m.ended_at is null) returning 1`;
  return rows.length;
}

/** How far behind the last look histories are read again: a row with a lower id can be committed after one with a higher. */
const OVERLAP = 1_000;
/** Rows of a history that one look goes through. */
const AT_ONCE = 10_000;
/** Longer than any schedule of webhooks. */
const WEBHOOK_DAYS = 9;

/** What bounds a look: as many notes as one person has waiting of a gateway, and is noted at once, whatever happens there: what waits of one takes no place of another's. */
export interface NotingLimits {
  notesOfPerson: number;
}

/**
 * Whether anybody may have to be told of anything, or a mark is so far behind that a look would not reach the end of its history; a condition. A mark that
 * is not moved tells nobody of what was before they chose.
 */
export function isAnybodyToTell(sql: Reads): ReturnType<Reads> {
  const behind = (name: string, history: ReturnType<Reads>) =>
    sql`exists (select 1 from (${history}) h where h.id > (select place from notification_marks where name = ${name}) + ${AT_ONCE / 2}::int)`;
  return sql`(
    exists (select 1 from notification_choices) or exists (select 1 from notifications where sent_at is null)
    or exists (${endedFiles(sql)}) or (select count(*) from notification_marks) < 2
    or ${behind('settlement_events', sql`select id from settlement_events order by id desc limit 1`)}
    or ${behind('aml_events', sql`select id from aml_events order by id desc limit 1`)})`;
}

/**
 * Notes for whoever chose it what happened to cashouts since the last look. Reads settlement_events by its key; locks the mark.
 * Returns how many notes it made.
 */
export async function noteSettlements(tx: Tx, limits: NotingLimits): Promise<number> {
  const place = await lockMark(tx, 'settlement_events', tx`select coalesce(max(id), 0) as place from settlement_events`);
  const until = place + AT_ONCE;
  const noted = await note(
    tx,
    limits,
    tx`
      select c.person_id, c.gateway_id, c.kind, s.id::text as subject, e.at
      from settlement_events e join settlements s on s.id = e.settlement_id
      join choosers c on c.gateway_id = s.gateway_id and c.since <= e.at and c.kind = case
        when e.to_status = 'PENDING_APPROVAL' then 'approval' when e.to_status in ('UNDERFUNDED', 'WAITING_AML_CREDIT') then 'parked'
        when e.to_status = 'REJECTED' then 'rejected' end
      where e.id > ${place - OVERLAP} and e.id <= ${until} and e.from_status is distinct from e.to_status`,
  );
  await moveMark(tx, 'settlement_events', { place, until });
  return noted;
}

/** The same of payments that screening holds. */
export async function noteHeld(tx: Tx, limits: NotingLimits): Promise<number> {
  const place = await lockMark(tx, 'aml_events', tx`select coalesce(max(id), 0) as place from aml_events`);
  const until = place + AT_ONCE;
  const noted = await note(
    tx,
    limits,
    tx`
      select c.person_id, c.gateway_id, c.kind, p.id::text as subject, e.at
      from aml_events e join payments p on p.id = e.payment_id
      join choosers c on c.gateway_id = p.gateway_id and c.since <= e.at and c.kind = 'held'
      where e.id > ${place - OVERLAP} and e.id <= ${until} and e.to_status = 'HELD' and e.from_status is distinct from 'HELD'`,
  );
  await moveMark(tx, 'aml_events', { place, until });
  return noted;
}

/** The same of webhooks that were given up, of each gateway the newest. Reads webhook_events_undelivered; locks nothing. */
export async function noteWebhooks(tx: Tx, limits: NotingLimits): Promise<number> {
  return note(
    tx,
    limits,
    tx`
      select c.person_id, c.gateway_id, c.kind, w.payment_id::text as subject, sluice_now() as at
      from choosers c cross join lateral (
        select payment_id from webhook_events where gateway_id = c.gateway_id and state = 'exhausted' and resend_requested_at is null
          and created_at > now() - make_interval(days => ${WEBHOOK_DAYS}) and created_at >= c.since
        order by created_at desc limit ${limits.notesOfPerson}) w
      where c.kind = 'webhook'`,
  );
}

/** The same of gateways that screen and have few credits left: once for each time that some were given. Locks nothing. */
export async function noteCredits(tx: Tx, { least, share, ...limits }: NotingLimits & { least: number; share: number }): Promise<number> {
  return note(
    tx,
    limits,
    tx`
      select c.person_id, c.gateway_id, c.kind, s.granted::text as subject, sluice_now() as at
      from choosers c join screening_credits s on s.gateway_id = c.gateway_id join gateways g on g.id = c.gateway_id
      where c.kind = 'credits' and (g.settings -> 'screening' ->> 'enabled')::boolean and s.credits <= greatest(${least}::bigint, s.granted / ${share}::bigint)`,
  );
}

/** Notes what `happened` tells of `choosers`, who are those that have not more waiting of their gateway than one mail tells; of what was noted before nothing is written. */
async function note(tx: Tx, { notesOfPerson }: NotingLimits, happened: ReturnType<Tx>): Promise<number> {
  const noted = await tx`
    with choosers as materialized (
      select c.* from notification_choices c
      where (
        select count(*) from (
          select 1 from notifications n where n.person_id = c.person_id and n.gateway_id = c.gateway_id and n.sent_at is null limit ${notesOfPerson}) waiting) < ${notesOfPerson})
    insert into notifications (id, person_id, gateway_id, kind, subject, at)
    select gen_random_uuid(), person_id, gateway_id, kind, subject, at
    from (select h.*, row_number() over (partition by person_id, gateway_id order by at desc) as place from (${happened}) h) ranked
    where place <= ${notesOfPerson} and not exists (
      select 1 from notifications n where (n.person_id, n.gateway_id, n.kind, n.subject) = (ranked.person_id, ranked.gateway_id, ranked.kind, ranked.subject))
    on conflict do nothing returning 1`;
  return noted.length;
}

/** How many others chose something of a gateway. Reads notification_choices_gateway; locks nothing. */
export async function countChoosers(sql: Reads, gatewayId: string, except: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(distinct person_id)::int as count from notification_choices where gateway_id = ${gatewayId} and person_id <> ${except}`;
  return row?.count ?? 0;
}

/** The same of files of a month that are made, or were given up. Reads monthly_export_files, which has those of one month. Locks nothing. */
export async function noteMonthlyExports(tx: Tx): Promise<number> {
  const noted = await tx`
    insert into notifications (id, person_id, gateway_id, kind, subject, at)
    select gen_random_uuid(), m.person_id, m.gateway_id, m.kind, m.subject, m.at from (${endedFiles(tx)}) m
    on conflict do nothing returning 1`;
  return noted.length;
}

/** Files of a month that are made, or were given up, and that whoever wanted them was not told of. */
function endedFiles(sql: Reads): ReturnType<Reads> {
  return sql`
    select f.person_id, f.gateway_id, k.kind, e.id::text as subject, e.ended_at as at
    from monthly_export_files f join exports e on e.id = f.export_id
      cross join lateral (select case e.state when 'ready' then 'export' else 'export-failed' end as kind) k
    where e.state <> 'making' and not exists (
      select 1 from notifications n where (n.person_id, n.gateway_id, n.kind, n.subject) = (f.person_id, f.gateway_id, k.kind, e.id::text))`;
}

/** Begins where the history ends now: what was before nobody is told. */
async function lockMark(tx: Tx, name: string, end: ReturnType<Tx>): Promise<number> {
  await tx`insert into notification_marks (name, place) select ${name}, place from (${end}) e on conflict do nothing`;
  const [row] = await tx<{ place: number }[]>`select place::float8 as place from notification_marks where name = ${name} for update`;
  return row?.place ?? 0;
}

/** Moves a mark to the last event that was gone through; where there was none, up to the next one: what no event has is no end of a history. */
async function moveMark(tx: Tx, history: 'settlement_events' | 'aml_events', { place, until }: { place: number; until: number }): Promise<void> {
  await tx`
    update notification_marks set place = coalesce(
      (select max(id) from ${tx(history)} where id > ${place} and id <= ${until}), (select min(id) - 1 from ${tx(history)} where id > ${until}), ${place})
    where name = ${history}`;
}

/** A note that waits to be mailed. */
export interface WaitingNote {
  id: string;
  gatewayId: string;
  kind: NoteKind;
  subject: string;
  at: Date;
  mailId: string | null;
}

/** Somebody who has notes that were not sent. */
export interface WaitingPerson {
  personId: string;
  email: string;
  /** Of their mail; null for whoever never said. */
  language: string | null;
}

/**
 * People who may be mailed what waits for them, some of them: first those whom nobody tried yet, by how long they wait, then those whose mail was not taken, in no order, so that
 * none of them stands before all others for ever. Reads notifications_unsent; locks nothing.
 */
export async function listWaitingPeople(sql: Reads, { limit, mailsOfHour }: { limit: number; mailsOfHour: number }): Promise<WaitingPerson[]> {
  return sql<WaitingPerson[]>`
    select p.id as person_id, p.email, l.language from (
      select person_id, bool_or(mail_id is not null) as begun, min(at) as since from notifications where sent_at is null group by person_id) w
    join people p on p.id = w.person_id left join person_languages l on l.person_id = p.id
    where w.begun or (
      select count(distinct n.mail_id) from notifications n where n.person_id = p.id and n.taken_at > sluice_now() - interval '1 hour') < ${mailsOfHour}
    order by w.begun, case when w.begun then random() end, w.since, p.id limit ${limit}`;
}

/** Keeps the language of a person's mail. Locks that row. */
export async function keepLanguage(tx: Tx, personId: string, language: string): Promise<void> {
  await tx`
    insert into person_languages (person_id, language) values (${personId}, ${language})
    on conflict (person_id) do update set language = excluded.language`;
}

/** The notes of a person that were not sent, oldest first. Locks them. */
export async function lockWaiting(tx: Tx, personId: string, limit: number): Promise<WaitingNote[]> {
  return tx<WaitingNote[]>`
    select id, gateway_id, kind, subject, at, mail_id from notifications where person_id = ${personId} and sent_at is null
    order by mail_id nulls last, at, id limit ${limit} for update`;
}

/** How many mails a person was sent, or is being sent, within an hour. Reads notifications_taken; locks nothing. */
export async function countMailsOfHour(sql: Reads, personId: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(distinct mail_id)::int as count from notifications where person_id = ${personId} and taken_at > sluice_now() - interval '1 hour'`;
  return row?.count ?? 0;
}

/** Puts notes into a mail that is about to be sent. */
export async function takeNotes(tx: Tx, ids: readonly string[], mailId: string): Promise<void> {
  await tx`update notifications set mail_id = ${mailId}, taken_at = sluice_now() where id = any(${[...ids]}::uuid[])`;
}

/** Forgets notes that whom they are for may not read any more; nobody is told of them. */
export async function dropNotes(tx: Tx, ids: readonly string[]): Promise<void> {
  await tx`update notifications set mail_id = coalesce(mail_id, id), taken_at = coalesce(taken_at, '-infinity'), sent_at = sluice_now() where id = any(${[...ids]}::uuid[])`;
}

/** Notes that a mail was sent. Locks those rows for the statement. */
export async function noteSent(sql: Reads, mailId: string): Promise<void> {
  await sql`update notifications set sent_at = sluice_now() where mail_id = ${mailId} and sent_at is null`;
}

/** Deletes what was sent and cannot happen again. Reads notifications_at; locks what it deletes. */
export async function deleteOldNotifications(sql: Reads, { days, limit }: { days: number; limit: number }): Promise<number> {
  const rows = await sql`
    delete from notifications where id in (
      select id from notifications where at < sluice_now() - make_interval(days => ${days}) and sent_at is not null order by at limit ${limit}) returning 1`;
  return rows.length;
}
