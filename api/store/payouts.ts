import type { Reads, Tx } from '#shared/platform/postgres.ts';
import type { PayoutStatus } from '#state-machines/payout/machine.ts';
import { noteTrace } from './traces.ts';

export type PayoutPurpose = 'settlement' | 'refund' | 'sweep' | 'top_up' | 'held_release' | 'close' | 'consolidation' | 'withheld' | 'cold';

/** What the worker decided about the next bytes of a payout; handed to the signer, which checks it. */
export interface PayoutPlan {
  /** The most they may cost, native units, decimal. Absent while a sweep waits for its gas: then nothing is planned yet. */
  rawFee?: string;
  /** Family-specific fee fields of the quote. */
  fields?: Record<string, string>;
  /** Unix milliseconds after which the chain takes no bytes made of these fields; null or absent where bytes never expire. */
  expiresAtMs?: number | null;
  /** Gas or energy of the quote, decimal; absent where the destination has no say in it. */
  units?: string;
  /** Set when the payout is closed because the network refuses what its destination does with the transfer. */
  refused?: true;
  /** Service time of the quote, ISO 8601. */
  quotedAt?: string;
  /** Service time since when nothing further can be sent, ISO 8601; absent while something can. */
  stuckSince?: string;
  /** Present when the next bytes close the payout, because worker or operator decided so (treasury/close-mark.ts). */
  closeMark?: string;
  /** Set when the payout failed for good and one new payout is to be made without asking (decisions 10). */
  repay?: boolean;
}

/** One intent and its mutually exclusive transactions, with the wallet that pays. */
export interface StoredPayout {
  id: string;
  networkId: string;
  networkName: string;
  walletId: string;
  walletAddress: string;
  purpose: PayoutPurpose;
  settlementId: string | null;
  /** The refund it pays; null for every other purpose. */
  refundId: string | null;
  /** The transfer of withheld coins it carries out; null for every other purpose. */
  withheldId: string | null;
  /** The payment whose coins follow it into another pool; null for every other purpose. */
  paymentId: string | null;
  family: number;
  parentId: string | null;
  status: PayoutStatus;
  assetId: string;
  assetSymbol: string;
  contract: string | null;
  decimals: number;
  recipient: string;
  rawAmount: bigint;
  nonce: number | null;
  /** The output, as `txid:vout`, that all of its attempts spend first; null on families whose coins are balances. */
  anchor: string | null;
  plan: PayoutPlan;
  /** The most any of its bytes may cost, those planned included; only one of them can ever be paid. Native units. */
  rawFeeAtMost: bigint;
  /** The transaction whose outcome is final. */
  txid: string | null;
  failure: string | null;
}

type Row = Omit<StoredPayout, 'rawAmount' | 'rawFeeAtMost'> & { rawAmount: string; rawFeeAtMost: string };

export interface NewPayout {
  id: string;
  networkId: string;
  walletId: string;
  purpose: PayoutPurpose;
  settlementId: string | null;
  refundId: string | null;
  withheldId?: string | null;
  paymentId: string | null;
  family: number;
  parentId: string | null;
  assetId: string;
  recipient: string;
  rawAmount: bigint;
  nonce: number | null;
  anchor: string | null;
  plan: PayoutPlan;
}

/** Adds a planned payout; the caller holds its wallet's lock. */
export async function insertPayout(tx: Tx, p: NewPayout): Promise<void> {
  await tx`
    insert into payouts (id, network_id, wallet_id, purpose, settlement_id, refund_id, payment_id, family, parent_id, status, asset_id, recipient, raw_amount,
      nonce, anchor, plan, created_at)
    values (${p.id}, ${p.networkId}, ${p.walletId}, ${p.purpose}, ${p.settlementId}, ${p.refundId}, ${p.paymentId}, ${p.family}, ${p.parentId}, 'PLANNED',
      ${p.assetId}, ${p.recipient}, ${p.rawAmount.toString()}::text::numeric, ${p.nonce}, ${p.anchor}, ${tx.json(json(p.plan))}, sluice_now())`;
  if (typeof p.withheldId === 'string') await tx`insert into withheld_payouts (payout_id, transfer_id) values (${p.id}, ${p.withheldId})`;
  await noteTrace(tx, p.id);
}

