import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { inject } from 'vitest';
import { type ChainConsumer, startChainConsumer } from '#api/consumers/chain-events.ts';
import type { Deps } from '#api/deps.ts';
import type { NetworkConfig } from '#shared/core/assets.ts';
import { indexerChannel, openStreams, type Streams } from '#shared/platform/redis-streams.ts';
import { aChain, type TestChain } from '#test/harness/chain.ts';
import { type FreshDatabase, freshDatabase } from '#test/harness/database.ts';
import { type Deployable, type DeployableOptions, startIndexer } from '#test/harness/deployables.ts';
import { type FreshRedis, freshRedis } from '#test/harness/redis.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { TEST_SECRETS } from '#test/harness/world.ts';

const log = pino({ level: process.env.SLUICE_TEST_LOGS ? 'debug' : 'silent' });

export interface Sighted {
  kind: string;
  txid: string;
  ordinal: number;
  height: number;
  sender: string;
  recipient: string | null;
  contract: string | null;
  rawAmount: string | null;
  canonical: boolean;
}

export interface Tip {
  height: number;
  hash: string;
  finalHeight: number;
  epoch: number;
  seq: number;
}

/** A chain, a database and a Redis with the real indexer between them and the real consumer at the end, and no api. */
export interface IndexerWorld {
  chain: TestChain;
  database: FreshDatabase;
  redis: FreshRedis;
  networkId: string;
  streams: Streams;
  /** What applying messages needs. */
  deps: Deps;
  /** Stops every indexer that runs; answers how many did. */
  stopIndexers(): Promise<number>;
  start(options?: DeployableOptions): Promise<Deployable>;
  startConsumer(): ChainConsumer;
  /** Asks for an address to be watched; returns at once. */
  watch(address: string): Promise<void>;
  /** Waits until the indexer's word that it watches the address was applied; returns the height it holds from. */
  watched(address: string): Promise<number>;
  tip(): Promise<Tip | undefined>;
  /** Waits until the consumer's tip is the chain's head. */
  caughtUp(): Promise<Tip>;
  sightings(): Promise<Sighted[]>;
  stop(): Promise<void>;
}

/** `blocksToFinal` is the network's finality rule; `blockSeconds` 0 mines only on demand. */
export async function anIndexerWorld(
  options: { blocksToFinal?: number; blockSeconds?: number; blocks?: number; configure?: (network: NetworkConfig) => NetworkConfig } = {},
): Promise<IndexerWorld> {
  const template = JSON.parse(await readFile('ops/dev/networks.json', 'utf8')) as { networks: [NetworkConfig] };
  const [database, redis, chain] = await Promise.all([freshDatabase(), freshRedis(), aChain({ blockSeconds: options.blockSeconds ?? 0 })]);
  const rule = { blocks: options.blocksToFinal ?? 2 };
  const plain: NetworkConfig = { ...template.networks[0], rpcUrls: [chain.url], finality: { resolve: [{ rule }], mature: rule } };
  const network = options.configure?.(plain) ?? plain;
  if (options.blocks !== undefined) await chain.mine(options.blocks);
  const directory = join(inject('services').directory, `indexer-${randomUUID()}`);
  await mkdir(directory, { recursive: true });
  const networksFile = join(directory, 'networks.json');
  await writeFile(networksFile, JSON.stringify({ networks: [network] }));
  const networkId = randomUUID();
  const { sql } = database;
  const genesis = await chain.node.call<{ hash: string }>('eth_getBlockByNumber', ['0x0', false]);
  await sql`insert into networks (id, name, family, chain_id, genesis_hash, native_symbol) values (${networkId}, ${network.name}, 'evm', ${network.chainId}, ${genesis.hash}, 'ETH')`;
  await sql`insert into assets (id, network_id, symbol, name, type, decimals) values (${randomUUID()}, ${networkId}, 'ETH', 'Ether', 'NATIVE', 18)`;
  await sql`
    insert into assets (id, network_id, symbol, name, type, contract, decimals)
    values (${randomUUID()}, ${networkId}, 'USDT', 'Tether USD', 'ERC20', ${chain.tokens.USDT.toLowerCase()}, 6)`;
  const streams = openStreams({ url: redis.url, key: TEST_SECRETS.SLUICE_STREAM_KEY, name: 'test', log });
  const environment = {
    NODE_ENV: 'test',
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    SLUICE_NETWORKS: networksFile,
    SLUICE_STREAM_KEY: TEST_SECRETS.SLUICE_STREAM_KEY,
  };
  const running: Deployable[] = [];
  const consumers: ChainConsumer[] = [];
  // Only what applying messages needs: there is no payment in this world that could be credited.
  const deps = {
    db: database.as('worker'),
    log,
    randomBytes,
    wallClock: Date.now,
    announce: () => undefined,
    wake: () => undefined,
    nudgeIndexer: (name: string) => streams.nudge(indexerChannel(name)),
    chains: new Map([[network.name, { id: networkId, config: network }]]),
  } as unknown as Deps;

  const tip = async (): Promise<Tip | undefined> => {
    const [row] = await sql<Tip[]>`select height, hash, final_height, epoch, seq from chain_tips where network_id = ${networkId}`;
    return row;
  };
  const world: IndexerWorld = {
    chain,
    database,
    redis,
    networkId,
    streams,
    deps,
    async stopIndexers() {
      const stopped = running.splice(0);
      await Promise.all(stopped.map((one) => one.stop()));
      return stopped.length;
    },
    tip,
    async start(more = {}) {
      const indexer = await startIndexer(environment, more);
      running.push(indexer);
      return indexer;
    },
    startConsumer() {
      const consumer = startChainConsumer(deps, streams, randomUUID());
      consumers.push(consumer);
      return consumer;
    },
    async watch(address) {
      await sql`insert into watches (network_id, address) values (${networkId}, ${address})`;
      deps.nudgeIndexer(network.name);
    },
    watched: (address) =>
      waitFor(
        async () => {
          const [row] = await sql<
            { watchedFrom: number }[]
          >`select watched_from from watches where network_id = ${networkId} and address = ${address} and acked_epoch is not null`;
          return row?.watchedFrom;
        },
        { what: 'the watch to be acknowledged' },
      ),
    caughtUp: () =>
      waitFor(
        async () => {
          const head = await chain.node.call<{ hash: string }>('eth_getBlockByNumber', ['latest', false]);
          const now = await tip();
          return now?.hash === head.hash ? now : undefined;
        },
        { what: 'the tip to be the head', timeoutMs: 40_000 },
      ),
    sightings: () =>
      sql<Sighted[]>`
        select kind, txid, ordinal, height, sender, recipient, contract, raw_amount::text, canonical from sightings
        where network_id = ${networkId} order by height, position, kind, ordinal`,
    async stop() {
      await Promise.all(running.map((one) => one.stop()));
      await Promise.all(consumers.map((one) => one.stop()));
      await streams.close();
      await Promise.all([chain.stop(), redis.stop(), database.drop()]);
    },
  };
  return world;
}
