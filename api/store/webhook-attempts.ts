import type { Reads, Tx } from '#shared/platform/postgres.ts';

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
}

/** Records that an attempt of the schedule starts now; one that is never finished (a crash) stays as it is and does not count. */
export async function startWebhookAttempt(tx: Tx, row: { id: string; eventId: string; number: number }): Promise<void> {
  await tx`insert into webhook_attempts (id, event_id, number, started_at) values (${row.id}, ${row.eventId}, ${row.number}, sluice_now())`;
}

/** Records that a resend starts now, numbered after those before it. Call it while the webhook is locked. */
export async function startWebhookResend(tx: Tx, row: { id: string; eventId: string }): Promise<void> {
  await tx`
    insert into webhook_attempts (id, event_id, number, started_at, manual)
    select ${row.id}, ${row.eventId}, count(*) + 1, sluice_now(), true from webhook_attempts where event_id = ${row.eventId} and manual`;
}

/** Records how an attempt ended and returns its start and end, service time. */
export async function finishWebhookAttempt(
  tx: Tx,
  id: string,
  outcome: { result: string; httpStatus: number | null; durationMs: number },
): Promise<{ startedAt: Date; finishedAt: Date }> {
  const [row] = await tx<[{ startedAt: Date; finishedAt: Date }]>`
    update webhook_attempts set finished_at = sluice_now(), result = ${outcome.result}, http_status = ${outcome.httpStatus}, duration_ms = ${outcome.durationMs}
    where id = ${id} returning started_at as "startedAt", finished_at as "finishedAt"`;
  return row;
}

/** Most attempts of one webhook that are listed; a merchant who resends all day must not make a read slow. */
const LISTED = 100;

/** The attempts of every webhook of a payment, oldest first, with the status each announced; of each webhook the newest 100. */
export async function listWebhookAttempts(sql: Reads, paymentId: string): Promise<WebhookAttempt[]> {
  return sql<WebhookAttempt[]>`
    select id, "eventId", status, number, "startedAt", "finishedAt", result, "httpStatus", "durationMs", manual
    from (
      select a.id, a.event_id as "eventId", e.status, a.number, a.started_at as "startedAt", a.finished_at as "finishedAt", a.result,
        a.http_status as "httpStatus", a.duration_ms as "durationMs", a.manual, row_number() over (partition by a.event_id order by a.started_at desc) as place
      from webhook_attempts a join webhook_events e on e.id = a.event_id where e.payment_id = ${paymentId}) listed
    where place <= ${LISTED} order by "startedAt", number`;
}
