import type { Reads, Tx } from '#shared/platform/postgres.ts';

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

/** How many addresses of each role a token refuses to be moved from; locks nothing. */
export async function countRefusals(sql: Reads, assetId: string): Promise<Record<RefusedRole, number>> {
  const [row] = await sql<[Record<RefusedRole, number>]>`
    select count(*) filter (where role = 'hot')::int as hot, count(*) filter (where role = 'held')::int as held, count(*) filter (where role = 'deposit')::int as deposit
    from issuer_refusals where asset_id = ${assetId}`;
  return row;
}
