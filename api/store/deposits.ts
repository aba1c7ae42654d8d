import { type Coins, formatAmount, parseTrusted, type Usd } from '#shared/core/money.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';

export type DepositPath = 'standard' | 'late_confirmation' | 'late_capture' | 'manual_inquiry';

/** A canonical transfer of a configured asset to a deposit address, by somebody who is not us. */
export interface DepositCandidate {
  txid: string;
  kind: 'native' | 'token';
  ordinal: number;
  addressId: string;
  paymentId: string;
  assetId: string;
  decimals: number;
  sender: string;
  rawAmount: string;
  height: number;
  blockHash: string;
  position: number;
  blockTime: Date;
}

/**
 * The transfers of blocks `from`..`to` that are deposits: to a deposit address on whatever network of the family it was
 * assigned, of a configured asset, above zero, and neither sent by a wallet or deposit address of ours nor part of a
 * transaction we signed (architecture 3.2). Takes no lock.
 */
export async function listDepositCandidates(reads: Reads, networkId: string, from: number, to: number): Promise<DepositCandidate[]> {
  return reads<DepositCandidate[]>`
    select s.txid, s.kind, s.ordinal, d.id as "addressId", d.payment_id as "paymentId", a.id as "assetId", a.decimals, s.sender,
      s.raw_amount as "rawAmount", s.height, s.block_hash as "blockHash", s.position, s.block_time as "blockTime"
    from sightings s
    join lateral (select * from deposit_addresses d where d.address = s.recipient order by (d.network_id = s.network_id) desc, d.id limit 1) d on true
    join assets a on a.network_id = s.network_id and a.contract is not distinct from s.contract
    where s.network_id = ${networkId} and s.height between ${from} and ${to} and s.canonical and s.kind <> 'sent' and s.raw_amount > 0
      and not exists (select 1 from wallets w where w.address = s.sender)
      and not exists (select 1 from deposit_addresses o where o.address = s.sender)
      and not exists (select 1 from payout_attempts p where p.txid = s.txid)
    order by s.height, s.position, s.ordinal`;
}

/** A candidate with the id its row gets when it is new, and its amount in asset units. */
export type NewDeposit = Omit<DepositCandidate, 'decimals'> & { id: string; amount: Coins };

/**
 * Stores deposits as seen, or moves known ones to the block they are in now: a dropped one is seen again, one that is
 * still open takes the new facts, one that was booked keeps what it was booked as. Answers the ids of all of them.
 */
export async function upsertDeposits(tx: Tx, networkId: string, deposits: readonly NewDeposit[]): Promise<string[]> {
  const ids: string[] = [];
  for (const d of deposits) {
    const [row] = await tx<{ id: string }[]>`
      insert into deposits as old (id, network_id, txid, kind, ordinal, address_id, payment_id, asset_id, sender, raw_amount, amount, height, block_hash, position,
        block_time, first_seen_at, state)
      values (${d.id}, ${networkId}, ${d.txid}, ${d.kind}, ${d.ordinal}, ${d.addressId}, ${d.paymentId}, ${d.assetId}, ${d.sender}, ${d.rawAmount}::text::numeric,
        ${formatAmount(d.amount)}::text::numeric, ${d.height}, ${d.blockHash}, ${d.position}, ${d.blockTime}, ${d.blockTime}, 'seen')
      on conflict (network_id, txid, kind, ordinal) do update set
        height = excluded.height, block_hash = excluded.block_hash, position = excluded.position, block_time = excluded.block_time,
        first_seen_at = least(old.first_seen_at, excluded.first_seen_at),
        state = case when old.state = 'dropped' then 'seen' else old.state end,
        address_id = case when old.state in ('seen', 'dropped') then excluded.address_id else old.address_id end,
        payment_id = case when old.state in ('seen', 'dropped') then excluded.payment_id else old.payment_id end,
        asset_id = case when old.state in ('seen', 'dropped') then excluded.asset_id else old.asset_id end,
        sender = case when old.state in ('seen', 'dropped') then excluded.sender else old.sender end,
        raw_amount = case when old.state in ('seen', 'dropped') then excluded.raw_amount else old.raw_amount end,
        amount = case when old.state in ('seen', 'dropped') then excluded.amount else old.amount end
      returning id`;
    ids.push((row as { id: string }).id);
  }
  return ids;
}

/** Drops the open deposits above `height`, whose blocks were orphaned; answers how many. */
export async function dropDepositsAbove(tx: Tx, networkId: string, height: number): Promise<number> {
  const rows = await tx`update deposits set state = 'dropped' where network_id = ${networkId} and height > ${height} and state = 'seen' returning 1`;
  return rows.length;
}

export interface BookedDeposit {
  id: string;
  assetId: string;
  amount: Coins;
}

