import type { Family } from '#shared/core/assets.ts';
import type { Pool } from '#state-machines/ledger/accounts.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import { type Coins, formatAmount } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';

/** Whether coins lie at any deposit address, or are on their way from one; a condition. */
export function isAnySweepable(sql: Reads): ReturnType<Reads> {
  return sql`(
    exists (select 1 from lying_deposits)
    or exists (
      select 1 from lying_outputs l where l.spendable and not exists (
        select 1 from wallets w where w.network_id = l.network_id and w.address = l.address and w.role <> 'deposit'))
    or exists (select 1 from payouts where purpose = 'sweep' and status not in ('CONFIRMED', 'FAILED', 'CANCELLED')))`;
}

/** Assets of a network of which credited coins may lie at deposit addresses, or of which a sweep is under way: there is nothing to sweep of others. Locks nothing. */
export async function listAssetsToSweep(sql: Reads, networkId: string): Promise<ReadonlySet<string>> {
  const rows = await sql<{ id: string }[]>`
    select a.id from assets a where a.network_id = ${networkId} and (
      exists (select 1 from lying_deposits l where l.network_id = a.network_id and l.asset_id = a.id)
      or exists (
        select 1 from payouts p
        where p.network_id = a.network_id and p.asset_id = a.id and p.purpose = 'sweep' and p.status not in ('CONFIRMED', 'FAILED', 'CANCELLED')))`;
  return new Set(rows.map(({ id }) => id));
}

/** A deposit address that still holds credited coins of one asset, as far as the books know. */
export interface SweepableAddress {
  /** Canonical. */
  address: string;
  derivationIndex: number;
  /** Chain units credited there to payments of one pool, final by the maturity rule, and not swept yet. */
  rawAmount: bigint;
}

/** Which coins are asked about. */
interface SweepScope {
  networkId: string;
  assetId: string;
  /** The pool of the payments they were credited to (decisions 10). */
  pool: Pool;
}

/**
 * Deposit addresses of a network holding more than `above` chain units of an asset, the largest first. Only credited
 * deposits of resolved payments in that pool count, in blocks that are final, none of a payment that waits for a verdict
 * (coins follow pools, decisions 10), and no address that is being swept of it now or is halted, nor, unless `evenRefused`, one that the
 * token's issuer does not let move it, or of which a sweep has just failed. With `restSeconds` only those whose last credit is that old. A sweep of native coins takes its fee with it: what it did not use is not worth another.
 * Locks nothing.
 */
export async function listSweepable(
  sql: Reads,
  query: SweepScope & { above: bigint; restSeconds?: number; evenRefused?: boolean; limit: number },
): Promise<SweepableAddress[]> {
  const rows = await sql<Row[]>`
    select f.address, f.derivation_index, f.raw_amount::text from (${lying(sql, query)}) f
    where not f.waiting and not f.live and f.raw_amount > ${query.above.toString()}::text::numeric
      and f.last_at <= sluice_now() - make_interval(secs => ${query.restSeconds ?? 0})
      and not exists (select 1 from wallets w where w.network_id = ${query.networkId} and w.address = f.address and w.halted_reason is not null)
      and (${query.evenRefused ?? false} or not (
        exists (select 1 from issuer_refusals r where r.asset_id = ${query.assetId} and r.address = f.address) or ${hasFailed(sql, query)}))
    order by f.raw_amount desc, f.address limit ${query.limit}`;
  return rows.map((row) => ({ ...row, rawAmount: BigInt(row.rawAmount) }));
}

/**
 * Chain units that sweeps brought to a wallet for cashouts other than `settlementId` which are still to be sent, each no more than it pays
 * out: what was brought for one is not for the next to take. One that has not gone `seconds` after its coins came keeps none. Locks nothing.
 */
export async function sumBroughtForOthers(
  sql: Reads,
  query: { networkId: string; assetId: string; address: string; settlementId: string | null; seconds: number },
): Promise<bigint> {
  const [row] = await sql<[{ rawAmount: string }]>`
    select coalesce(sum(least(b.brought, b.net)), 0)::text as "rawAmount" from (
      select trunc(s.net_amount * (10::numeric ^ a.decimals)) as net, sum(p.raw_amount) as brought
      from settlements s join assets a on a.id = s.asset_id
        join payouts p on p.settlement_id = s.id and p.purpose = 'sweep' and p.asset_id = s.asset_id and p.recipient = ${query.address}
      where s.network_id = ${query.networkId} and s.asset_id = ${query.assetId} and s.status = 'REQUESTED' and s.id is distinct from ${query.settlementId}::uuid
        and p.status in ('INCLUDED', 'CONFIRMED') and coalesce(p.final_at, sluice_now()) > sluice_now() - make_interval(secs => ${query.seconds})
        and not exists (select 1 from payouts l where l.settlement_id = s.id and l.purpose = 'settlement' and l.status not in ('FAILED', 'CANCELLED'))
      group by s.id, a.decimals) b`;
  return BigInt(row.rawAmount);
}

