import { type Coins, formatAmount, fromUnits, parseTrusted, type Usd } from '#shared/core/money.ts';
import type { TransferKind } from '#shared/core/chain-events.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import type { Blocks } from './chain-blocks.ts';
import { isOneOf } from './is-one-of.ts';

/** Deposits written by one statement. */
const CHUNK = 2_000;

export type DepositPath = 'standard' | 'late_confirmation' | 'late_capture' | 'manual_inquiry';

/** A canonical transfer of a configured asset to a deposit address, by somebody who is not us. */
export interface DepositCandidate {
  txid: string;
  kind: TransferKind;
  ordinal: number;
  addressId: string;
  paymentId: string;
  assetId: string;
  decimals: number;
  sender: string;
  coSenders: string[] | null;
  coinbase: boolean;
  /** No root covers it (decision 0039). */
  unproven: boolean;
  /** How many transfers it stands for; null for one (decision 0030). */
  parts: number | null;
  rawAmount: string;
  height: number;
  blockHash: string;
  position: number;
  blockTime: Date;
  /** When its coins were first seen: in the block, or earlier while they waited to be mined. */
  firstSeenAt: Date;
}

/**
 * The transfers of blocks `from`..`to` that are deposits: to a deposit address on whatever network of the family it was
 * assigned, of a configured asset, above zero, and neither sent by a wallet or deposit address of ours, also as one of several,
 * nor part of a transaction we signed (architecture 3.2). Takes no lock.
 */
export async function listDepositCandidates(reads: Reads, networkId: string, from: number, to: number): Promise<DepositCandidate[]> {
  return reads<DepositCandidate[]>`
    select s.txid, s.kind, s.ordinal, d.id as "addressId", d.payment_id, a.id as "assetId", a.decimals, s.sender,
      s.co_senders, s.coinbase, s.unproven, s.parts, s.raw_amount, s.height, s.block_hash, s.position, s.block_time,
      least(s.block_time, m.first_seen_at) as "firstSeenAt"
    from sightings s
    join lateral (select * from deposit_addresses d where d.address = s.recipient order by (d.network_id = s.network_id) desc, d.id limit 1) d on true
    join assets a on a.network_id = s.network_id and a.contract is not distinct from s.contract
    left join mempool_deposits m on m.network_id = s.network_id and m.txid = s.txid and m.kind = s.kind and m.ordinal = s.ordinal
    where s.network_id = ${networkId} and s.height between ${from} and ${to} and s.canonical and s.kind <> 'sent' and s.raw_amount > 0
      and not exists (select 1 from wallets w where w.address = any(array_append(s.co_senders, s.sender)))
      and not exists (select 1 from deposit_addresses o where o.address = any(array_append(s.co_senders, s.sender)))
      and not exists (select 1 from payout_attempts p where p.txid = s.txid)
    order by s.height, s.position, s.ordinal`;
}

/** Who matched a deposit to its payment by hand. */
export type AllocatedBy = 'inquiry' | 'operator';

/** A candidate with the id its row gets when it is new, its amount in asset units, and who allocated it if the stream did not bring it. */
export type NewDeposit = Omit<DepositCandidate, 'decimals'> & { id: string; amount: Coins; claimedBy: AllocatedBy | null };

/**
 * Stores deposits as seen, or moves known ones to the block they are in now: a dropped one is seen again, one that is
 * still open takes the new facts, one that was booked keeps what it was booked as, and one that an operator allocated keeps
 * its payment. Answers the ids of all of them, and which a reorganisation had taken away after they were booked.
 */
