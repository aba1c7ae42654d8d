import type { Reads } from '#shared/platform/postgres.ts';

/** A deposit address that still holds credited coins of one asset, as far as the books know. */
export interface SweepableAddress {
  /** Canonical. */
  address: string;
  derivationIndex: number;
  /** Chain units credited there, final by the maturity rule, and not swept yet. */
  rawAmount: bigint;
}

/**
 * Deposit addresses of a network holding more than `above` chain units of an asset, the largest first. Only credited
 * deposits of resolved payments outside the held pool count, in blocks that are final, and no address that is being swept
 * of it now. A sweep of native coins takes its fee with it: what it did not use is not worth another. Locks nothing.
 */
export async function listSweepable(sql: Reads, query: { networkId: string; assetId: string; above: bigint; limit: number }): Promise<SweepableAddress[]> {
  const rows = await sql<{ address: string; derivationIndex: number; rawAmount: string }[]>`
    select h.address, h.derivation_index as "derivationIndex", (h.received - coalesce(o.swept, 0))::text as "rawAmount"
    from (
      select a.address, a.derivation_index, sum(d.raw_amount) as received
      from deposits d join deposit_addresses a on a.id = d.address_id join payments p on p.id = d.payment_id
        join chain_tips t on t.network_id = d.network_id and d.height <= t.final_height
      where d.network_id = ${query.networkId} and d.asset_id = ${query.assetId} and d.state = 'credited' and p.status <> 'PENDING'
        and not exists (select 1 from credits c where c.payment_id = d.payment_id and c.asset_id = d.asset_id and c.pool = 'held')
      group by 1, 2) h
    left join (
      select w.address, sum(s.raw_amount + case when a.contract is null then coalesce((s.plan->>'rawFee')::numeric, 0) else 0 end) as swept,
        bool_or(s.status <> 'CONFIRMED') as live
      from payouts s join wallets w on w.id = s.wallet_id join assets a on a.id = s.asset_id
      where s.network_id = ${query.networkId} and s.asset_id = ${query.assetId} and s.purpose = 'sweep' and s.status not in ('FAILED', 'CANCELLED')
      group by 1) o on o.address = h.address
    where coalesce(o.live, false) = false and h.received - coalesce(o.swept, 0) > ${query.above.toString()}::text::numeric
    order by h.received - coalesce(o.swept, 0) desc, h.address limit ${query.limit}`;
  return rows.map((row) => ({ ...row, rawAmount: BigInt(row.rawAmount) }));
}
