import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** First half of the advisory lock key; the second is a hash of the gateway's id. */
const LOCK_CLASS = 7_582_006;

/** Refused requests that are alike; reason and address are empty for those of an operation that are beyond what is told apart. */
export interface RefusedRequests {
  operation: string;
  reason: string;
  address: string;
  count: number;
}

export interface StoredRefusals extends RefusedRequests {
  /** Start of the hour they came in. */
  hour: Date;
  lastAt: Date;
}

/**
 * Adds refusals to those of this hour. A gateway has `limit` rows an hour and operation, and one more, to which everything is added that would be one too many.
 * Keeps everybody else from adding some of this gateway until commit.
 */
export async function addRefusedRequests(tx: Tx, gatewayId: string, given: readonly RefusedRequests[], limit: number): Promise<void> {
  await tx`select pg_advisory_xact_lock(${LOCK_CLASS}, hashtext(${gatewayId}))`;
  await tx`
    with given as (
      select * from unnest(${given.map((one) => one.operation)}::text[], ${given.map((one) => one.reason)}::text[], ${given.map((one) => one.address)}::text[],
        ${given.map((one) => one.count)}::bigint[]) as g (operation, reason, address, count)
    ), this_hour as (
      select operation, reason, address from refused_requests where gateway_id = ${gatewayId} and hour = date_trunc('hour', now(), 'UTC')
    ), judged as (
      select g.*, exists (select from this_hour h where (h.operation, h.reason, h.address) = (g.operation, g.reason, g.address)) as known,
        (select count(*) from this_hour h where h.operation = g.operation and h.address <> '') as taken
      from given g
    ), placed as (
      select j.*, address <> '' and (known or taken + row_number() over (partition by operation, known, address <> '' order by count desc) <= ${limit}) as named
      from judged j
    )
    insert into refused_requests (gateway_id, hour, operation, reason, address, count, last_at)
    select ${gatewayId}::uuid, date_trunc('hour', now(), 'UTC'), a.operation, a.reason, a.address, a.count, now() from (
      select operation, reason, address, count from placed where named
      union all select operation, '', '', sum(count) from placed where not named group by operation
    ) a
    on conflict (gateway_id, hour, operation, reason, address) do update
      set count = refused_requests.count + excluded.count, last_at = excluded.last_at`;
}

/** Where a page of them begins: behind this row. */
export type RefusalPlace = Pick<StoredRefusals, 'hour' | 'operation' | 'reason' | 'address'>;

/** A gateway's refused requests of the last `days`, by hour, newest first; one more than `limit` says that others follow. Reads the primary key; locks nothing. */
export async function listRefusedRequests(
  sql: Reads,
  { gatewayId, days, limit, after }: { gatewayId: string; days: number; limit: number; after: RefusalPlace | null },
): Promise<StoredRefusals[]> {
  const behind = after === null ? sql`` : sql`and (hour, operation, reason, address) < (${after.hour}, ${after.operation}, ${after.reason}, ${after.address})`;
  return sql<StoredRefusals[]>`
    select hour, operation, reason, address, count, last_at from refused_requests
    where gateway_id = ${gatewayId} and hour > now() - make_interval(days => ${days}) ${behind}
    order by hour desc, operation desc, reason desc, address desc limit ${limit + 1}`;
}

/** Forgets those of hours that are longer ago than `days`; returns how many rows that were. */
export async function deleteOldRefusals(sql: Reads, days: number): Promise<number> {
  const rows = await sql`delete from refused_requests where hour <= now() - make_interval(days => ${days}) returning 1`;
  return rows.length;
}