export async function upsertDeposits(tx: Tx, networkId: string, deposits: readonly NewDeposit[]): Promise<{ id: string; lost: boolean }[]> {
  const stored: { id: string; lost: boolean }[] = [];
  for (let start = 0; start < deposits.length; start += CHUNK) {
    const given = deposits.slice(start, start + CHUNK).map(({ amount, ...rest }) => ({ ...rest, amount: formatAmount(amount) }));
    const rows = await tx<{ id: string; lost: boolean }[]>`
      insert into deposits as old (id, network_id, txid, kind, ordinal, address_id, payment_id, asset_id, sender, co_senders, coinbase, unproven, parts, raw_amount, amount,
        height, block_hash, position, block_time, first_seen_at, state, claimed_by)
      select g.id, ${networkId}, g.txid, g.kind, g.ordinal, g."addressId", g."paymentId", g."assetId", g.sender, g."coSenders", g.coinbase, g.unproven, g.parts, g."rawAmount"::numeric,
        g.amount::numeric, g.height, g."blockHash", g.position, g."blockTime", g."firstSeenAt", 'seen', g."claimedBy"
      from jsonb_to_recordset(${tx.json(given)}) as g (id uuid, txid text, kind text, ordinal int, "addressId" uuid, "paymentId" uuid, "assetId" uuid, sender text,
        "coSenders" text[], coinbase boolean, unproven boolean, parts int, "rawAmount" text, amount text, height bigint, "blockHash" text, position int, "blockTime" timestamptz,
        "firstSeenAt" timestamptz, "claimedBy" text)
      on conflict (network_id, txid, kind, ordinal) do update set
        height = excluded.height, block_hash = excluded.block_hash, position = excluded.position, block_time = excluded.block_time,
        first_seen_at = least(old.first_seen_at, excluded.first_seen_at),
        state = case when old.state = 'dropped' then 'seen' else old.state end,
        claimed_by = case when old.state = 'dropped' and old.claimed_by is distinct from 'operator' then coalesce(excluded.claimed_by, old.claimed_by) else old.claimed_by end,
        address_id = case when old.final_at is null then excluded.address_id else old.address_id end,
        payment_id = case when old.final_at is null and old.claimed_by is distinct from 'operator' then excluded.payment_id else old.payment_id end,
        asset_id = case when old.final_at is null then excluded.asset_id else old.asset_id end,
        sender = case when old.final_at is null then excluded.sender else old.sender end,
        co_senders = case when old.final_at is null then excluded.co_senders else old.co_senders end,
        coinbase = case when old.final_at is null then excluded.coinbase else old.coinbase end,
        unproven = case when old.final_at is null then excluded.unproven else old.unproven end,
        parts = case when old.final_at is null then excluded.parts else old.parts end,
        raw_amount = case when old.final_at is null then excluded.raw_amount else old.raw_amount end,
        amount = case when old.final_at is null then excluded.amount else old.amount end
      returning id, lost_at is not null as lost`;
    stored.push(...rows);
  }
  return stored;
}

/** Drops the open deposits of blocks that were orphaned; answers how many. */
export async function dropDeposits(tx: Tx, networkId: string, { above, upTo }: Blocks): Promise<number> {
  const rows = await tx`update deposits set state = 'dropped', waits_since = null, doubted_since = null, doubt = null
    where network_id = ${networkId} and height > ${above} and height <= ${upTo} and state = 'seen' returning 1`;
  return rows.length;
}

export interface BookedDeposit {
  id: string;
  assetId: string;
  amount: Coins;
}

/** Marks deposits of such blocks that were booked already as lost, and answers them (decisions 5). */
export async function loseBookedDeposits(tx: Tx, networkId: string, { above, upTo }: Blocks): Promise<BookedDeposit[]> {
  const rows = await tx<(Omit<BookedDeposit, 'amount'> & { amount: string })[]>`
    update deposits set lost_at = sluice_now()
    where network_id = ${networkId} and height > ${above} and height <= ${upTo} and final_at is not null and lost_at is null
    returning id, asset_id, amount`;
  return rows.map((row) => ({ ...row, amount: parseTrusted(row.amount) }));
}

/** A lost deposit that is back, with what names its transfer. */
export interface RegainedDeposit extends BookedDeposit {
  txid: string;
  kind: TransferKind;
  ordinal: number;
}

