import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** An applied block (or the last block of an applied range, whose parent is then the block before the range). */
export interface ChainBlock {
  networkId: string;
  height: number;
  hash: string;
  parentHash: string;
  blockTime: Date;
}

/** The canonical blocks that are kept among these heights and hashes; takes no lock of its own (the tip's lock covers them). */
export async function findCanonicalBlocks(
  reads: Reads,
  networkId: string,
  by: { heights: readonly number[]; hashes: readonly string[] },
): Promise<ChainBlock[]> {
  return reads<ChainBlock[]>`
    select network_id as "networkId", height, hash, parent_hash as "parentHash", block_time as "blockTime"
    from chain_blocks where network_id = ${networkId} and canonical and (height = any(${[...by.heights]}::bigint[]) or hash = any(${[...by.hashes]}::text[]))`;
}

/** Records a block as canonical, also one a fork had replaced before. */
export async function upsertBlock(tx: Tx, block: ChainBlock): Promise<void> {
  await tx`
    insert into chain_blocks (network_id, height, hash, parent_hash, block_time, canonical)
    values (${block.networkId}, ${block.height}, ${block.hash}, ${block.parentHash}, ${block.blockTime}, true)
    on conflict (network_id, hash) do update set canonical = true`;
}

/** Blocks of one network by height: those above one up to another. */
export interface Blocks {
  above: number;
  upTo: number;
}

/** Takes blocks off the canonical chain; answers how many there were. */
export async function orphanBlocks(tx: Tx, networkId: string, { above, upTo }: Blocks): Promise<number> {
  const rows =
    await tx`update chain_blocks set canonical = false where network_id = ${networkId} and height > ${above} and height <= ${upTo} and canonical returning 1`;
  return rows.length;
}

/** Forgets blocks below `height`, canonical or not. */
export async function pruneBlocksBelow(tx: Tx, networkId: string, height: number): Promise<void> {
  await tx`delete from chain_blocks where network_id = ${networkId} and height < ${height}`;
}
