import type { WatchAck } from '#shared/core/chain-events.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';

/**
 * Asks the indexers of the given networks to watch an address, that of a payment or a wallet, until `until` (for ever when null);
 * one already asked for stays as it is.
 */
export async function insertWatches(
  tx: Tx,
  networkIds: readonly string[],
  { address, until, paymentId = null }: { address: string; until: Date | null; paymentId?: string | null },
): Promise<void> {
  await tx`
    insert into watches (network_id, address, watch_until, trace_context)
    select unnest(${[...networkIds]}::uuid[]), ${address}, ${until}, (select trace_context from trace_contexts where subject_id = ${paymentId})
    on conflict (network_id, address) do nothing`;
}

/**
 * Asks a network's indexer to watch the deposit addresses of its family that other networks watch already: a network that
 * is added later must notice what payers send there all the same. Those that ran out stay as they are.
 */
export async function watchFamilyAddresses(tx: Tx, network: { id: string; family: string }): Promise<void> {
  await tx`
    insert into watches (network_id, address, watch_until)
    select ${network.id}, d.address, w.watch_until from deposit_addresses d join watches w on w.network_id = d.network_id and w.address = d.address
    where d.family = ${network.family} and d.network_id <> ${network.id} and (w.watch_until is null or w.watch_until > sluice_now())
    on conflict (network_id, address) do nothing`;
}

/** Whether a network's indexer has said that it watches an address; locks nothing. */
export async function isWatched(sql: Reads, networkId: string, address: string): Promise<boolean> {
  const rows = await sql`select 1 from watches where network_id = ${networkId} and address = ${address} and acked_epoch is not null`;
  return rows.length === 1;
}

/** Has an address watched for as long as there is one: a watch that ran out must be acknowledged anew. Locks the row. */
export async function keepWatching(tx: Tx, networkId: string, address: string): Promise<void> {
  await tx`
    update watches set watch_until = null, acked_epoch = case when watch_until > sluice_now() then acked_epoch end
    where network_id = ${networkId} and address = ${address} and watch_until is not null`;
}

/** Writes an indexer's word that it watches these addresses from these heights on; the first height given stands. Locks the rows. */
export async function acknowledgeWatches(tx: Tx, networkId: string, epoch: number, acks: readonly WatchAck[]): Promise<void> {
  if (acks.length === 0) return;
  await tx`
    update watches w set acked_epoch = ${epoch}, watched_from = coalesce(w.watched_from, a.watched_from)
    from unnest(${acks.map((ack) => ack.address)}::text[], ${acks.map((ack) => ack.watchedFrom)}::bigint[]) as a (address, watched_from)
    where w.network_id = ${networkId} and w.address = a.address`;
}
