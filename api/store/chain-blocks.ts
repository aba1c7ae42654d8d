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
    select network_id, height, hash, parent_hash, block_time
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

/** The tips of all networks that have one. Takes no lock. */
export async function listTips(reads: Reads): Promise<ChainTip[]> {
  return reads<ChainTip[]>`select ${columns(reads)} from chain_tips`;
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

/** Writes the new tip, by whoever locked the one before. Locks the row. */
export async function writeTip(tx: Tx, tip: Omit<ChainTip, 'appliedAt'>): Promise<void> {
  await tx`
    insert into chain_tips as t (network_id, height, hash, block_time, safe_height, final_height, head_height, epoch, seq)
    values (${tip.networkId}, ${tip.height}, ${tip.hash}, ${tip.blockTime}, ${tip.safeHeight}, ${tip.finalHeight}, ${tip.headHeight}, ${tip.epoch}, ${tip.seq})
    on conflict (network_id) do update set height = excluded.height, hash = excluded.hash, block_time = excluded.block_time, safe_height = excluded.safe_height,
      final_height = excluded.final_height, head_height = excluded.head_height, epoch = excluded.epoch, seq = excluded.seq, applied_at = now()`;
}

/** Notes the last message that was taken note of without moving the tip; locks the row. */
export async function touchTip(tx: Tx, networkId: string, last: { epoch: number; seq: number }): Promise<void> {
  await tx`update chain_tips set epoch = ${last.epoch}, seq = ${last.seq}, applied_at = now() where network_id = ${networkId} and (epoch, seq) < (${last.epoch}, ${last.seq})`;
}

function columns(sql: Reads) {
  return sql`network_id, height, hash, block_time, safe_height, final_height,
    head_height, epoch, seq, applied_at`;
}

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

/** How a network's indexer reads what contracts pass on, and what was made of it. */
export interface Sight {
  /** How many blocks back the last blind one is, 0 at the tip. Infinity without any. */
  blindAgo: number;
  /** Whether the native coin is not offered because nobody shows it. */
  missing: boolean;
}

/** Reads it of these networks, by their ids. Locks nothing. */
export async function listSights(reads: Reads, networkIds: readonly string[]): Promise<ReadonlyMap<string, Sight>> {
  const rows = await reads<{ id: string; ago: number | null; missing: boolean }[]>`
    select n.id, n.traces_missing_since is not null as missing,
      (select (t.height - (select max(b.to_height) from blind_blocks b where b.network_id = n.id))::float8 from chain_tips t where t.network_id = n.id) as ago
    from networks n where n.id = any(${[...networkIds]}::uuid[])`;
  return new Map(rows.map(({ id, ago, missing }) => [id, { missing, blindAgo: ago === null ? Number.POSITIVE_INFINITY : Math.max(0, ago) }]));
}

/** Whether any network has any; a condition. */
export function isAnyBlind(reads: Reads): ReturnType<Reads> {
  return reads`exists (select 1 from blind_blocks)`;
}

/** Whether a network has any. */
export async function hasBlindBlocks(reads: Reads, networkId: string): Promise<boolean> {
  const rows = await reads`select 1 from blind_blocks where network_id = ${networkId} limit 1`;
  return rows.length > 0;
}

/** A header field that two people accept for a network (decision 0039). */
export interface AcceptedHeaderField {
  networkId: string;
  field: string;
  proposalId: string;
  /** Both of them. */
  acceptedBy: string;
}

/** Writes it down; one that is accepted already stays as it is. */
export async function insertAcceptedHeaderField(tx: Tx, { networkId, field, proposalId, acceptedBy }: AcceptedHeaderField): Promise<void> {
  await tx`insert into accepted_header_fields (network_id, field, proposal_id, accepted_by) values (${networkId}, ${field}, ${proposalId}, ${acceptedBy})
    on conflict (network_id, field) do nothing`;
}

/** How much of a refused message is kept, characters, and how many of them per network. */
const KEPT_CHARACTERS = 4_000;
const KEPT_MESSAGES = 1_000;

/** Sets a refused stream message aside and forgets the oldest ones of its network; parking it twice is harmless. */
export async function parkMessage(sql: Reads, message: { networkId: string; streamId: string; reason: string; payload: string }): Promise<void> {
  const payload = message.payload.slice(0, KEPT_CHARACTERS).replaceAll('\u0000', '');
  await sql`
    with parked as (
      insert into parked_messages (network_id, stream_id, reason, payload) values (${message.networkId}, ${message.streamId}, ${message.reason}, ${payload})
      on conflict (network_id, stream_id) do nothing
    )
    delete from parked_messages where id in (
      select id from parked_messages where network_id = ${message.networkId} order by id desc offset ${KEPT_MESSAGES})`;
}
