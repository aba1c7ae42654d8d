import type { Database, Reads, Sql } from '#shared/platform/postgres.ts';
import type { Last } from './trail.ts';

/** Pages of Postgres that are read at once; each holds about 70 watches. */
const BLOCKS_PER_STRETCH = 256;
/** Stretches that are asked for before they are needed: with one, Postgres waits for whoever adds, because the driver sends a question only in the next turn. */
const STRETCHES_AHEAD = 2;
/** A watch that ran out is matched for longer: a transaction that began before may prolong it, and would not have it acknowledged again. */
const STILL_WATCHED_HOURS = 1;
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
  const [row] = await sql<KnownNetwork[]>`select id, genesis_hash from networks where name = ${name}`;
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
    select height, hash, extract(epoch from block_time)::bigint as time, final_height, epoch, seq from chain_tips where network_id = ${networkId}`;
  return row;
}

/** Reads the canonical blocks the consumer remembers, newest first. */
export async function readTrail(sql: Reads, networkId: string): Promise<Last[]> {
  return sql<Last[]>`
    select height, hash, extract(epoch from block_time)::bigint as time from chain_blocks where network_id = ${networkId} and canonical order by height desc limit ${TRAIL_BLOCKS}`;
}

/**
 * Hands every watched address to `add`, those of a stretch of the table at once, joined by spaces: a row for each would cost the driver ten times
 * the CPU (decision 0051). All stretches are read in one snapshot, because an acknowledgement may move a row from one that is still to be read to one
 * that was. A watch that is asked for after it is found by its missing acknowledgement.
 */
export async function loadWatches(snapshot: Database['snapshot'], networkId: string, add: (addresses: string) => void): Promise<void> {
  await snapshot(async (tx) => {
    // Nobody may write the table anew, and every row to another place, between two stretches.
    await tx`lock table watches in access share mode`;
    const [{ blocks }] = await tx<[{ blocks: number }]>`select pg_relation_size('watches') / current_setting('block_size')::bigint as blocks`;
    // The clock is asked by a question of its own, once: beside the column it would be asked again for each watch that ends.
    const stretch = async (from: number): Promise<string | null> => {
      const [row] = await tx<[{ addresses: string | null }]>`
        select string_agg(address, ' ') as addresses from watches
        where ctid >= ${`(${from},0)`}::tid and ctid < ${`(${from + BLOCKS_PER_STRETCH},0)`}::tid and network_id = ${networkId}
          and (watch_until is null or watch_until > (select sluice_now() - make_interval(hours => ${STILL_WATCHED_HOURS})))`;
      return row.addresses;
    };
    let next = 0;
    const ahead: Promise<string | null>[] = [];
    const askAhead = (): void => {
      for (; next < blocks && ahead.length < STRETCHES_AHEAD; next += BLOCKS_PER_STRETCH) {
        const asked = stretch(next);
        // Whoever waits for it hears of it; behind one that failed nobody does.
        asked.catch(() => undefined);
        ahead.push(asked);
      }
    };
    askAhead();
    while (ahead.length > 0) {
      const addresses = await ahead.shift();
      askAhead();
      if (typeof addresses === 'string') add(addresses);
    }
  });
}

/** The traces of the payments whose addresses these are, as far as they are traced. */
export async function readTraces(sql: Reads, networkId: string, { addresses, limit }: { addresses: readonly string[]; limit: number }): Promise<string[]> {
  const rows = await sql<{ trace: string }[]>`
    select distinct trace_context as trace from watches
    where network_id = ${networkId} and address = any(${[...addresses]}::text[]) and trace_context is not null limit ${limit}`;
  return rows.map((row) => row.trace);
}

/** Service time, Unix milliseconds: what is seen outside of blocks has no other. */
export async function readServiceTime(sql: Reads): Promise<number> {
  const [row] = await sql<[{ now: Date }]>`select sluice_now() as now`;
  return row.now.getTime();
}

/** A rescan that is not done yet. */
export interface OpenRescan {
  id: string;
  /** The next block to read; everything of it below is in the books. */
  nextHeight: number;
  toHeight: number;
  cause: 'operator' | 'logs';
}

/** The first rescan of a network that is not done, those of operators before others and leaving out `but`; undefined when there is none. */
export async function readRescan(sql: Reads, networkId: string, but: readonly string[] = []): Promise<OpenRescan | undefined> {
  const [row] = await sql<OpenRescan[]>`
    select id, next_height, to_height, cause from rescans where network_id = ${networkId} and finished_at is null and id <> all(${[...but]}::uuid[])
    order by cause = 'logs', requested_at, id limit 1`;
  return row;
}

/** Says in a rescan's row why its next block cannot be read. Locks that row. */
export async function noteRescanProblem(sql: Sql, id: string, problem: string): Promise<void> {
  await sql`update rescans set problem = ${problem} where id = ${id} and finished_at is null and problem is distinct from ${problem}`;
}

/** Whether nothing but tokens is waited for on a network (decision 0053). */
export async function doLogsSuffice(sql: Reads, networkId: string): Promise<boolean> {
  const [row] = await sql<[{ suffice: boolean }]>`select logs_suffice(${networkId}) as suffice`;
  return row.suffice;
}
