import { type Coins, formatAmount, parseTrusted } from '#shared/core/money.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import { isUnexplained } from './adopted.ts';

/** The last comparison of the books with the chain, of one asset. */
export interface Reconciliation {
  assetId: string;
  /** The applied block both sides were taken at. */
  height: number;
  /** What the chain said minus what the books said. */
  difference: Coins;
  /** Block of the first of an unbroken run of readings that miss coins; null while none are missing. */
  shortSince: number | null;
  /** How much may be missing because an operator accepted it. */
  accepted: Coins;
}

/** Reads the last comparison of an asset and locks its row until commit; undefined before the first. */
export async function lockReconciliation(tx: Tx, assetId: string): Promise<Reconciliation | undefined> {
  const [row] = await tx<(Omit<Reconciliation, 'difference' | 'accepted'> & { difference: string; accepted: string })[]>`
    select asset_id as "assetId", height, difference, short_since as "shortSince", accepted_shortage as accepted
    from reconciliations where asset_id = ${assetId} for update`;
  return row && { ...row, difference: parseTrusted(row.difference), accepted: parseTrusted(row.accepted) };
}

/** Writes the comparison that is the last one now. What was accepted stays, less what is there again: it covers no later loss. Locks its row. */
export async function upsertReconciliation(tx: Tx, r: { assetId: string; height: number; difference: Coins; shortSince: number | null }): Promise<void> {
  await tx`
    insert into reconciliations (asset_id, height, difference, short_since)
    values (${r.assetId}, ${r.height}, ${formatAmount(r.difference)}::text::numeric, ${r.shortSince})
    on conflict (asset_id) do update
      set height = excluded.height, difference = excluded.difference, short_since = excluded.short_since, read_at = sluice_now(),
        accepted_shortage = least(reconciliations.accepted_shortage, greatest(-excluded.difference, 0))`;
}

/**
 * Accepts what is missing right now of the assets of a freeze's scope, so that only more of it freezes again; answers them.
 * Locks those rows.
 */
export async function acceptShortages(tx: Tx, scope: string): Promise<{ assetId: string; shortage: string }[]> {
  return tx<{ assetId: string; shortage: string }[]>`
    update reconciliations r set accepted_shortage = -r.difference, short_since = null
    from assets a join networks n on n.id = a.network_id
    where a.id = r.asset_id and r.short_since is not null and -r.difference > r.accepted_shortage
      and ${scope} in ('all', 'network:' || n.name, 'asset:' || a.id)
    returning r.asset_id as "assetId", trim_scale(r.accepted_shortage::numeric)::text as shortage`;
}

/** What gateways are owed of an asset, by pool, and what is kept for nobody yet; decimal texts for gauges. Locks nothing. */
export async function sumLiabilities(sql: Reads, assetId: string): Promise<{ green: string; held: string; unallocated: string }> {
  const [row] = await sql<{ green: string; held: string; unallocated: string }[]>`
    select coalesce(sum(l.balance) filter (where l.gateway_id is not null and not h.held), 0)::text as green,
      coalesce(sum(l.balance) filter (where l.gateway_id is not null and h.held), 0)::text as held,
      coalesce(sum(l.balance) filter (where l.kind = 'unallocated'), 0)::text as unallocated
    from ledger_accounts l left join settlements s on s.id = l.settlement_id
      cross join lateral (select l.kind not in ('pending', 'available', 'reserved') or coalesce(s.pool = 'held', false) as held) h
    where l.asset_id = ${assetId} and l.balance <> 0`;
  return row ?? { green: '0', held: '0', unallocated: '0' };
}

/** A transaction from an address of ours that no stored bytes explain, and that nobody has looked at yet. */
export interface UnknownOutgoing {
  id: number;
  address: string;
  txid: string;
}

/**
 * Transactions from addresses of ours on the canonical chain that no stored bytes explain (A15), whether or not their wallet
 * was halted for them, except those that dispatch was frozen for before; oldest first. Locks nothing.
 */
export async function listUnreviewedOutgoing(sql: Reads, networkId: string): Promise<UnknownOutgoing[]> {
  return sql<UnknownOutgoing[]>`
    select g.id, g.sender as address, g.txid from sightings g join networks n on n.id = g.network_id
    where g.network_id = ${networkId} and g.id > n.outgoing_reviewed and g.kind = 'sent' and g.canonical
      and ${isUnexplained(sql, sql`g.txid`)}
    order by g.id limit 100`;
}

/** Those among transaction ids that no stored bytes explain. Locks nothing. */
export async function listUnknownTxids(sql: Reads, txids: readonly string[]): Promise<string[]> {
  const rows = await sql<{ txid: string }[]>`
    select distinct x.txid from unnest(${[...txids]}::text[]) as x (txid) where ${isUnexplained(sql, sql`x.txid`)}`;
  return rows.map((row) => row.txid);
}

/** Notes that dispatch was frozen for every unknown transaction up to this sighting. Locks the network. */
export async function markOutgoingReviewed(tx: Tx, networkId: string, sightingId: number): Promise<void> {
  await tx`update networks set outgoing_reviewed = greatest(outgoing_reviewed, ${sightingId}) where id = ${networkId}`;
}

/** Assets of a network with a wallet whose balance before the watch is not in the books yet, so that they cannot be compared. Locks nothing. */
export async function listUnopenedAssets(sql: Reads, networkId: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select a.id from assets a
    where a.network_id = ${networkId} and exists (
      select 1 from wallets w where w.network_id = a.network_id and w.role <> 'deposit'
        and not exists (select 1 from ledger_transactions l where l.source_key = 'opening:' || w.id || ':' || a.id))`;
  return rows.map((row) => row.id);
}

/** The role of each wallet of a network by its address; a deposit address that never sent anything has none. Locks nothing. */
export async function listWalletRoles(sql: Reads, networkId: string): Promise<Map<string, string>> {
  const rows = await sql<{ address: string; role: string }[]>`select address, role from wallets where network_id = ${networkId}`;
  return new Map(rows.map((row) => [row.address, row.role]));
}