type Row = Omit<SweepableAddress, 'rawAmount'> & { rawAmount: string };

/** Chain units of a pool that lie where a verdict is awaited, at a halted address, or where a sweep has just failed: there, and not to be swept now. Locks nothing. */
export async function sumBlocked(sql: Reads, query: SweepScope): Promise<bigint> {
  const [row] = await sql<{ rawAmount: string }[]>`
    select coalesce(sum(f.raw_amount), 0)::text as "rawAmount" from (${lying(sql, query)}) f
    where f.raw_amount > 0 and (f.waiting or ${hasFailed(sql, query)} or exists (
      select 1 from wallets w where w.network_id = ${query.networkId} and w.address = f.address and w.halted_reason is not null))`;
  return BigInt(row?.rawAmount ?? 0);
}

/** Chain units of a pool that lie where their token's issuer does not let them be moved. Locks nothing. */
export async function sumRefused(sql: Reads, query: SweepScope): Promise<bigint> {
  const [row] = await sql<{ rawAmount: string }[]>`
    select coalesce(sum(f.raw_amount), 0)::text as "rawAmount" from (${lying(sql, query)}) f
    where f.raw_amount > 0 and exists (select 1 from issuer_refusals r where r.asset_id = ${query.assetId} and r.address = f.address)`;
  return BigInt(row?.rawAmount ?? 0);
}

/** Whether a sweep from place `f` failed in a block a short while ago, other than one that was closed. */
function hasFailed(sql: Reads, { networkId, assetId }: SweepScope) {
  return sql`exists (
    select 1 from wallets w join payouts o on o.wallet_id = w.id
    where w.network_id = ${networkId} and w.address = f.address and o.asset_id = ${assetId} and o.purpose = 'sweep' and o.status = 'FAILED'
      and o.txid is not null and not o.plan ? 'closeMark' and o.final_at > sluice_now() - make_interval(secs => ${POLICY.sweepRetrySeconds}))`;
}

/** What a sweep of one address may take to a pool's wallet. */
export interface SweepAllowance {
  rawAmount: bigint;
  /** A verdict about something that came there is awaited: until then nothing moves. */
  waiting: boolean;
}

/** What of one address may be swept to a pool's wallet, beside what other sweeps than `except` take. Locks nothing. */
export async function readSweepAllowance(sql: Reads, at: SweepScope & { address: string; except?: string }): Promise<SweepAllowance> {
  const [row] = await sql<{ rawAmount: string; waiting: boolean }[]>`
    select greatest(f.raw_amount, 0)::text as "rawAmount", f.waiting from (${lying(sql, at)}) f`;
  return row === undefined ? { rawAmount: 0n, waiting: false } : { ...row, rawAmount: BigInt(row.rawAmount) };
}

/** The same, true until commit: locks the payments whose coins lie there against verdicts and an operator's decisions, after wallets and payouts. */
export async function lockSweepAllowance(tx: Tx, at: SweepScope & { family: Family; address: string; except?: string }): Promise<SweepAllowance> {
  await tx`
    select 1 from payments p where p.id in (
      select d.payment_id from deposits d join deposit_addresses a on a.id = d.address_id where a.family = ${at.family} and a.address = ${at.address})
    order by p.id for share`;
  return readSweepAllowance(tx, at);
}

/**
 * Per address what was credited there to payments of the pool and not brought to its wallet, at most what still lies there:
 * coins that were swept before their payment changed its pool lie in the other wallet. Of every address that may hold some (decision 0083), or of one.
 */
