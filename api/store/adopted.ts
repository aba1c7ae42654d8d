import type { Reads, Tx } from '#shared/platform/postgres.ts';
import type { WalletRole } from './wallets.ts';

/** A final transaction that one of our addresses sent, as the chain shows it. */
export interface OutgoingTransaction {
  networkId: string;
  txid: string;
  height: number;
  /** Where it came from; of several addresses the first. */
  sender: string;
  nonce: number | null;
  /** Its effect reached the books: as a loss, where nobody knew better. */
  booked: boolean;
  final: boolean;
  succeeded: boolean | null;
}

/** What it moved to addresses that are not ours, by asset. */
export interface LeavingTransfer {
  assetId: string;
  symbol: string;
  decimals: number;
  recipient: string;
  rawAmount: bigint;
}

/** A cashout that a transaction may have paid: same recipient, asset and amount, and not paid yet. */
export interface PayableSettlement {
  settlementId: string;
  gatewayId: string;
  status: string;
}

/** Whether neither stored bytes nor an operator explain the transaction whose id `txid` is: for the where clause of queries about what our addresses sent. */
export function isUnexplained(sql: Reads, txid: ReturnType<Reads>): ReturnType<Reads> {
  return sql`(not exists (select 1 from payout_attempts t where t.txid = ${txid}) and not exists (select 1 from adopted_transactions d where d.txid = ${txid}))`;
}

/**
 * Sightings that nothing explained at first (decision 0083), one by one by their ids: `offset 0` keeps the planner, which takes a list that is always empty for a
 * long one, from reading all sightings for it.
 */
export function listedOutgoing(sql: Reads): ReturnType<Reads> {
  return sql`
    select s.* from (select distinct sighting_id from unknown_outgoing) k cross join lateral (select * from sightings where id = k.sighting_id offset 0) s`;
}

/** What addresses of ours sent on the canonical chain that nothing explains, as sightings. */
export function unknownOutgoing(sql: Reads): ReturnType<Reads> {
  return sql`select s.* from (${listedOutgoing(sql)}) s where s.kind = 'sent' and s.canonical and ${isUnexplained(sql, sql`s.txid`)}`;
}

/** Transactions from addresses of ours on the canonical chain that nothing explains, oldest first. Locks nothing. */
export async function listUnexplained(sql: Reads, networkId: string): Promise<OutgoingTransaction[]> {
  return sql<OutgoingTransaction[]>`
    select ${columns(sql)} from (${unknownOutgoing(sql)}) g join chain_tips t on t.network_id = g.network_id
    where g.network_id = ${networkId} order by g.id limit 500`;
}

/** Reads one, whether explained or not; undefined while no canonical block holds it. Locks nothing. */
export async function findOutgoing(sql: Reads, networkId: string, txid: string): Promise<(OutgoingTransaction & { unexplained: boolean }) | undefined> {
  const [row] = await sql<(OutgoingTransaction & { unexplained: boolean })[]>`
    select ${columns(sql)}, ${isUnexplained(sql, sql`g.txid`)} as unexplained from sightings g join chain_tips t on t.network_id = g.network_id
    where g.network_id = ${networkId} and g.txid = ${txid} and g.kind = 'sent' and g.canonical order by g.id limit 1`;
  return row;
}

/** What a transaction moved away from us, of configured assets. Locks nothing. */
export async function listLeaving(sql: Reads, networkId: string, txid: string): Promise<LeavingTransfer[]> {
  const rows = await sql<(Omit<LeavingTransfer, 'rawAmount'> & { rawAmount: string })[]>`
    select a.id as "assetId", a.symbol, a.decimals, g.recipient, sum(g.raw_amount)::text as "rawAmount"
    from sightings g join assets a on a.network_id = g.network_id and a.contract is not distinct from g.contract
    where g.network_id = ${networkId} and g.txid = ${txid} and g.kind <> 'sent' and g.canonical and g.raw_amount > 0
      and not exists (select 1 from wallets w where w.network_id = g.network_id and w.address = g.recipient)
      and not exists (select 1 from deposit_addresses d where d.address = g.recipient)
    group by a.id, a.symbol, a.decimals, g.recipient order by a.symbol, g.recipient`;
  return rows.map((row) => ({ ...row, rawAmount: BigInt(row.rawAmount) }));
}

