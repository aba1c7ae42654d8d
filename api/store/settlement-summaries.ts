import type { Reads } from '#shared/platform/postgres.ts';

/** How many settlements are in one open status on a network, and how long the oldest of them has been there. */
export interface OpenSettlements {
  networkName: string;
  status: string;
  count: number;
  oldestAgeSeconds: number;
  /** How long the oldest one that is due has waited to be sent; 0 when none is. */
  overdueSeconds: number;
}

/** Counts open settlements by network and status; locks nothing. */
export async function summariseOpenSettlements(sql: Reads): Promise<OpenSettlements[]> {
  return sql<OpenSettlements[]>`
    select n.name as "networkName", s.status, count(*) as count, extract(epoch from sluice_now() - min(s.created_at))::float8 as "oldestAgeSeconds",
      greatest(0, coalesce(extract(epoch from sluice_now() - min(s.dispatch_at) filter (where s.status = 'REQUESTED')), 0))::float8 as "overdueSeconds"
    from settlements s join networks n on n.id = s.network_id
    where s.status not in ('SETTLED', 'REJECTED') group by 1, 2`;
}

/** Seconds since a payout's bytes were first handed to the network, undefined when nothing noted that; locks nothing. */
export async function secondsSinceSent(sql: Reads, payoutId: string): Promise<number | undefined> {
  const [row] = await sql<{ seconds: number | null }[]>`
    select extract(epoch from sluice_now() - min(at))::float8 as seconds from payout_events where payout_id = ${payoutId} and event = 'SENT'`;
  return row?.seconds ?? undefined;
}
