import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** The last applied block of a network and what was final then. */
export interface ChainTip {
  networkId: string;
  height: number;
  hash: string;
  blockTime: Date;
  safeHeight: number;
  finalHeight: number;
  headHeight: number;
  epoch: number;
  seq: number;
  appliedAt: Date;
}

/** Reads a network's tip; undefined before its first block. Takes no lock. */
export async function readTip(reads: Reads, networkId: string): Promise<ChainTip | undefined> {
  const [row] = await reads<ChainTip[]>`select ${columns(reads)} from chain_tips where network_id = ${networkId}`;
  return row;
}

/** The highest final block of a network that its trail still knows; undefined before the first. Takes no lock. */
export async function readFinalBlock(reads: Reads, networkId: string): Promise<{ height: number; time: Date } | undefined> {
  const [row] = await reads<{ height: number; time: Date }[]>`
    select b.height, b.block_time as time from chain_blocks b join chain_tips t on t.network_id = b.network_id and b.height <= t.final_height
    where b.network_id = ${networkId} and b.canonical order by b.height desc limit 1`;
  return row;
}

/** Reads a network's tip and locks it until commit: whoever applies a block holds this row. */
export async function lockTip(tx: Tx, networkId: string): Promise<ChainTip | undefined> {
  const [row] = await tx<ChainTip[]>`select ${columns(tx)} from chain_tips where network_id = ${networkId} for update`;
  return row;
}

/** Writes the new tip; the final height never moves back. Locks the row. */
export async function writeTip(tx: Tx, tip: Omit<ChainTip, 'appliedAt'>): Promise<void> {
  await tx`
    insert into chain_tips as t (network_id, height, hash, block_time, safe_height, final_height, head_height, epoch, seq)
    values (${tip.networkId}, ${tip.height}, ${tip.hash}, ${tip.blockTime}, ${tip.safeHeight}, ${tip.finalHeight}, ${tip.headHeight}, ${tip.epoch}, ${tip.seq})
    on conflict (network_id) do update set height = excluded.height, hash = excluded.hash, block_time = excluded.block_time, safe_height = excluded.safe_height,
      final_height = greatest(t.final_height, excluded.final_height), head_height = excluded.head_height, epoch = excluded.epoch, seq = excluded.seq, applied_at = now()`;
}

/** Notes the last message that was taken note of without moving the tip; locks the row. */
export async function touchTip(tx: Tx, networkId: string, last: { epoch: number; seq: number }): Promise<void> {
  await tx`update chain_tips set epoch = ${last.epoch}, seq = ${last.seq}, applied_at = now() where network_id = ${networkId} and (epoch, seq) < (${last.epoch}, ${last.seq})`;
}

function columns(sql: Reads) {
  return sql`network_id as "networkId", height, hash, block_time as "blockTime", safe_height as "safeHeight", final_height as "finalHeight",
    head_height as "headHeight", epoch, seq, applied_at as "appliedAt"`;
}