/** Clears the mark of lost deposits that are on the canonical chain again with their recipient, asset and amount, and answers them. */
export async function regainDeposits(tx: Tx, ids: readonly string[]): Promise<RegainedDeposit[]> {
  const rows = await tx<(Omit<RegainedDeposit, 'amount'> & { amount: string })[]>`
    update deposits d set lost_at = null where d.id ${isOneOf(tx, ids)} and d.lost_at is not null and exists (
      select 1 from sightings g join deposit_addresses x on x.id = d.address_id join assets a on a.id = d.asset_id
      where g.network_id = d.network_id and g.txid = d.txid and g.kind = d.kind and g.ordinal = d.ordinal and g.canonical
        and g.recipient = x.address and g.raw_amount = d.raw_amount and g.contract is not distinct from a.contract)
    returning id, asset_id, amount, txid, kind, ordinal`;
  return rows.map((row) => ({ ...row, amount: parseTrusted(row.amount) }));
}

/** An open deposit with what deciding about it takes. */
export interface OpenDeposit {
  id: string;
  networkId: string;
  txid: string;
  kind: TransferKind;
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
  /** The same in chain units. */
  rawAmount: string;
  /** The deposit address it went to, canonical. */
  recipient: string;
  /** Contract of its asset; null for the native coin. */
  contract: string | null;
  height: number;
  blockHash: string;
  position: number;
  blockTime: Date;
  /** Its coins were made in its block. */
  coinbase: boolean;
  /** No root covers it: two providers must tell of it, whatever its amount (decision 0039). */
  unproven: boolean;
  /** How many transfers it stands for; null for one (decision 0030). */
  parts: number | null;
  firstSeenAt: Date;
  /** False when it arrived on a network its address was not assigned for. */
  onOwnNetwork: boolean;
  claimedBy: AllocatedBy | null;
  /** True when it was set aside before it was allocated. */
  wasSetAside: boolean;
}

type OpenRow = Omit<OpenDeposit, 'dustFloor' | 'assetNetworkFee' | 'amount'> & { dustFloor: string; assetNetworkFee: string; amount: string };

/** A payment that has an open deposit. */
export interface OpenPayment {
  paymentId: string;
  gatewayId: string;
  /** Tickers of these deposits. */
  symbols: readonly string[];
  /** Whether one of them waits for a second provider. */
  doubted: boolean;
  /** The prices without which nothing can be done about it: tickers, and `fiat:<CODE>` of an open amount. Empty where one of them waits for no price and for no other deposit. */
  waitsFor: readonly string[];
}

/** The payments that have an open deposit on a network at or below a height, in the order of their first one; takes no lock. */
export async function listPaymentsWithOpenDeposits(reads: Reads, networkId: string, upToHeight: number): Promise<OpenPayment[]> {
  return reads<OpenPayment[]>`
    select d.payment_id, p.gateway_id, array_agg(distinct a.symbol) as symbols, bool_or(d.doubted_since is not null) as doubted,
      case when bool_or(d.waits_since is not null) and (p.status in ('PENDING', 'EXPIRED') or bool_and(d.waits_since is not null))
        then array_agg(distinct a.symbol) filter (where d.waits_since is not null)
          || case when p.open_amount and p.currency_code <> 'USD' then array['fiat:' || p.currency_code] else '{}'::text[] end
        else '{}'::text[] end as "waitsFor"
    from deposits d join assets a on a.id = d.asset_id join payments p on p.id = d.payment_id
    where d.network_id = ${networkId} and d.state = 'seen' and d.height <= ${upToHeight}
    group by d.payment_id, p.gateway_id, p.status, p.open_amount, p.currency_code order by min(d.height), d.payment_id`;
}

/** Which of these networks have a deposit to be decided about, or anything at an address of ours that is not booked; locks nothing. */
export async function listNetworksToCredit(reads: Reads, networkIds: readonly string[]): Promise<string[]> {
  return (await networksToCredit(reads, networkIds)).map(({ id }) => id);
}

/** Whether there are any; a condition. */
export function isAnyToCredit(reads: Reads, networkIds: readonly string[]): ReturnType<Reads> {
  return reads`exists (${networksToCredit(reads, networkIds)})`;
}

function networksToCredit(reads: Reads, networkIds: readonly string[]) {
  return reads<{ id: string }[]>`
    select n.id from unnest(${networkIds as string[]}::uuid[]) as n (id)
    where exists (select 1 from deposits d where d.network_id = n.id and d.state = 'seen')
      or exists (select 1 from sightings s where s.network_id = n.id and s.canonical and s.booked_at is null and s.kind <> 'sent')`;
}