function lying(sql: Reads, { networkId, assetId, pool, except, address }: SweepScope & { except?: string; address?: string }) {
  const places =
    address === undefined
      ? sql`select distinct l.address from lying_deposits l where l.network_id = ${networkId} and l.asset_id = ${assetId}`
      : sql`select ${address}::text as address`;
  return sql`
    select k.address, r.derivation_index, r.waiting, r.last_at, coalesce(g.live, false) as live,
      least(r.received - coalesce(g.swept, 0), coalesce(r.received_of_pool, 0) - coalesce(g.swept_to_pool, 0)) as raw_amount
    from (${places}) k
    cross join lateral (
      select a.derivation_index, sum(d.raw_amount) as received, sum(d.raw_amount) filter (where c.pool = ${pool}) as received_of_pool,
        bool_or(c.waiting) as waiting, max(d.final_at) as last_at
      from deposit_addresses a join deposits d on d.address_id = a.id join payments p on p.id = d.payment_id
        join chain_tips t on t.network_id = d.network_id and d.height <= t.final_height
        join lateral (
          select bool_or(x.screening = 'waiting') as waiting, coalesce(min(x.pool) filter (where x.id = d.credit_id), min(x.pool)) as pool
          from credits x where x.payment_id = d.payment_id) c on true
      where a.address = k.address and d.network_id = ${networkId} and d.asset_id = ${assetId} and d.state = 'credited' and p.status <> 'PENDING'
      group by 1) r
    cross join lateral (
      select sum(s.taken) as swept, sum(s.taken) filter (where s.role = ${pool === 'green' ? 'hot' : 'held'}) as swept_to_pool,
        bool_or(s.status <> 'CONFIRMED') as live
      from (
        select o.status, i.role, o.raw_amount + case when a.contract is null then coalesce((o.plan->>'rawFee')::numeric, 0) else 0 end as taken
        from wallets w join payouts o on o.wallet_id = w.id join assets a on a.id = o.asset_id
          left join wallets i on i.network_id = o.network_id and i.address = o.recipient
        where w.network_id = ${networkId} and w.address = k.address and o.asset_id = ${assetId} and o.purpose = 'sweep' and o.status not in ('FAILED', 'CANCELLED')
          and o.id is distinct from ${except ?? null}::uuid) s) g`;
}

/**
 * Coins of an asset that cashouts of the green pool have claimed and nothing that is sent pays yet, decimal text: whatever they wait
 * for, they are not to wait for these. One whose payout a block holds counts until it is final, as a fork may take it back. Locks nothing.
 */
export async function sumClaimed(sql: Reads, assetId: string): Promise<string> {
  const [row] = await sql<{ claimed: string }[]>`
    select coalesce(sum(s.amount), 0)::text as claimed from settlements s
    where s.asset_id = ${assetId} and s.pool = 'green' and s.status not in ('SETTLED', 'REJECTED') and s.status in ('PENDING_APPROVAL', 'REQUESTED', 'PROCESSING') and not exists (
      select 1 from payouts p where p.settlement_id = s.id and p.purpose = 'settlement' and p.plan ? 'rawFee'
        and p.status in ('PLANNED', 'SIGNED', 'BROADCAST', 'REPLACING'))`;
  return row?.claimed ?? '0';
}

/** Whether a move of an asset to cold storage failed for good less than `seconds` ago, with none that arrived since. Locks nothing. */
export async function hasFailedMove(sql: Reads, assetId: string, seconds: number): Promise<boolean> {
  const [last] = await sql<{ failed: boolean }[]>`
    select status = 'FAILED' and final_at > sluice_now() - make_interval(secs => ${seconds}) as failed from payouts
    where asset_id = ${assetId} and purpose = 'cold' and status in ('FAILED', 'CONFIRMED') order by final_at desc limit 1`;
  return last?.failed === true;
}

/** Native units that transactions joining outputs may cost, of those made on a network since `seconds` ago and not given up unsigned. Locks nothing. */
export async function sumConsolidationFees(sql: Reads, { networkId, seconds }: { networkId: string; seconds: number }): Promise<bigint> {
  const [row] = await sql<{ rawFee: string }[]>`
    select coalesce(sum(greatest(coalesce((p.plan->>'rawFee')::numeric, 0), coalesce((select max(t.fee_limit) from payout_attempts t where t.payout_id = p.id), 0))), 0)::text as "rawFee"
    from payouts p
    where p.network_id = ${networkId} and p.purpose = 'consolidation' and p.status <> 'CANCELLED' and p.created_at > sluice_now() - make_interval(secs => ${seconds})`;
  return BigInt(row?.rawFee ?? 0);
}

/** Native units that joining the outputs of one wallet has cost so far, final or not: so much its pool may lack for no other reason. Locks nothing. */
export async function sumConsolidationCosts(sql: Reads, walletId: string): Promise<bigint> {
  const [row] = await sql<{ rawFee: string }[]>`
    select coalesce(sum(coalesce(p.raw_fee, (p.plan->>'rawFee')::numeric, 0)), 0)::text as "rawFee"
    from payouts p where p.wallet_id = ${walletId} and p.purpose = 'consolidation' and p.status <> 'CANCELLED'`;
  return BigInt(row?.rawFee ?? 0);
}

/** Coins of a payment that changed their pool in the books. */
export interface PoolMove {
  id: string;
  paymentId: string;
  assetId: string;
  networkId: string;
  amount: Coins;
  from: Pool;
  to: Pool;
}

/** Records that coins changed their pool, so that those in a wallet follow them. */
export async function insertPoolMove(tx: Tx, move: PoolMove): Promise<void> {
  await tx`
    insert into pool_moves (id, payment_id, asset_id, network_id, amount, from_pool, to_pool)
    values (${move.id}, ${move.paymentId}, ${move.assetId}, ${move.networkId}, ${formatAmount(move.amount)}::text::numeric, ${move.from}, ${move.to})`;
}
