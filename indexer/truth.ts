import type { Reads, Sql } from '#shared/platform/postgres.ts';
import type { Last } from './trail.ts';

const WATCHES_PER_FETCH = 10_000;
/** Most unacknowledged addresses looked at in one go; the rest come right after. */
const UNACKED_AT_ONCE = 20_000;
/** Blocks of the consumer's chain that are enough to find where a fork left it. */
const TRAIL_BLOCKS = 1_024;

export interface KnownNetwork {
  id: string;
  genesisHash: string | null;
}

/** The consumer's tip: the only cursor there is. */
export interface ConsumerTip extends Last {
  finalHeight: number;
  epoch: number;
  seq: number;
}

/** Reads the row the api keeps for a network; undefined until it did. */
export async function findNetwork(sql: Reads, name: string): Promise<KnownNetwork | undefined> {
  const [row] = await sql<KnownNetwork[]>`select id, genesis_hash as "genesisHash" from networks where name = ${name}`;
  return row;
}

/** Reads the contracts of a network's tokens, canonical, paused ones included. */
export async function readTokenContracts(sql: Reads, networkId: string): Promise<Set<string>> {
  const rows = await sql<{ contract: string }[]>`select contract from assets where network_id = ${networkId} and contract is not null`;
  return new Set(rows.map((row) => row.contract));
}

/** Reads the consumer's tip; undefined before anything was ever applied. */
export async function readTip(sql: Reads, networkId: string): Promise<ConsumerTip | undefined> {
  const [row] = await sql<ConsumerTip[]>`
    select height, hash, extract(epoch from block_time)::bigint as time, final_height as "finalHeight", epoch, seq from chain_tips where network_id = ${networkId}`;
  return row;
}

/** Reads the canonical blocks the consumer remembers, newest first. */
export async function readTrail(sql: Reads, networkId: string): Promise<Last[]> {
  return sql<Last[]>`
    select height, hash, extract(epoch from block_time)::bigint as time from chain_blocks where network_id = ${networkId} and canonical order by height desc limit ${TRAIL_BLOCKS}`;
}

/** Hands every watched address to `add`, in one stream that never holds more than a few thousand of them. */
export async function loadWatches(sql: Sql, networkId: string, add: (address: string) => void): Promise<void> {
  const rows = sql<{ address: string }[]>`select address from watches where network_id = ${networkId} and (watch_until is null or watch_until > sluice_now())`;
  for await (const part of rows.cursor(WATCHES_PER_FETCH)) for (const row of part) add(row.address);
}

/** Reads the addresses whose watch nobody acknowledged yet, found by state and never by a moving id. */
export async function readUnacked(sql: Reads, networkId: string): Promise<string[]> {
  const rows = await sql<
    { address: string }[]
  >`select address from watches where network_id = ${networkId} and acked_epoch is null order by created_at limit ${UNACKED_AT_ONCE}`;
  return rows.map((row) => row.address);
}

/** Service time, Unix milliseconds: what is seen outside of blocks has no other. */
export async function readServiceTime(sql: Reads): Promise<number> {
  const [row] = await sql<[{ now: Date }]>`select sluice_now() as now`;
  return row.now.getTime();
}

/** Why this epoch must be given up, if anybody asked for it. */
export async function readRewindRequest(sql: Reads, networkId: string, epoch: number): Promise<string | undefined> {
  const [row] = await sql<{ reason: string }[]>`
    select reason from rewind_requests where network_id = ${networkId} and epoch >= ${epoch} order by epoch desc, id desc limit 1`;
  return row?.reason;
}