/** Gives a payout that waited for gas its amount, nonce and fee; the caller holds its wallet's lock. False when it is no longer waiting. */
export async function completePlan(tx: Tx, id: string, given: { rawAmount: bigint; nonce: number | null; plan: PayoutPlan }): Promise<boolean> {
  const rows = await tx`
    update payouts set raw_amount = ${given.rawAmount.toString()}::text::numeric, nonce = ${given.nonce}, plan = ${tx.json(json(given.plan))}
    where id = ${id} and status = 'PLANNED' and not plan ? 'rawFee' returning id`;
  return rows.length === 1;
}

/** Writes a fresh plan, and the amount and the anchor that go with it, for bytes still to be signed; the caller holds the payout's lock. */
export async function replan(tx: Tx, id: string, given: { rawAmount: bigint; anchor: string | null; plan: PayoutPlan }): Promise<void> {
  await tx`
    update payouts set raw_amount = ${given.rawAmount.toString()}::text::numeric, anchor = ${given.anchor}, plan = ${tx.json(json(given.plan))}
    where id = ${id}`;
}

/** Notes in a payout's plan that nothing further can be sent from now on, unless that is noted or the plan changed. Locks its row. */
export async function noteStuck(sql: Reads, id: string, plan: PayoutPlan): Promise<void> {
  await sql`
    update payouts set plan = plan || jsonb_build_object('stuckSince', sluice_now())
    where id = ${id} and plan = ${sql.json(json(plan))} and not plan ? 'stuckSince'`;
}

/** Forgets since when nothing further can be sent: something could be by now. Locks its row when that was noted. */
export async function clearStuck(sql: Reads, id: string): Promise<void> {
  await sql`update payouts set plan = plan - 'stuckSince' where id = ${id} and status in ('PLANNED', 'REPLACING') and plan ? 'stuckSince'`;
}

/** Writes why the signer will not sign a payout; null clears it. Locks its row when that changes. Returns whether it changed. */
export async function setPayoutFailure(sql: Reads, id: string, failure: string | null): Promise<boolean> {
  const rows = await sql`update payouts set failure = ${failure} where id = ${id} and failure is distinct from ${failure} returning id`;
  return rows.length === 1;
}

/** Reads one payout; locks nothing. */
export async function findPayout(sql: Reads, id: string): Promise<StoredPayout | undefined> {
  const [row] = await sql<Row[]>`select ${columns(sql)} from ${joined(sql)} where p.id = ${id}`;
  return row && fromRow(row);
}

/** Reads one payout and locks its row until commit: after its settlement and wallet, before ledger accounts. */
export async function lockPayout(tx: Tx, id: string): Promise<StoredPayout | undefined> {
  const [row] = await tx<Row[]>`select ${columns(tx)} from ${joined(tx)} where p.id = ${id} for update of p`;
  return row && fromRow(row);
}

/** The payouts made to pay a settlement, oldest first; locks nothing. */
export async function listSettlementPayouts(sql: Reads, settlementId: string): Promise<StoredPayout[]> {
  const rows = await sql<Row[]>`
    select ${columns(sql)} from ${joined(sql)} where p.settlement_id = ${settlementId} and p.purpose = 'settlement' order by p.family, p.created_at, p.id`;
  return rows.map(fromRow);
}

/** The payouts made to pay a refund, oldest first; locks nothing. */
export async function listRefundPayouts(sql: Reads, refundId: string): Promise<StoredPayout[]> {
  const rows = await sql<Row[]>`select ${columns(sql)} from ${joined(sql)} where p.refund_id = ${refundId} order by p.family, p.created_at, p.id`;
  return rows.map(fromRow);
}