/** The open deposits of one payment on every network, the earliest block first, in chain order within a network (whose block times may step back); takes no lock. */
export async function listOpenDeposits(reads: Reads, paymentId: string): Promise<OpenDeposit[]> {
  const rows = await reads<OpenRow[]>`
    select d.id, d.network_id, d.txid, d.kind, d.ordinal, d.payment_id, d.address_id, d.asset_id, a.symbol, a.decimals,
      a.dust_floor, a.network_fee as "assetNetworkFee", d.amount, d.raw_amount, x.address as recipient, a.contract, d.height, d.block_hash, d.position, d.block_time, d.coinbase, d.unproven, d.parts,
      d.first_seen_at, x.network_id = d.network_id as "onOwnNetwork", d.claimed_by, 
      exists (select 1 from ledger_transactions t where t.source_key = 'deposit:' || d.id) as "wasSetAside"
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

/** A deposit as far as somebody who names its transaction needs it. */
export interface NamedDeposit {
  id: string;
  networkId: string;
  txid: string;
  kind: TransferKind;
  ordinal: number;
  /** The payment it belongs to now. */
  paymentId: string;
  state: 'seen' | 'dropped' | 'credited' | 'dust' | 'unallocated';
  assetId: string;
  symbol: string;
  amount: Coins;
  height: number;
  firstSeenAt: Date;
  onOwnNetwork: boolean;
  claimedBy: AllocatedBy | null;
  /** Below its asset's dust floor. */
  dust: boolean;
  /** True while it is final and waits for a price. */
  waits: boolean;
  /** True when a reorganisation took it away after it was booked. */
  lost: boolean;
  /** How many transfers it stands for; null for one (decision 0030). */
  parts: number | null;
}

type NamedRow = Omit<NamedDeposit, 'amount'> & { amount: string };

/** The deposits of these transactions, in chain order; of one that stands for transfers of others too, what these transactions have of it. Takes no lock. */
export async function listDepositsOfTransactions(reads: Reads, transactions: readonly TransactionKey[]): Promise<NamedDeposit[]> {
  const rows = await reads<(NamedRow & { part: string | null; decimals: number })[]>`
    select ${named(reads)}, a.decimals, w.part::text as part from (${wantedOf(reads, transactions)}) w join deposits d on d.id = w.id
      join assets a on a.id = d.asset_id join deposit_addresses x on x.id = d.address_id
    order by d.network_id, d.position, d.ordinal, d.id`;
  return rows.map(({ part, decimals, ...row }) => ({ ...row, amount: part === null ? parseTrusted(row.amount) : fromUnits(BigInt(part), decimals) }));
}

/** Locks a payment's deposits among these transactions until commit, by id. */
export async function lockDepositsOfTransactions(tx: Tx, paymentId: string, transactions: readonly TransactionKey[]): Promise<void> {
  await tx`
    select 1 from deposits d where d.payment_id = ${paymentId} and d.id in (select w.id from (${wantedOf(tx, transactions)}) w) order by d.id for update of d`;
}

interface TransactionKey {
  networkId: string;
  txid: string;
}

/** Ids of the deposits that have a transfer of these transactions, and of sums how many chain units of theirs. */
function wantedOf(reads: Reads, transactions: readonly TransactionKey[]) {
  const keys = reads`unnest(${transactions.map((t) => t.networkId)}::uuid[], ${transactions.map((t) => t.txid)}::text[]) as k (network_id, txid)`;
  return reads`
    select d.id, null::numeric as part from ${keys} join deposits d on d.network_id = k.network_id and d.txid = k.txid and d.parts is null
    union all
    select d.id, (select sum(p.raw_amount) from unnest(s.txids, s.raw_amounts) p (txid, raw_amount) where p.txid = k.txid)
    from ${keys} join transfer_sums s on s.network_id = k.network_id and s.txids @> array[k.txid]
      join deposits d on d.network_id = s.network_id and d.block_hash = s.block_hash and d.txid = s.txid and d.kind = s.kind and d.ordinal = s.ordinal and d.parts is not null`;
}

/** Reads one deposit and locks its row until commit. */
export async function lockDeposit(tx: Tx, id: string): Promise<NamedDeposit | undefined> {
  const [row] = await tx<NamedRow[]>`
    select ${named(tx)} from deposits d join assets a on a.id = d.asset_id join deposit_addresses x on x.id = d.address_id where d.id = ${id} for update of d`;
  return row && { ...row, amount: parseTrusted(row.amount) };
}

function named(reads: Reads) {
  return reads`d.id, d.network_id, d.txid, d.kind, d.ordinal, d.payment_id, d.state, d.asset_id, a.symbol,
    d.amount, d.height, d.first_seen_at, x.network_id = d.network_id as "onOwnNetwork", d.claimed_by, d.waits_since is not null as waits,
    d.amount < a.dust_floor as dust, d.lost_at is not null as lost, d.parts`;
}

/**
 * Gives deposits to a payment by hand, so that the next pass credits them whatever their network or time: open ones, and
 * those set aside, which are open again. One that was credited, dropped or lost stays as it is. The caller holds the
 * payment's lock; locks the rows.
 */
export async function markAllocated(tx: Tx, ids: readonly string[], claim: { by: AllocatedBy; paymentId: string }): Promise<void> {
  await tx`
    update deposits set state = 'seen', final_at = null, claimed_by = ${claim.by}, payment_id = ${claim.paymentId}
    where id = any(${[...ids]}::uuid[]) and state in ('seen', 'unallocated', 'dust') and lost_at is null`;
}

/** Locks the open deposits of a payment until commit, by id, and answers their ids: until then nothing about them changes. */
export async function lockOpenDeposits(tx: Tx, paymentId: string): Promise<Set<string>> {
  const rows = await tx<{ id: string }[]>`select id from deposits where payment_id = ${paymentId} and state = 'seen' order by id for update`;
  return new Set(rows.map((row) => row.id));
}

/** Notes that final deposits wait for a price, and answers since when the first of them does; the caller holds their locks. */
export async function noteWaiting(tx: Tx, ids: readonly string[]): Promise<Date> {
  const rows = await tx<{ since: Date }[]>`
    update deposits set waits_since = coalesce(waits_since, sluice_now()) where id = any(${[...ids]}::uuid[]) returning waits_since as since`;
  return new Date(rows.reduce((earliest, { since }) => Math.min(earliest, since.getTime()), Number.POSITIVE_INFINITY));
}

/** Gives locked deposits their final outcome; a credit is written before the deposits that are part of it. */
export async function settleDeposits(
  tx: Tx,
  ids: readonly string[],
  outcome: { state: 'credited'; creditId: string; usdPrice: Usd | null; path: DepositPath } | { state: 'dust' | 'unallocated' },
): Promise<void> {
  const { creditId, usdPrice, path } = outcome.state === 'credited' ? outcome : { creditId: null, usdPrice: null, path: null };
  await tx`
    update deposits set state = ${outcome.state}, final_at = sluice_now(), waits_since = null, doubted_since = null, doubt = null, path = ${path},
      credit_id = ${creditId}, usd_price = ${usdPrice === null ? null : formatAmount(usdPrice)}::text::numeric
    where id ${isOneOf(tx, ids)}`;
}

/** Why a deposit waits: too few providers tell of it, one tells otherwise, or the other one cannot see what contracts pass on. */
export type Doubt = 'unreachable' | 'disputed' | 'unseen';

/** Notes that and why final deposits wait for a second provider to confirm them, and answers since when the first of them does; the caller holds their locks. */
export async function noteDoubted(tx: Tx, ids: readonly string[], why: Doubt): Promise<Date> {
  const rows = await tx<{ since: Date }[]>`
    update deposits set doubted_since = coalesce(doubted_since, sluice_now()), doubt = ${why} where id = any(${[...ids]}::uuid[]) returning doubted_since as since`;
  return new Date(rows.reduce((earliest, { since }) => Math.min(earliest, since.getTime()), Number.POSITIVE_INFINITY));
}