/** Marks deposits above `height` that were booked already as lost, and answers them (decisions 5). */
export async function loseBookedDepositsAbove(tx: Tx, networkId: string, height: number): Promise<BookedDeposit[]> {
  const rows = await tx<(Omit<BookedDeposit, 'amount'> & { amount: string })[]>`
    update deposits set lost_at = sluice_now()
    where network_id = ${networkId} and height > ${height} and state in ('credited', 'dust', 'unallocated') and lost_at is null
    returning id, asset_id as "assetId", amount`;
  return rows.map((row) => ({ ...row, amount: parseTrusted(row.amount) }));
}

/** Clears the mark of lost deposits that are on the canonical chain again, and answers them. */
export async function regainDeposits(tx: Tx, ids: readonly string[]): Promise<BookedDeposit[]> {
  const rows = await tx<(Omit<BookedDeposit, 'amount'> & { amount: string })[]>`
    update deposits set lost_at = null where id = any(${[...ids]}::uuid[]) and lost_at is not null returning id, asset_id as "assetId", amount`;
  return rows.map((row) => ({ ...row, amount: parseTrusted(row.amount) }));
}

/** An open deposit with what deciding about it takes. */
export interface OpenDeposit {
  id: string;
  networkId: string;
  txid: string;
  kind: 'native' | 'token';
  ordinal: number;
  paymentId: string;
  addressId: string;
  assetId: string;
  symbol: string;
  decimals: number;
  dustFloor: Coins;
  /** The asset's configured network fee, for payments that never offered it. */
  assetNetworkFee: Coins;
  amount: Coins;
  height: number;
  blockHash: string;
  position: number;
  firstSeenAt: Date;
  /** False when it arrived on a network its address was not assigned for. */
  onOwnNetwork: boolean;
}

type OpenRow = Omit<OpenDeposit, 'dustFloor' | 'assetNetworkFee' | 'amount'> & { dustFloor: string; assetNetworkFee: string; amount: string };

/** The payments that have an open deposit on a network at or below a height, in the order of their first one; takes no lock. */
export async function listPaymentsWithOpenDeposits(reads: Reads, networkId: string, upToHeight: number): Promise<string[]> {
  const rows = await reads<{ paymentId: string }[]>`
    select payment_id as "paymentId" from deposits where network_id = ${networkId} and state = 'seen' and height <= ${upToHeight}
    group by payment_id order by min(height), payment_id`;
  return rows.map((row) => row.paymentId);
}

/** The open deposits of one payment on every network, the earliest block first, in chain order within a network (whose block times may step back); takes no lock. */
export async function listOpenDeposits(reads: Reads, paymentId: string): Promise<OpenDeposit[]> {
  const rows = await reads<OpenRow[]>`
    select d.id, d.network_id as "networkId", d.txid, d.kind, d.ordinal, d.payment_id as "paymentId", d.address_id as "addressId", d.asset_id as "assetId", a.symbol, a.decimals,
      a.dust_floor as "dustFloor", a.network_fee as "assetNetworkFee", d.amount, d.height, d.block_hash as "blockHash", d.position,
      d.first_seen_at as "firstSeenAt", x.network_id = d.network_id as "onOwnNetwork"
    from deposits d join assets a on a.id = d.asset_id join deposit_addresses x on x.id = d.address_id
    where d.payment_id = ${paymentId} and d.state = 'seen'
    order by max(d.block_time) over (partition by d.network_id order by d.height), d.height, d.position, d.ordinal, d.id`;
  return rows.map((row) => ({
    ...row,
    dustFloor: parseTrusted(row.dustFloor),
    assetNetworkFee: parseTrusted(row.assetNetworkFee),
    amount: parseTrusted(row.amount),
  }));
}

/** Locks the deposits among `ids` that are still open in the block given for them, until commit; answers their ids. */
export async function lockOpenDeposits(tx: Tx, deposits: readonly { id: string; blockHash: string }[]): Promise<Set<string>> {
  const rows = await tx<{ id: string }[]>`
    select d.id from deposits d
    join unnest(${deposits.map((d) => d.id)}::uuid[], ${deposits.map((d) => d.blockHash)}::text[]) as wanted (id, block_hash) on wanted.id = d.id
    where d.state = 'seen' and d.block_hash = wanted.block_hash order by d.id for update of d`;
  return new Set(rows.map((row) => row.id));
}

/** Gives locked deposits their final outcome. */
export async function settleDeposits(
  tx: Tx,
  ids: readonly string[],
  outcome: { state: 'credited' | 'dust' | 'unallocated'; usdPrice: Usd | null; path: DepositPath | null },
): Promise<void> {
  await tx`
    update deposits set state = ${outcome.state}, final_at = sluice_now(), path = ${outcome.path},
      usd_price = ${outcome.usdPrice === null ? null : formatAmount(outcome.usdPrice)}::text::numeric
    where id = any(${[...ids]}::uuid[])`;
}