/** The payouts made to carry out a transfer of withheld coins, oldest first; locks nothing. */
export async function listWithheldPayouts(sql: Reads, transferId: string): Promise<StoredPayout[]> {
  const rows = await sql<Row[]>`
    select ${columns(sql)} from ${joined(sql)} join withheld_payouts x on x.payout_id = p.id where x.transfer_id = ${transferId} order by p.family, p.created_at, p.id`;
  return rows.map(fromRow);
}

/** Every transfer between wallets made because a payment changed its pool, of one asset, oldest first; locks nothing. */
export async function listPoolTransfers(sql: Reads, move: { paymentId: string; assetId: string }): Promise<StoredPayout[]> {
  const rows = await sql<Row[]>`
    select ${columns(sql)} from ${joined(sql)} where p.payment_id = ${move.paymentId} and p.asset_id = ${move.assetId} order by p.created_at, p.id`;
  return rows.map(fromRow);
}

/** A transfer between wallets made because a payment changed its pool, as far as people see it. */
export interface PoolTransferLine extends Pick<StoredPayout, 'id' | 'assetId' | 'family' | 'status' | 'failure'> {
  /** Whether an operator has allowed one more after it. */
  allowed: boolean;
}

/** The same of every asset of a payment, oldest first; locks nothing. */
export async function listPoolTransferLines(sql: Reads, paymentId: string): Promise<PoolTransferLine[]> {
  return sql<PoolTransferLine[]>`
    select p.id, p.asset_id, p.family, p.status, p.failure, f.payout_id is not null as allowed
    from payouts p left join further_transfers f on f.payout_id = p.id where p.payment_id = ${paymentId} order by p.created_at, p.id`;
}

/**
 * The payouts of a wallet whose coins the chain's latest state may still show: everything with a fee planned that is not in
 * a block yet. A sweep that waits for its gas has no claim on anything. Locks nothing; true only while the wallet is locked.
 */
export async function listCommitted(sql: Reads, walletId: string, alsoIds: readonly string[]): Promise<StoredPayout[]> {
  const rows = await sql<Row[]>`
    select ${columns(sql)} from ${joined(sql)}
    where p.wallet_id = ${walletId} and ((p.status in ('PLANNED', 'SIGNED', 'BROADCAST', 'REPLACING') and p.plan ? 'rawFee') or p.id = any(${[...alsoIds]}::uuid[]))`;
  return rows.map(fromRow);
}

/** Payouts without a settlement's money that are still under way to an address of ours or to cold storage. Locks nothing. */
export async function listUnderWay(sql: Reads, target: { networkId: string; purpose: 'sweep' | 'top_up' | 'cold' | 'consolidation' }): Promise<StoredPayout[]> {
  const rows = await sql<Row[]>`
    select ${columns(sql)} from ${joined(sql)}
    where p.network_id = ${target.networkId} and p.purpose = ${target.purpose} and p.status not in ('CONFIRMED', 'FAILED', 'CANCELLED')
    order by p.created_at, p.id`;
  return rows.map(fromRow);
}

