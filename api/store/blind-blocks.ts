import type { Reads, Tx } from '#shared/platform/postgres.ts';

export interface BlindBlocks {
  networkId: string;
  from: number;
  to: number;
}

/** Notes that blocks were read without their internal transfers; neighbours and what they overlap become one row. The network's tip must be locked. */
export async function insertBlindBlocks(tx: Tx, { networkId, from, to }: BlindBlocks): Promise<void> {
  await tx`
    with joined as (
      delete from blind_blocks where network_id = ${networkId} and to_height >= ${from}::bigint - 1 and from_height <= ${to}::bigint + 1 returning from_height, to_height)
    insert into blind_blocks (network_id, from_height, to_height)
    select ${networkId}, least(${from}::bigint, min(from_height)), greatest(${to}::bigint, max(to_height)) from joined`;
}

/** How many blocks back the last blind one is, 0 at the tip: how its indexer reads now. Infinity without any. */
export async function blindBlocksAgo(reads: Reads, networkId: string): Promise<number> {
  const [row] = await reads<{ ago: number | null }[]>`
    select (t.height - max(b.to_height))::float8 as ago from chain_tips t join blind_blocks b on b.network_id = t.network_id
    where t.network_id = ${networkId} group by t.height`;
  return row === undefined || row.ago === null ? Number.POSITIVE_INFINITY : Math.max(0, row.ago);
}

/** Whether a network has any. */
export async function hasBlindBlocks(reads: Reads, networkId: string): Promise<boolean> {
  const rows = await reads`select 1 from blind_blocks where network_id = ${networkId} limit 1`;
  return rows.length > 0;
}
