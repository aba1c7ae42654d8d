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
  assetId: string;
  symbol: string;
  contract: string | null;
  decimals: number;
  /** The first block its indexer watches the wallet in. */
  watchedFrom: number;
  /** The last final block that was applied. */
  finalHeight: number;
  /** What of the balance at that block is in the books as movements, or will be; chain units. */
  booked: bigint;
}

/**
 * The watched wallets and assets of a network without an opening entry, with what the books took of them or will, as far as it
 * is final: all that was seen, even before an indexer gave its word that it watches the wallet, and that may be blocks later.
 * Movements that were booked before the token was configured passed the books by. Takes no lock.
 */
export async function listUnopenedHoldings(reads: Reads, networkId: string): Promise<UnopenedHolding[]> {
  const rows = await reads<(Omit<UnopenedHolding, 'booked'> & { booked: string })[]>`
    select w.id as "walletId", w.address, a.id as "assetId", a.symbol, a.contract, a.decimals, v.watched_from as "watchedFrom", t.final_height as "finalHeight",
      (select coalesce(sum(case
          when s.kind = 'sent' then -s.raw_fee::numeric
          else (case when s.recipient = w.address then s.raw_amount::numeric else 0 end) - (case when s.sender = w.address then s.raw_amount::numeric else 0 end)
        end), 0) from sightings s
        where s.network_id = w.network_id and s.canonical and s.height <= t.final_height and (s.sender = w.address or s.recipient = w.address)
          and (case when s.kind = 'sent' then a.contract is null else s.contract is not distinct from a.contract end)
          and (s.booked_at is null or s.booked_at >= a.created_at))::text as booked
    from wallets w join watches v on v.network_id = w.network_id and v.address = w.address join assets a on a.network_id = w.network_id
      join chain_tips t on t.network_id = w.network_id
    where w.network_id = ${networkId} and w.role <> 'deposit' and v.watched_from is not null and t.final_height >= v.watched_from - 1
      and not exists (select 1 from ledger_transactions l where l.source_key = 'opening:' || w.id || ':' || a.id)
    order by w.id, a.id`;
  return rows.map((row) => ({ ...row, booked: BigInt(row.booked) }));
}