/** Counts a gateway's cashouts that hold a nonce of a wallet and are in no block; true until commit only while the wallet is locked. */
export async function countUnmined(sql: Reads, { walletId, gatewayId }: { walletId: string; gatewayId: string }): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*) as count from payouts p join settlements s on s.id = p.settlement_id
    where p.wallet_id = ${walletId} and s.gateway_id = ${gatewayId} and p.purpose = 'settlement' and p.status in ('PLANNED', 'SIGNED', 'BROADCAST', 'REPLACING')`;
  return row?.count ?? 0;
}

/** True when a wallet ever had a nonce allocated; until then the chain says where its nonces start. Locks nothing. */
export async function hasAllocatedNonce(sql: Reads, walletId: string): Promise<boolean> {
  const rows = await sql`select 1 from payouts where wallet_id = ${walletId} and nonce is not null limit 1`;
  return rows.length > 0;
}

/**
 * What waits for the signer at wallets that work: further bytes of payouts that have some, everything planned on chains
 * without nonces, and per wallet the one payout whose nonce comes next: nonces are signed in order, so that a refusal never
 * leaves a gap behind signed ones. Locks nothing.
 */
export async function listSignable(sql: Reads, networkIds: readonly string[]): Promise<Signable[]> {
  return signable(sql, networkIds);
}

/** Whether the bytes of any payout may be under way to its network; a condition. */
export function isAnyUnderWay(sql: Reads): ReturnType<Reads> {
  return sql`exists (select 1 from payouts where status in ('SIGNED', 'BROADCAST', 'REPLACING'))`;
}

/** A payout that waits for the signer. */
export interface Signable {
  id: string;
  networkId: string;
}

/** The rows of it, as a statement or a part of one. */
export function signable(sql: Reads, networkIds: readonly string[]) {
  return sql<Signable[]>`
    with signable as (
      select p.* from payouts p join wallets w on w.id = p.wallet_id
      where p.network_id = any(${[...networkIds]}::uuid[]) and p.status in ('PLANNED', 'REPLACING') and p.plan ? 'rawFee' and w.halted_reason is null),
    next as (select distinct on (wallet_id) id from signable where status = 'PLANNED' and nonce is not null order by wallet_id, nonce)
    select s.id, s.network_id as "networkId" from signable s where s.status = 'REPLACING' or s.nonce is null or s.id in (select id from next)
    order by s.status = 'REPLACING' desc, s.created_at, s.id`;
}

/** Coins of one asset that leave us. */
export interface OutgoingSum {
  symbol: string;
  decimals: number;
  native: boolean;
  /** Whose cashouts; null for everything else, and where that was not asked for. */
  gatewayId: string | null;
  rawAmount: bigint;
}

/**
 * What leaves us by a network's payouts signed since `seconds` ago, per asset, in chain units: what cashouts, refunds and withheld coins move,
 * once, and the most that one of their attempts may cost, as no two can be paid; with `planned`, what waits for the signer as
 * well. Of a payout that was closed or failed for good, and moved nothing by what the chain shows, only the fee counts.
 * `except` is left out; `byGateway` tells whose cashouts they are. Locks nothing.
 */
export async function sumOutgoing(
  sql: Reads,
  query: { networkId: string; seconds: number; planned: boolean; byGateway?: true; except?: string | undefined },
): Promise<OutgoingSum[]> {
  const rows = await sql<(Omit<OutgoingSum, 'rawAmount'> & { rawAmount: string })[]>`
    with recent as (
      select p.id, t.fee_limit as fee from payout_attempts t join payouts p on p.id = t.payout_id
      where p.network_id = ${query.networkId} and t.created_at > sluice_now() - make_interval(secs => ${query.seconds})
      union all
      select p.id, coalesce((p.plan->>'rawFee')::numeric, 0) from payouts p
      where ${query.planned} and p.network_id = ${query.networkId} and p.status in ('PLANNED', 'REPLACING')),
    families as (
      select p.asset_id, p.raw_amount, max(r.fee) as fee,
        case when ${query.byGateway ?? false} and p.purpose = 'settlement' then (select s.gateway_id from settlements s where s.id = p.settlement_id) end as gateway_id,
        p.purpose in ('settlement', 'refund', 'withheld') and (p.status <> 'FAILED' or exists (
          select 1 from payout_attempts t join wallets w on w.id = p.wallet_id
            join sightings g on g.network_id = p.network_id and g.txid = t.txid and g.canonical and g.kind <> 'sent' and g.raw_amount > 0
              and case when p.anchor is null then g.sender = w.address else g.recipient = p.recipient end
          where t.payout_id = p.id)) as moves
      from recent r join payouts p on p.id = r.id where p.id is distinct from ${query.except ?? null}::uuid group by p.id),
    leaving as (
      select asset_id, gateway_id, raw_amount from families where moves
      union all
      select (select id from assets where network_id = ${query.networkId} and contract is null), gateway_id, fee from families)
    select a.symbol, a.decimals, a.contract is null as native, l.gateway_id, sum(l.raw_amount)::text as "rawAmount"
    from leaving l join assets a on a.id = l.asset_id
    group by a.id, l.gateway_id`;
  return rows.map((row) => ({ ...row, rawAmount: BigInt(row.rawAmount) }));
}

/** What a gateway's cashouts, planned or signed since `seconds` ago on whatever network, move away, per asset, without their fees; what failed for good moves nothing. Locks nothing. */
export async function sumPaidOut(sql: Reads, query: { gatewayId: string; seconds: number }): Promise<Omit<OutgoingSum, 'gatewayId'>[]> {
  const rows = await sql<(Omit<OutgoingSum, 'gatewayId' | 'rawAmount'> & { rawAmount: string })[]>`
    select a.symbol, a.decimals, a.contract is null as native, sum(p.raw_amount)::text as "rawAmount"
    from payouts p join settlements s on s.id = p.settlement_id join assets a on a.id = p.asset_id
    where s.gateway_id = ${query.gatewayId} and p.purpose = 'settlement' and p.status not in ('FAILED', 'CANCELLED')
      and p.created_at > sluice_now() - make_interval(secs => ${query.seconds})
    group by a.id`;
  return rows.map((row) => ({ ...row, rawAmount: BigInt(row.rawAmount) }));
}

/** Where an open payout with signed bytes stands on the canonical chain; `height` null when no block holds any of its attempts. */
export interface OpenPayout {
  id: string;
  settlementId: string | null;
  status: PayoutStatus;
  height: number | null;
}

/** Every payout of a network whose bytes exist and whose outcome is not final, with the block any of its attempts is in. Locks nothing. */
export function listOpenOnChain(sql: Reads, networkId: string) {
  return sql<OpenPayout[]>`
    select p.id, p.settlement_id, p.status,
      (select max(g.height) from payout_attempts t join sightings g on g.network_id = p.network_id and g.txid = t.txid and g.kind = 'sent' and g.canonical
       where t.payout_id = p.id) as height
    from payouts p where p.network_id = ${networkId} and p.status in ('SIGNED', 'BROADCAST', 'REPLACING', 'INCLUDED')
    order by p.settlement_id nulls last, p.id`;
}

function joined(sql: Reads) {
  return sql`payouts p join wallets w on w.id = p.wallet_id join assets a on a.id = p.asset_id join networks n on n.id = p.network_id`;
}

function columns(sql: Reads) {
  return sql`p.id, p.network_id, n.name as "networkName", p.wallet_id, w.address as "walletAddress", p.purpose,
    p.settlement_id, p.refund_id,
    (select x.transfer_id from withheld_payouts x where x.payout_id = p.id) as "withheldId", p.payment_id, p.family, p.parent_id, p.status, p.asset_id, a.symbol as "assetSymbol", a.contract,
    a.decimals, p.recipient, p.raw_amount, p.nonce, p.anchor, p.plan, p.txid, p.failure,
    greatest((p.plan->>'rawFee')::numeric, (select max(t.fee_limit) from payout_attempts t where t.payout_id = p.id), 0)::text as "rawFeeAtMost"`;
}

function fromRow(row: Row): StoredPayout {
  return { ...row, rawAmount: BigInt(row.rawAmount), rawFeeAtMost: BigInt(row.rawFeeAtMost) };
}

/** The driver's JSON type wants an index signature, which an interface does not have. */
function json(plan: PayoutPlan): Parameters<Tx['json']>[0] {
  return plan as unknown as Parameters<Tx['json']>[0];
}
