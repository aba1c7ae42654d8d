import type { Reads } from '#shared/platform/postgres.ts';

type Pool = 'green' | 'held';

/** Coins of a payment that lie in the wallet of a pool it is not in (any more), or are missing there. */
export interface MisplacedCoins {
  paymentId: string;
  assetId: string;
  /** The wallet that has too many of them. */
  from: Pool;
  to: Pool;
  /** Chain units, more than zero. */
  rawAmount: bigint;
}

interface Row {
  paymentId: string;
  assetId: string;
  pool: Pool;
  excess: string;
}

/** Whether any of these networks has an order to refund or to pay out held coins; a condition. */
export function isAnyHeldOrder(sql: Reads, networkIds: readonly string[]): ReturnType<Reads> {
  return sql`(
    exists (select 1 from aml_refunds r where r.network_id = any(${networkIds as string[]}::uuid[]) and r.status = 'ordered')
    or exists (select 1 from withheld_transfers t where t.network_id = any(${networkIds as string[]}::uuid[]) and t.status = 'ordered'))`;
}

/** Whether a payment of any of these networks ever changed its pool; a condition. */
export function isAnyPoolMove(sql: Reads, networkIds: readonly string[]): ReturnType<Reads> {
  return sql`exists (select 1 from pool_moves m where m.network_id = any(${networkIds as string[]}::uuid[]))`;
}

/**
 * Payments of a network that changed their pool and whose coins have not followed them yet, the earliest first; none of which
 * a sweep, a transfer, or whatever else spends their outputs is still on its way. Locks nothing.
 */
export async function listMisplaced(sql: Reads, networkId: string): Promise<MisplacedCoins[]> {
  const rows = await sql<Row[]>`
    select x.payment_id, x.asset_id, x.pool, x.excess::text as excess from (${excess(sql, {})}) x
    where x.network_id = ${networkId} and not x.live and x.excess <> 0 order by x.first_at, x.payment_id, x.asset_id`;
  return rows.map(fromRow);
}

/** The same for one of them, as if the transfer `except` had never been planned; undefined when its coins are where they belong. Locks nothing. */
export async function findMisplaced(sql: Reads, move: { paymentId: string; assetId: string; except?: string }): Promise<MisplacedCoins | undefined> {
  const [row] = await sql<Row[]>`
    select x.payment_id, x.asset_id, x.pool, x.excess::text as excess from (${excess(sql, move)}) x where x.excess <> 0`;
  return row && fromRow(row);
}

/**
 * Per payment and asset what the wallet of the other pool has beyond (or, below zero, short of) what cashouts drew of it from
 * that pool: everything else that came belongs to the pool the payment is in now, fees included. A credit that was withheld
 * after its payment had been released belongs to the held pool by itself, whether it is swept yet or not.
 * Where coins are outputs nothing is swept: whatever spends a deposit brings all of it into its own pool, as change or in the place of
 * coins that were there, also when it only closes a payout. There each output belongs to the pool of its own credit, so a withheld one
 * that lies where it came stands for no other.
 */
function excess(sql: Reads, { paymentId, assetId, except }: { paymentId?: string; assetId?: string; except?: string }) {
  return sql`
    select m.payment_id, m.asset_id, m.network_id, m.first_at, c.pool, coalesce(s.live, false) or coalesce(t.live, false) as live,
      greatest(o.beyond - c.stays, least(o.beyond, 0)) as excess
    from (
      select payment_id, asset_id, network_id, min(created_at) as first_at from pool_moves
      where ${paymentId ?? null}::uuid is null or (payment_id = ${paymentId ?? null}::uuid and asset_id = ${assetId ?? null}::uuid)
      group by 1, 2, 3) m
    join assets a on a.id = m.asset_id
    join networks n on n.id = m.network_id
    join lateral (
      select min(c.pool) as pool, case min(c.pool) when 'green' then 'held' else 'hot' end as other, trunc(sum(c.gross) * (10::numeric ^ a.decimals)) as received,
        case when min(c.pool) = 'green' and n.family <> 'bitcoin' then coalesce(trunc(sum(c.gross) filter (where c.pool = 'held') * (10::numeric ^ a.decimals)), 0) else 0 end as stays
      from credits c where c.payment_id = m.payment_id and c.asset_id = m.asset_id) c on true
    left join lateral (
      select sum(x.raw_amount) filter (where x.arrived and x.role = c.other) as swept, bool_or(not x.arrived) as live from (
        select o.raw_amount, o.status = 'CONFIRMED' as arrived, i.role
        from payouts o join wallets w on w.id = o.wallet_id join wallets i on i.network_id = o.network_id and i.address = o.recipient
        where o.network_id = m.network_id and o.asset_id = m.asset_id and o.purpose = 'sweep' and o.status not in ('FAILED', 'CANCELLED') and w.address in (
          select x.address from deposits y join deposit_addresses x on x.id = y.address_id where y.payment_id = m.payment_id)
        union all
        ${spentOutputs(sql)}) x) s on true
    left join lateral (
      select sum(case when i.role = c.other then o.raw_amount else -o.raw_amount end) as net, bool_or(o.status <> 'CONFIRMED') as live
      from payouts o join wallets i on i.network_id = o.network_id and i.address = o.recipient
      where o.payment_id = m.payment_id and o.asset_id = m.asset_id and o.status not in ('FAILED', 'CANCELLED')
        and o.id is distinct from ${except ?? null}::uuid) t on true
    left join lateral (
      select trunc(sum(w.amount) * (10::numeric ^ a.decimals)) as drawn from (
          select w.credit_id, w.amount, z.pool from credit_draws w join settlements z on z.id = w.settlement_id where w.state in ('reserved', 'spent')
          union all
          select x.credit_id, x.amount, x.pool from charge_draws x) w
        join credits k on k.id = w.credit_id
      where k.payment_id = m.payment_id and k.asset_id = m.asset_id and w.pool = case c.other when 'hot' then 'green' else 'held' end) d on true
    join lateral (select least(coalesce(s.swept, 0), c.received) + coalesce(t.net, 0) - coalesce(d.drawn, 0) as beyond) o on true`;
}

/** The outputs of payment `m`, of asset `m`, that a payout has taken and does not only belong to the pool of: with its wallet's role, and whether it is final. */
function spentOutputs(sql: Reads) {
  return sql`
    select y.raw_amount, o.status in ('CONFIRMED', 'FAILED') as arrived, w.role
    from deposits y join output_locks l on l.network_id = y.network_id and l.txid = y.txid and l.vout = y.ordinal and l.released_at is null
      join payouts o on o.id = l.payout_id join wallets w on w.id = o.wallet_id left join credits k on k.id = y.credit_id
    where y.payment_id = m.payment_id and y.asset_id = m.asset_id and y.state = 'credited' and y.kind = 'native'
      and (o.status not in ('CONFIRMED', 'FAILED') or k.id is null or w.role <> case k.pool when 'green' then 'hot' else 'held' end)`;
}

function fromRow({ paymentId, assetId, pool, excess: text }: Row): MisplacedCoins {
  const amount = BigInt(text);
  const other = pool === 'green' ? 'held' : 'green';
  return amount > 0n ? { paymentId, assetId, from: other, to: pool, rawAmount: amount } : { paymentId, assetId, from: pool, to: other, rawAmount: -amount };
}