/** Cashouts that are still to be paid exactly what a transfer moved, to the same address. Locks nothing. */
export async function listPayable(sql: Reads, transfer: LeavingTransfer): Promise<PayableSettlement[]> {
  return sql<PayableSettlement[]>`
    select s.id as "settlementId", s.gateway_id, s.status from settlements s join address_book b on b.id = s.address_id
    where s.asset_id = ${transfer.assetId} and b.address = ${transfer.recipient} and s.status in ('PENDING_APPROVAL', 'REQUESTED', 'PROCESSING')
      and s.net_amount * (10::numeric ^ ${transfer.decimals}::int) = ${transfer.rawAmount.toString()}::text::numeric
    order by s.created_at, s.id limit 20`;
}

/**
 * Cashouts that a transfer may have paid after they claimed, in the time that was lost: parked in the books, or claimed there anew at another
 * fee; to the same address, of at least what arrived. Locks nothing.
 */
export async function listParkedPayable(sql: Reads, transfer: LeavingTransfer): Promise<PayableSettlement[]> {
  return sql<PayableSettlement[]>`
    select s.id as "settlementId", s.gateway_id, s.status from settlements s join address_book b on b.id = s.address_id
    where s.asset_id = ${transfer.assetId} and b.address = ${transfer.recipient} and s.order_mac is not null
      and (s.status in ('UNDERFUNDED', 'WAITING_AML_CREDIT') or s.status in ('PENDING_APPROVAL', 'REQUESTED')
        and s.net_amount * (10::numeric ^ ${transfer.decimals}::int) <> ${transfer.rawAmount.toString()}::text::numeric)
      and s.amount * (10::numeric ^ ${transfer.decimals}::int) >= ${transfer.rawAmount.toString()}::text::numeric
    order by s.created_at, s.id limit 20`;
}

/** Refunds and transfers of withheld coins that are still to be paid exactly what a transfer moved, to the same address. Locks nothing. */
export async function listPayableOrders(sql: Reads, transfer: LeavingTransfer): Promise<PayableSettlement[]> {
  return sql<PayableSettlement[]>`
    select o.id as "settlementId", o.gateway_id, 'ordered' as status from (
      select id, gateway_id, asset_id, recipient, amount, ordered_at from aml_refunds where status = 'ordered'
      union all
      select id, gateway_id, asset_id, recipient, amount, ordered_at from withheld_transfers where status = 'ordered') o
    where o.asset_id = ${transfer.assetId} and o.recipient = ${transfer.recipient}
      and o.amount * (10::numeric ^ ${transfer.decimals}::int) = ${transfer.rawAmount.toString()}::text::numeric
    order by o.ordered_at, o.id limit 20`;
}

/**
 * A parked cashout of a gateway that a transfer may have paid after it claimed, in the time that was lost: same recipient and asset, of
 * `amount`, or, when that is not known, of at least what arrived. Locks nothing.
 */
