import type { Reads } from '#shared/platform/postgres.ts';

/**
 * Asks a network's indexer to start again from the tip under an epoch above `epoch`; false when that was already asked.
 * An operator's rescan names blocks and does not count as such a request. Takes no lock: a double request is harmless.
 */
export async function requestRewind(sql: Reads, request: { networkId: string; epoch: number; reason: string }): Promise<boolean> {
  const rows = await sql`
    insert into rewind_requests (network_id, epoch, reason)
    select ${request.networkId}, ${request.epoch}, ${request.reason}
    where not exists (select 1 from rewind_requests where network_id = ${request.networkId} and epoch >= ${request.epoch} and from_height is null)
    returning id`;
  return rows.length === 1;
}
