import { randomBytes, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { pino } from 'pino';
import { startChainConsumer } from '#api/consumers/chain-events.ts';
import type { Deps } from '#api/deps.ts';
import type { Family, NetworkConfig } from '#shared/core/assets.ts';
import { openReader } from '#shared/chains/readers.ts';
import type { Database } from '#shared/platform/postgres.ts';
import { openStreams } from '#shared/platform/redis-streams.ts';
import { peakRssMib, usageOf } from './machine.ts';
import { type Process, SECRETS, type Stage } from './stage.ts';
import { insertWatches } from './watched.ts';

/** What the real indexer is to read: everything above the block before `from`, up to the node's head. */
export interface Indexing {
  family: Family;
  url: string;
  from: number;
  head: number;
  watched: number;
  /** The whole chain may fit into the first message; then all of it is counted, and the figures say nothing. */
  tiny?: boolean;
}

export interface Indexed {
  /** Blocks after those of the first message, which whatever starts and gets compiled is part of. */
  blocks: number;
  /** From the first message being applied to the head being applied: how long those blocks took. */
  seconds: number;
  /** CPU of the indexer meanwhile. */
  cpuSeconds: number;
  /** From the start of the process to following, loading what is watched included. */
  startSeconds: number;
  /** CPU of the indexer from the start of the process until the first message was applied. */
  startCpuSeconds: number;
  rssMib: number;
  peakRssMib: number;
  deposits: number;
  sum: string;
}

/** The real indexer on the way from a node through Redis to Postgres, where the real consumer writes. */
export interface Followed {
  database: Database;
  networkId: string;
  indexer: Process;
  stop(): Promise<void>;
}

const TEMPLATE = 'ops/dev/networks.json';

/** The local network of a family, at another node. */
export async function networkAt(family: Family, url: string): Promise<NetworkConfig> {
  const { networks } = JSON.parse(await readFile(TEMPLATE, 'utf8')) as { networks: NetworkConfig[] };
  return { ...(networks.find((network) => network.family === family) as NetworkConfig), rpcUrls: [url] };
}

/** Starts the consumer and the indexer over a fresh database whose tip is the block before `from`. */
export async function follow(stage: Stage, { family, url, from, watched }: Omit<Indexing, 'head'>): Promise<Followed> {
  const network = await networkAt(family, url);
  const database = await stage.database();
  const { sql } = database;
  const reader = openReader(network);
  const [genesis, tip] = await Promise.all([reader.genesisHash(), reader.blockAt(from - 1)]);
  await reader.close();
  const networkId = randomUUID();
  await sql`insert into networks (id, name, family, chain_id, genesis_hash, native_symbol)
    values (${networkId}, ${network.name}, ${family}, ${network.chainId}, ${genesis}, ${network.nativeSymbol})`;
  for (const asset of network.assets)
    await sql`insert into assets (id, network_id, symbol, name, type, contract, decimals)
      values (${randomUUID()}, ${networkId}, ${asset.symbol}, ${asset.name}, ${asset.type}, ${asset.contract}, ${asset.decimals})`;
  await sql`insert into chain_tips (network_id, height, hash, block_time, safe_height, final_height, head_height, epoch, seq)
    values (${networkId}, ${tip.height}, ${tip.hash}, to_timestamp(${tip.time}), ${tip.height}, ${tip.height}, ${tip.height}, 0, 0)`;
  await insertWatches(sql, networkId, family, watched);
  const log = pino({ level: 'silent' });
  const streams = openStreams({ url: stage.redisUrl, key: SECRETS.SLUICE_STREAM_KEY, name: 'sluice-bench', log });
  // Only what applying messages needs: there is no payment here that could be credited.
  const deps = {
    db: database,
    log,
    randomBytes,
    wallClock: Date.now,
    announce: () => undefined,
    chains: new Map([[network.name, { id: networkId, config: network }]]),
  };
  const consumer = startChainConsumer(deps as unknown as Deps, streams, randomUUID());
  const indexer = await stage.startIndexer(stage.environment(database, await stage.networksFile([network])));
  return {
    database,
    networkId,
    indexer,
    async stop() {
      await indexer.stop();
      await consumer.stop();
      await streams.close();
      await database.end();
    },
  };
}

/** Runs the indexer over a chain once and says how long that took and what it found. */
export async function index(stage: Stage, indexing: Indexing): Promise<Indexed> {
  const followed = await follow(stage, indexing);
  const { database, networkId, indexer } = followed;
  try {
    const begun = await untilTip(database, networkId, indexing.from);
    const startCpuSeconds = usageOf(indexer.pid).cpuSeconds;
    const { atMs } = await untilTip(database, networkId, indexing.head);
    const cpuSeconds = usageOf(indexer.pid).cpuSeconds - startCpuSeconds;
    const atOnce = begun.height >= indexing.head;
    if (atOnce && !indexing.tiny) throw new Error(`one message reached up to block ${indexing.head}: nothing is left to measure`);
    const lines = (await readFile(indexer.logFile, 'utf8'))
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as { msg: string; time: string | number });
    const following = lines.find(({ msg }) => msg === 'following');
    if (following === undefined) throw new Error('the indexer did not say when it began');
    const fromMs = new Date(following.time).getTime();
    const [found] = await database.sql<[{ deposits: number; sum: string }]>`
      select count(*)::int as deposits, coalesce(sum(raw_amount), 0)::text as sum from sightings where network_id = ${networkId} and kind <> 'sent' and canonical`;
    return {
      blocks: atOnce ? indexing.head - indexing.from + 1 : indexing.head - begun.height,
      seconds: (atMs - (atOnce ? fromMs : begun.atMs)) / 1_000,
      cpuSeconds,
      startSeconds: (fromMs - indexer.startedMs) / 1_000,
      startCpuSeconds,
      rssMib: usageOf(indexer.pid).rssMib,
      peakRssMib: peakRssMib(indexer.pid),
      ...found,
    };
  } finally {
    await followed.stop();
  }
}

/** Waits until the consumer applied a block, and says when, and which was the last one then; unlike what tests wait with, exact to a few milliseconds. */
export async function untilTip({ sql }: Database, networkId: string, least: number, timeoutMs = 300_000): Promise<{ height: number; atMs: number }> {
  const until = Date.now() + timeoutMs;
  for (;;) {
    const [tip] = await sql<{ height: number }[]>`select height from chain_tips where network_id = ${networkId}`;
    const atMs = Date.now();
    if (tip !== undefined && tip.height >= least) return { height: tip.height, atMs };
    if (atMs > until) throw new Error(`the tip is ${tip?.height} after ${timeoutMs} ms, not ${least}`);
    await pause(4);
  }
}
