import type { Reads, Tx } from '#shared/platform/postgres.ts';
import type { ParkedStatus } from '#state-machines/settlement/settlement.ts';

/** A parked cashout somebody looks at. */
export interface ParkedSettlement {
  id: string;
  gatewayId: string;
  assetId: string;
}

/**
 * Counts the cashouts a gateway has parked, both parked statuses together (decisions 10). Locks the gateway's row until
 * commit, so that no other one can be parked between the count and the insert; rows that refer to it are not held up.
 */
export async function lockParkedCount(tx: Tx, gatewayId: string): Promise<number> {
  await tx`select id from gateways where id = ${gatewayId} for no key update`;
  const [row] = await tx<{ total: number }[]>`
    select count(*) as total from settlements where gateway_id = ${gatewayId} and status in ('UNDERFUNDED', 'WAITING_AML_CREDIT')`;
  return row?.total ?? 0;
}

/**
 * Claims up to `limit` parked cashouts that may have become possible: those that wait for a verdict, and those whose pool
 * now covers them. Nobody else is given them for `seconds`. Oldest first; rows that are locked are skipped.
 */
export async function claimParked(sql: Reads, { seconds, limit }: { seconds: number; limit: number }): Promise<ParkedSettlement[]> {
  return sql<ParkedSettlement[]>`
    with claimed as (
      update settlements set check_at = sluice_now() + make_interval(secs => ${seconds})
      where id in (
        select s.id from settlements s
        where s.status in ('UNDERFUNDED', 'WAITING_AML_CREDIT') and s.check_at <= sluice_now()
          and (s.status = 'WAITING_AML_CREDIT' or exists (
            select 1 from ledger_accounts l
            where l.asset_id = s.asset_id and l.gateway_id = s.gateway_id and l.settlement_id is null
              and l.kind = case s.pool when 'held' then 'held' else 'available' end and l.balance >= s.amount))
        order by s.created_at, s.id limit ${limit} for update of s skip locked)
      returning id, gateway_id, asset_id, created_at)
    select id, gateway_id as "gatewayId", asset_id as "assetId" from claimed order by created_at, id`;
}

/** Up to `limit` cashouts whose parking time is over, oldest first; locks nothing. */
export async function listOverstayed(sql: Reads, limit: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from settlements
    where status in ('UNDERFUNDED', 'WAITING_AML_CREDIT') and expires_at <= sluice_now()
    order by expires_at, id limit ${limit}`;
  return rows.map((row) => row.id);
}

/** Locks one cashout until commit and says whether its parking time is over; one that left its parking place is told by its status. */
export async function lockOverstayed(tx: Tx, id: string): Promise<boolean> {
  const rows = await tx`select 1 from settlements where id = ${id} and expires_at <= sluice_now() for update`;
  return rows.length === 1;
}

/** Writes why a parked cashout was not activated, for the operator. Locks its row when the reason changes; does nothing when it is not parked. */
export async function setParkedReason(sql: Reads, id: string, reason: string): Promise<void> {
  await sql`
    update settlements set wait_reason = ${reason}
    where id = ${id} and status in ('UNDERFUNDED', 'WAITING_AML_CREDIT') and wait_reason is distinct from ${reason}`;
}

/** The status in which a cashout's parking time ran out; undefined when it did not. Locks nothing. */
export async function findExpiredFrom(sql: Reads, id: string): Promise<ParkedStatus | undefined> {
  const [row] = await sql<{ status: ParkedStatus }[]>`
    select from_status as status from settlement_events where settlement_id = ${id} and event = 'PARKING_EXPIRED'`;
  return row?.status;
}
