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
}

/** Records that an attempt starts now; one that is never finished (a crash) stays as it is and does not count. */
export async function startWebhookAttempt(tx: Tx, row: { id: string; eventId: string; number: number }): Promise<void> {
  await tx`insert into webhook_attempts (id, event_id, number, started_at) values (${row.id}, ${row.eventId}, ${row.number}, sluice_now())`;
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

/** Every attempt of every webhook of a payment, oldest first, with the status it announced. */
export async function listWebhookAttempts(sql: Reads, paymentId: string): Promise<WebhookAttempt[]> {
  return sql<WebhookAttempt[]>`
    select a.id, a.event_id as "eventId", e.status, a.number, a.started_at as "startedAt", a.finished_at as "finishedAt", a.result,
      a.http_status as "httpStatus", a.duration_ms as "durationMs"
    from webhook_attempts a join webhook_events e on e.id = a.event_id where e.payment_id = ${paymentId} order by a.started_at, a.number`;
}
