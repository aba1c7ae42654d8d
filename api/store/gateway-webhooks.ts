import type { Reads } from '#shared/platform/postgres.ts';
import type { WebhookEvent } from './webhook-events.ts';

/** A webhook of a gateway with how its last attempt ended; null where there was none, or it is under way. */
export interface GatewayWebhook extends Omit<WebhookEvent, 'gatewayId' | 'seq' | 'body'> {
  lastStartedAt: Date | null;
  lastResult: string | null;
  lastHttpStatus: number | null;
}

/** A webhook's place in its gateway's list; the time as text, because a Date would cut its microseconds. */
export interface WebhookPlace {
  id: string;
  createdAt: string;
}

/** The newest webhooks of a gateway, `window` of them, behind `after`; null narrows nothing. */
export interface LookedWebhooks {
  gatewayId: string;
  state: string | null;
  status: string | null;
  paymentId: string | null;
  /** Written at this moment or later, and before that. */
  from: Date | null;
  to: Date | null;
  after: WebhookPlace | null;
  window: number;
}

/** Finds the place of one of the gateway's own webhooks; locks nothing. */
export async function findWebhookPlace(sql: Reads, gatewayId: string, id: string): Promise<WebhookPlace | undefined> {
  const [row] = await sql<WebhookPlace[]>`select id, created_at::text from webhook_events where id = ${id} and gateway_id = ${gatewayId}`;
  return row;
}

/**
 * A gateway's webhooks, newest first, one more than `limit`, of those looked through. Reads webhook_events_gateway, or the webhooks of one payment by their
 * key, and of the attempts of those it gives the last: resends have numbers of their own and may be many, those of the schedule are six. Locks nothing.
 */
export async function listGatewayWebhooks(sql: Reads, page: LookedWebhooks & { limit: number }): Promise<GatewayWebhook[]> {
  return sql<GatewayWebhook[]>`
    select w.id, w.payment_id, w.status, w.url, w.state, w.attempts, w.next_attempt_at, w.created_at, w.delivered_at, w.resend_requested_at,
      l.started_at as "lastStartedAt", l.result as "lastResult", l.http_status as "lastHttpStatus"
    from (
      select w.* from (${looked(sql, page)}) w
      where true ${page.state === null ? sql`` : sql`and w.state = ${page.state}`} ${page.status === null ? sql`` : sql`and w.status = ${page.status}`}
      order by w.created_at desc, w.id desc limit ${page.limit + 1}) w
    left join lateral (
      select t.started_at, t.result, t.http_status from (
        (select * from webhook_attempts a where a.event_id = w.id and not a.manual and a.number <= w.attempts + 1 order by a.number desc, a.started_at desc limit 1)
        union all
        (select * from webhook_attempts a where a.event_id = w.id and a.manual order by a.number desc limit 1)) t
      order by t.started_at desc limit 1) l on true
    order by w.created_at desc, w.id desc`;
}

/** The last of the webhooks looked through, where there are as many as are looked through at once; locks nothing. */
export async function findLastLookedWebhook(sql: Reads, page: LookedWebhooks): Promise<{ id: string } | undefined> {
  const [row] = await sql<{ id: string }[]>`select w.id from (${looked(sql, page)}) w order by w.created_at desc, w.id desc limit 1 offset ${page.window - 1}`;
  return row;
}

// What is narrowed beyond payment and time stays outside of the limit (decision 0065).
function looked(sql: Reads, { gatewayId, paymentId, from, to, after, window }: LookedWebhooks): ReturnType<Reads> {
  return sql`
    select * from webhook_events where gateway_id = ${gatewayId} ${paymentId === null ? sql`` : sql`and payment_id = ${paymentId}`}
      ${from === null ? sql`` : sql`and created_at >= ${from}`} ${to === null ? sql`` : sql`and created_at < ${to}`}
      ${after === null ? sql`` : sql`and (created_at, id) < (${after.createdAt}::text::timestamptz, ${after.id}::uuid)`}
    order by created_at desc, id desc limit ${window}`;
}
