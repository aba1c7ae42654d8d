import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** What is frozen and why: `all`, `network:<name>` or `asset:<uuid>`. */
export interface Freeze {
  scope: string;
  reason: string;
  frozenAt: Date;
}

/** Lists every freeze, the oldest first; locks nothing. */
export async function listFreezes(sql: Reads): Promise<Freeze[]> {
  return sql<Freeze[]>`select scope, reason, frozen_at from freezes order by frozen_at, scope`;
}

/** The freeze that stops a dispatch of this asset on this network, if any; locks nothing. */
export async function findFreeze(sql: Reads, dispatch: { networkName: string; assetId: string }): Promise<Freeze | undefined> {
  const [row] = await sql<Freeze[]>`
    select scope, reason, frozen_at from freezes
    where scope in ('all', ${`network:${dispatch.networkName}`}, ${`asset:${dispatch.assetId}`}) order by frozen_at limit 1`;
  return row;
}

/**
 * Freezes a scope; one already frozen keeps its first reason, and is lifted by nobody but an operator from now on. Returns
 * whether it is new. Locks that row.
 */
export async function insertFreeze(tx: Reads, freeze: { scope: string; reason: string }): Promise<boolean> {
  const [row] = await tx<{ fresh: boolean }[]>`
    insert into freezes as f (scope, reason) values (${freeze.scope}, ${freeze.reason})
    on conflict (scope) do update set lost_deposits = null where f.lost_deposits is not null returning xmax = 0 as fresh`;
  return row?.fresh === true;
}

/** Freezes an asset because a reorganisation took booked deposits of it back; what something else froze stays that one's. Locks that row. */
export async function insertLossFreeze(tx: Tx, loss: { assetId: string; depositIds: readonly string[]; reason: string }): Promise<void> {
  await tx`
    insert into freezes as f (scope, reason, lost_deposits) values (${`asset:${loss.assetId}`}, ${loss.reason}, ${[...loss.depositIds]}::uuid[])
    on conflict (scope) do update set lost_deposits = f.lost_deposits || excluded.lost_deposits
    where f.lost_deposits is not null and not f.lost_deposits @> excluded.lost_deposits`;
}

/** Whether anything is frozen for deposits that were lost, on any network; a condition. */
export function isAnyLost(sql: Reads): ReturnType<Reads> {
  return sql`exists (select 1 from freezes where lost_deposits is not null)`;
}

/**
 * Lifts the freezes of a network's assets that only lost deposits made, all of which are in final canonical blocks again with
 * the recipient and the amount they were booked with, while no other deposit of the asset is lost. Answers them. Locks those rows.
 */
export async function liftRegained(tx: Tx, networkId: string): Promise<(Freeze & { deposits: string[] })[]> {
  return tx<(Freeze & { deposits: string[] })[]>`
    delete from freezes f using assets a
    where a.network_id = ${networkId} and f.scope = 'asset:' || a.id and f.lost_deposits is not null
      and not exists (select 1 from deposits d where d.network_id = a.network_id and d.asset_id = a.id and d.lost_at is not null)
      and not exists (
        select 1 from unnest(f.lost_deposits) as l (id) where not exists (
          select 1 from deposits d join deposit_addresses x on x.id = d.address_id join chain_tips t on t.network_id = d.network_id
            join sightings g on g.network_id = d.network_id and g.txid = d.txid and g.kind = d.kind and g.ordinal = d.ordinal and g.canonical
          where d.id = l.id and d.asset_id = a.id and g.height <= t.final_height
            and g.recipient = x.address and g.raw_amount = d.raw_amount and g.contract is not distinct from a.contract))
    returning f.scope, f.reason, f.frozen_at, f.lost_deposits::text[] as deposits`;
}

/** Lifts the freeze of one scope and answers it; undefined when it was not frozen. Locks that row. */
export async function deleteFreeze(tx: Tx, scope: string): Promise<Freeze | undefined> {
  const [row] = await tx<Freeze[]>`delete from freezes where scope = ${scope} returning scope, reason, frozen_at`;
  return row;
}

/** What an address is that a token refuses to be moved from. */
export type RefusedRole = 'hot' | 'held' | 'deposit';

/** Notes that a token refuses every transfer from an address of ours; answers the block it was first found at. Locks its row. */
export async function noteRefusal(sql: Reads, found: { assetId: string; address: string; role: RefusedRole; height: number }): Promise<number> {
  const [row] = await sql<[{ height: number }]>`
    insert into issuer_refusals (asset_id, address, role, found_height) values (${found.assetId}, ${found.address}, ${found.role}, ${found.height})
    on conflict (asset_id, address) do update set looked_at = sluice_now() returning found_height as height`;
  return row.height;
}

/** Notes that the asset is stopped because of it, if that is new. Locks its row. */
export async function noteStopped(tx: Tx, refusal: { assetId: string; address: string }): Promise<void> {
  await tx`
    update issuer_refusals set stopped_at = sluice_now() where asset_id = ${refusal.assetId} and address = ${refusal.address} and stopped_at is null`;
}

/** Forgets a refusal that is over; one that stopped the asset stays until the asset is not frozen any more. Locks its row. */
export async function forgetRefusal(sql: Reads, refusal: { assetId: string; address: string }): Promise<void> {
  await sql`
    delete from issuer_refusals where asset_id = ${refusal.assetId} and address = ${refusal.address}
      and (stopped_at is null or not exists (select 1 from freezes where scope = ${`asset:${refusal.assetId}`}))`;
}

/** Deposit addresses that a token refused to be moved from and that nobody looked at for `seconds`, the longest ago first. Locks nothing. */
export async function listRefusedDeposits(sql: Reads, query: { assetId: string; seconds: number; limit: number }): Promise<string[]> {
  const rows = await sql<{ address: string }[]>`
    select address from issuer_refusals
    where asset_id = ${query.assetId} and role = 'deposit' and looked_at <= sluice_now() - make_interval(secs => ${query.seconds})
    order by looked_at, address limit ${query.limit}`;
  return rows.map((row) => row.address);
}

/** How many addresses of each role tokens refuse to be moved from, by asset; those that refuse none are left out. Locks nothing. */
export async function countRefusals(sql: Reads): Promise<ReadonlyMap<string, Record<RefusedRole, number>>> {
  const rows = await sql<(Record<RefusedRole, number> & { assetId: string })[]>`
    select asset_id, count(*) filter (where role = 'hot')::int as hot, count(*) filter (where role = 'held')::int as held, count(*) filter (where role = 'deposit')::int as deposit
    from issuer_refusals group by asset_id`;
  return new Map(rows.map(({ assetId, ...counts }) => [assetId, counts]));
}
