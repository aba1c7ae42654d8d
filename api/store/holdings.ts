import type { Reads } from '#shared/platform/postgres.ts';

/** A coin or token on one network; contract null is the native coin. */
export interface HeldAsset {
  networkId: string;
  contract: string | null;
}

/**
 * Chain units that canonical sightings moved to (positive) or away from our addresses without having reached the books
 * yet; for the native coin less the fees of our own transactions among them. Between our own addresses nothing counts.
 */
export async function sumUnbooked(reads: Reads, { networkId, contract }: HeldAsset): Promise<bigint> {
  const [row] = await reads<{ sum: string }[]>`
    with ours as (
      select address from wallets where network_id = ${networkId}
      union
      select address from deposit_addresses
    )
    select (
      coalesce(sum(case
        when s.kind = 'sent' then -s.raw_fee::numeric
        else (case when s.recipient in (select address from ours) then s.raw_amount::numeric else 0 end) - (case when s.sender in (select address from ours) then s.raw_amount::numeric else 0 end)
      end), 0))::text as sum
    from sightings s
    where s.network_id = ${networkId} and s.canonical and s.booked_at is null
      and (case when s.kind = 'sent' then ${contract === null} else s.contract is not distinct from ${contract} end)`;
  return BigInt(row?.sum ?? '0');
}

/** Addresses of ours that may hold some of an asset: every wallet of the network, and every deposit address it was ever sent to or that got gas. */
export async function listHoldingAddresses(reads: Reads, { networkId, contract }: HeldAsset): Promise<string[]> {
  const rows = await reads<{ address: string }[]>`
    select address from wallets where network_id = ${networkId}
    union
    select distinct s.recipient as address from sightings s
    where s.network_id = ${networkId} and s.canonical and s.kind <> 'sent' and s.contract is not distinct from ${contract}
      and exists (select 1 from deposit_addresses d where d.address = s.recipient)
    order by 1`;
  return rows.map((row) => row.address);
}

/** A wallet and an asset whose balance before the watch is not in the books yet. */
export interface UnopenedHolding {
  walletId: string;
  address: string;
  /** First block that was read for it. */
  watchedFrom: number;
  assetId: string;
  contract: string | null;
  decimals: number;
}

/** The watched wallets and assets of a network without an opening entry; takes no lock. */
export async function listUnopenedHoldings(reads: Reads, networkId: string): Promise<UnopenedHolding[]> {
  return reads<UnopenedHolding[]>`
    select w.id as "walletId", w.address, v.watched_from as "watchedFrom", a.id as "assetId", a.contract, a.decimals
    from wallets w join watches v on v.network_id = w.network_id and v.address = w.address join assets a on a.network_id = w.network_id
    where w.network_id = ${networkId} and w.role <> 'deposit' and v.watched_from is not null
      and not exists (select 1 from ledger_transactions t where t.source_key = 'opening:' || w.id || ':' || a.id)
    order by w.id, a.id`;
}
