import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** The advisory lock by which processes write one after the other: they write few times a second. */
const LOCK = 7_582_007;

/** A request that was made with a key of a gateway, as it was answered. */
export interface AnsweredRequest {
  gatewayId: string;
  at: Date;
  requestId: string;
  method: string;
  operation: string;
  status: number;
  code: string | null;
  durationMs: number;
  keyId: string;
  address: string;
}

/**
 * Notes requests of any gateways, and forgets of each gateway the oldest beyond the newest `most` that failed, and beyond the newest `most` that did not. Keeps everybody else
 * from noting some until commit, so that two never wait for each other.
 */
export async function addRequests(tx: Tx, given: readonly AnsweredRequest[], most: number): Promise<void> {
  await tx`select pg_advisory_xact_lock(${LOCK})`;
  await tx`
    with given as (
      select g.*, g.status >= 400 as failed from jsonb_to_recordset(${JSON.stringify(given)}::text::jsonb) as g (
        "gatewayId" uuid, at timestamptz, "requestId" uuid, method text, operation text, status int, code text, "durationMs" int, "keyId" text, address text)),
    numbered as materialized (
      select g.*, coalesce((select max(number) from requests r where r.gateway_id = g."gatewayId" and r.failed = g.failed), 0)
        + row_number() over (partition by g."gatewayId", g.failed order by g.at) as number
      from given g),
    newest as materialized (select "gatewayId", failed, max(number) as last from numbered group by 1, 2),
    forgotten as (
      delete from requests r using newest n where r.gateway_id = n."gatewayId" and r.failed = n.failed and r.number <= n.last - ${most}::bigint)
    insert into requests (gateway_id, at, request_id, number, method, operation, status, code, duration_ms, key_id, address)
    select g."gatewayId", g.at, g."requestId", g.number, g.method, g.operation, g.status, g.code, g."durationMs", g."keyId", g.address
    from numbered g join newest n on n."gatewayId" = g."gatewayId" and n.failed = g.failed where g.number > n.last - ${most}::bigint
    on conflict do nothing`;
}

/** Where a page of them begins: behind this one. */
export type RequestPlace = Pick<AnsweredRequest, 'at' | 'requestId'>;

/** The newest requests of a gateway within `days`, `window` of them, behind `after`; null narrows nothing. */
export interface LookedRequests {
  gatewayId: string;
  days: number;
  /** First digit of the status. */
  statusClass: number | null;
  operation: string | null;
  keyId: string | null;
  after: RequestPlace | null;
  window: number;
}

/** A gateway's requests, newest first, one more than `limit`, of those looked through. Reads the primary key; locks nothing. */
export async function listRequests(sql: Reads, page: LookedRequests & { limit: number }): Promise<Omit<AnsweredRequest, 'gatewayId'>[]> {
  const { statusClass, operation, keyId, limit } = page;
  return sql<Omit<AnsweredRequest, 'gatewayId'>[]>`
    select at, request_id, method, operation, status, code, duration_ms, key_id, address from (${looked(sql, page)}) w
    where true ${statusClass === null ? sql`` : sql`and status / 100 = ${statusClass}`} ${operation === null ? sql`` : sql`and operation = ${operation}`}
      ${keyId === null ? sql`` : sql`and key_id = ${keyId}`}
    order by at desc, request_id desc limit ${limit + 1}`;
}

/** The last of the requests looked through, where others follow; locks nothing. */
export async function findLastLookedRequest(sql: Reads, page: LookedRequests): Promise<RequestPlace | undefined> {
  const [row] = await sql<RequestPlace[]>`
    select l.at, l.request_id from (select w.at, w.request_id from (${looked(sql, page)}) w order by w.at, w.request_id limit 1) l
    where exists (
      select 1 from requests r where r.gateway_id = ${page.gatewayId} and r.at > now() - make_interval(days => ${page.days}) and (r.at, r.request_id) < (l.at, l.request_id))`;
  return row;
}

// What is narrowed stays outside of the limit (decision 0065).
function looked(sql: Reads, { gatewayId, days, after, window }: LookedRequests): ReturnType<Reads> {
  return sql`
    select * from requests where gateway_id = ${gatewayId} and at > now() - make_interval(days => ${days})
      ${after === null ? sql`` : sql`and (at, request_id) < (${after.at}, ${after.requestId}::uuid)`}
    order by at desc, request_id desc limit ${window}`;
}

/** Whether there are requests that are older than `days`; a condition. */
export function isAnyRequestOld(sql: Reads, days: number): ReturnType<Reads> {
  return sql`exists (select 1 from requests where at <= now() - make_interval(days => ${days}))`;
}

/** Forgets requests that are older than `days`, at most `limit`; returns how many. */
export async function deleteOldRequests(sql: Reads, { days, limit }: { days: number; limit: number }): Promise<number> {
  const rows = await sql`
    delete from requests where (gateway_id, at, request_id) in (
      select gateway_id, at, request_id from requests where at <= now() - make_interval(days => ${days}) order by at limit ${limit})
    returning 1`;
  return rows.length;
}