export async function findParked(sql: Reads, gatewayId: string, transfer: LeavingTransfer, amount: string | null): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    select s.id from settlements s join address_book b on b.id = s.address_id
    where s.gateway_id = ${gatewayId} and s.asset_id = ${transfer.assetId} and b.address = ${transfer.recipient}
      and s.status in ('UNDERFUNDED', 'WAITING_AML_CREDIT')
      and (s.amount = ${amount}::text::numeric or ${amount === null}
        and s.amount * (10::numeric ^ ${transfer.decimals}::int) >= ${transfer.rawAmount.toString()}::text::numeric)
    order by s.created_at, s.id limit 1`;
  return row?.id;
}

/** Whether a transaction on the canonical chain spends an output, `txid:vout`. Locks nothing. */
export async function spendsOutput(sql: Reads, { networkId, txid }: { networkId: string; txid: string }, output: string): Promise<boolean> {
  const rows = await sql`
    select 1 from sightings g join spent_outputs x on x.sighting_id = g.id
    where g.network_id = ${networkId} and g.txid = ${txid} and g.canonical and x.txid || ':' || x.vout = ${output}`;
  return rows.length > 0;
}

/** What of an asset was booked as lost with a transaction, decimal text. Locks nothing. */
export async function sumLost(sql: Reads, lost: { networkId: string; txid: string; assetId: string }): Promise<string> {
  const [row] = await sql<[{ sum: string }]>`
    select coalesce(-sum(e.amount), 0)::text as sum from ledger_transactions l
      join ledger_entries e on e.transaction_id = l.id and e.asset_id = ${lost.assetId} join ledger_accounts k on k.id = e.account_id and k.kind = 'loss'
    where l.source_key like ${`loss:${lost.networkId}:${lost.txid}:%`}`;
  return row.sum;
}

/** Writes that a transaction is ours after all; false when it was adopted before. */
export async function insertAdopted(
  tx: Tx,
  adopted: { networkId: string; txid: string; settlementId: string | null; refundId: string | null; withheldId: string | null; reason: string },
): Promise<boolean> {
  const { settlementId, refundId, withheldId } = adopted;
  const purpose = settlementId !== null ? 'settlement' : refundId !== null ? 'refund' : withheldId !== null ? 'withheld' : 'other';
  const rows = await tx`
    insert into adopted_transactions (network_id, txid, purpose, settlement_id, refund_id, withheld_id, reason)
    values (${adopted.networkId}, ${adopted.txid}, ${purpose}, ${settlementId}, ${refundId}, ${withheldId}, ${adopted.reason})
    on conflict (network_id, txid) do nothing returning txid`;
  return rows.length === 1;
}

/**
 * Lets wallets of a network work again that were stopped only because of transactions nobody knew, once every one of those is explained;
 * and takes note of the nonces that the lost transactions used. Where coins are outputs, wallets pay with what lies at other addresses
 * too, so there all of the network must be explained. Answers the addresses. Locks the wallets.
 */
export async function reviveWallets(tx: Tx, networkId: string): Promise<string[]> {
  await tx`
    update wallets w set next_nonce = greatest(w.next_nonce, u.next) from (
      select g.sender, max(g.nonce) + 1 as next from sightings g join adopted_transactions d on d.network_id = g.network_id and d.txid = g.txid
      where g.network_id = ${networkId} and g.kind = 'sent' and g.canonical and g.nonce is not null group by g.sender) u
    where w.network_id = ${networkId} and w.address = u.sender and w.next_nonce < u.next`;
  const rows = await tx<{ address: string }[]>`
    update wallets w set halted_reason = null
    where w.network_id = ${networkId} and (w.halted_reason like 'transaction % is not one of ours%' or w.halted_reason like 'the chain has used nonce %')
      and not exists (
        select 1 from (${unknownOutgoing(tx)}) g where g.network_id = w.network_id
          and (g.sender = w.address or w.halted_reason like 'transaction ' || g.txid || ' is not one of ours%'
            or exists (select 1 from spent_outputs x where x.sighting_id = g.id)))
    returning address`;
  return rows.map((row) => row.address);
}

/** A wallet nothing is sent from, why, and what the books still have to be told before it may be cleared. */
export interface HaltedWallet {
  id: string;
  network: string;
  role: WalletRole;
  address: string;
  reason: string;
  /** Transactions that nothing explains: adopted first, or, where they only took tokens away, booked once they are final. */
  unexplained: string[];
}

/** Every wallet that was stopped, with what is missing; those of one network, if one is named. Locks nothing. */
export async function listHaltedWallets(sql: Reads, networkId: string | null = null): Promise<HaltedWallet[]> {
  return sql<HaltedWallet[]>`
    select w.id, n.name as network, w.role, w.address, w.halted_reason as reason, array(
      select g.txid from (${unknownOutgoing(sql)}) g
      where g.network_id = w.network_id and (g.sender = w.address or w.halted_reason like 'transaction ' || g.txid || ' is not one of ours%'
        or exists (select 1 from spent_outputs x where x.sighting_id = g.id))
      union
      select g.txid from sightings g
      where g.network_id = w.network_id and g.canonical and g.booked_at is null and g.kind <> 'sent' and g.sender = w.address and g.raw_amount > 0
        and (g.contract is null or exists (select 1 from assets a where a.network_id = g.network_id and a.contract = g.contract))
        and ${isUnexplained(sql, sql`g.txid`)}
      order by 1 limit 20) as unexplained
    from wallets w join networks n on n.id = w.network_id
    where w.halted_reason is not null and (${networkId}::uuid is null or w.network_id = ${networkId}) order by n.name, w.role, w.address`;
}

/** How many transactions of our addresses nothing explains, by network; those that have none left out. Locks nothing. */
export async function countUnexplained(sql: Reads): Promise<{ network: string; transactions: number }[]> {
  return sql<{ network: string; transactions: number }[]>`
    select n.name as network, count(distinct g.txid)::int as transactions from (${unknownOutgoing(sql)}) g join networks n on n.id = g.network_id
    group by n.name order by n.name`;
}

function columns(sql: Reads) {
  return sql`g.network_id, g.txid, g.height, g.sender, g.nonce, g.booked_at is not null as booked, g.height <= t.final_height as final, g.succeeded`;
}

/** A payout of which nothing can be mined beside a transaction that used its nonce or its anchor. */
export interface DisplacedPayout {
  id: string;
  walletId: string;
  settlementId: string | null;
}

/**
 * The open payouts whose nonce or whose anchor a transaction has used, other than by their own stored bytes. A sweep, or coins that follow their
 * payment, of exactly what that transaction moved is not among them: it is what the transaction was, and must not be made again. Locks nothing.
 */
export async function listDisplaced(sql: Reads, by: OutgoingTransaction): Promise<DisplacedPayout[]> {
  return sql<DisplacedPayout[]>`
    select p.id, p.wallet_id, p.settlement_id from payouts p join wallets w on w.id = p.wallet_id join assets a on a.id = p.asset_id
    where p.network_id = ${by.networkId} and p.status in ('PLANNED', 'SIGNED', 'BROADCAST', 'REPLACING')
      and (p.nonce = ${by.nonce}::bigint and w.address = ${by.sender} or p.anchor is not null and exists (
        select 1 from sightings g join spent_outputs x on x.sighting_id = g.id
        where g.network_id = p.network_id and g.txid = ${by.txid} and g.canonical and x.txid || ':' || x.vout = p.anchor))
      and not exists (select 1 from payout_attempts t where t.payout_id = p.id and t.txid = ${by.txid})
      and not (p.purpose in ('sweep', 'held_release') and exists (
        select 1 from sightings m where m.network_id = p.network_id and m.txid = ${by.txid} and m.canonical and m.kind <> 'sent' and m.recipient = p.recipient
          and m.contract is not distinct from a.contract and m.raw_amount = p.raw_amount))
    order by p.settlement_id nulls last, p.id`;
}

/**
 * The final transaction that has used a payout's nonce, or spent its anchor, though none of its own bytes did, by the word of an operator
 * (decision 0024); undefined when there is none. Locks nothing.
 */
export async function findDisplacer(sql: Reads, payoutId: string): Promise<string | undefined> {
  const [row] = await sql<{ txid: string }[]>`
    select g.txid from payouts p join wallets w on w.id = p.wallet_id
      join sightings g on g.network_id = p.network_id and g.kind = 'sent' and g.canonical
      join adopted_transactions d on d.network_id = g.network_id and d.txid = g.txid
      join chain_tips t on t.network_id = g.network_id and g.height <= t.final_height
    where p.id = ${payoutId} and not exists (select 1 from payout_attempts b where b.txid = g.txid)
      and (p.nonce = g.nonce and g.sender = w.address
        or p.anchor is not null and exists (select 1 from spent_outputs x where x.sighting_id = g.id and x.txid || ':' || x.vout = p.anchor))
    order by g.id limit 1`;
  return row?.txid;
}
