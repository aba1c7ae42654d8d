import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject } from 'vitest';
import { startChainConsumer } from '#api/consumers/chain-events.ts';
import type { Deps } from '#api/deps.ts';
import { type FollowedChain, followChain } from '#indexer/chain.ts';
import { createPayment } from '#api/payments/create.ts';
import { selectOffer } from '#api/payments/select-offer.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { openEndpoints, openReader } from '#shared/chains/readers.ts';
import type { NetworkConfig } from '#shared/core/assets.ts';
import { parseTrusted, toUnits } from '#shared/core/money.ts';
import { createIndexerMetrics } from '#shared/platform/metrics.ts';
import { connect, type Database } from '#shared/platform/postgres.ts';
import { openStreams, type Streams } from '#shared/platform/redis-streams.ts';
import { type FlawedRpc, startFlawedRpc } from '#test/fixtures/flawed-rpc.ts';
import { assertCleanAudit } from '#test/harness/audit.ts';
import { type Listening, listen } from '#test/contract/service.ts';
import { aChain, type TestChain } from '#test/harness/chain.ts';
import { type Deployable, type DeployableOptions, startIndexer } from '#test/harness/deployables.ts';
import { type FaultProxy, faultProxy } from '#test/harness/fault-proxy.ts';
import { type InProcess, inProcess, plainCommit } from '#test/harness/in-process.ts';
import { urlFor } from '#test/harness/logins.ts';
import { LOOPBACK, TEST_SECRETS } from '#test/harness/world.ts';
import type { Random } from '#test/simulation/random.ts';

/** Blocks until a block of a river is final; deep enough that a reorganisation has room above it. */
export const FINAL_BLOCKS = 33;
/** Blocks until a deposit is credited: earlier than final, as a network with tiers does it. */
export const CREDIT_BLOCKS = 3;

/** A payment that waits for its coins. */
export interface Offered {
  paymentId: string;
  address: string;
  rawAmount: bigint;
}

/** A transfer to a payment's address; the first pays it, later ones come on top. */
export interface Paid extends Offered {
  txid: string;
}

/**
 * Where faults of the way from the chain to the books happen: a chain, two endpoints of it, the real indexer, Redis, the real
 * consumer and the books, with a proxy in front of everything they talk to. It all runs by itself, in this process.
 */
export interface River {
  world: InProcess;
  chain: TestChain;
  deps: Deps;
  network: NetworkConfig;
  /** The ways to Postgres, Redis and both endpoints; the test itself goes none of them. */
  postgres: FaultProxy;
  redis: FaultProxy;
  rpc: readonly [FaultProxy, FaultProxy];
  endpoints: readonly [FlawedRpc, FlawedRpc];
  /** The http side over the same ways. */
  http(): Promise<Listening>;
  /** What the consumer hears the indexer by. */
  streams: Streams;
  /** The indexer that runs; undefined while none does. */
  indexer(): FollowedChain | undefined;
  startIndexer(): FollowedChain;
  stopIndexer(): Promise<void>;
  /** A process of its own, as it is deployed, by the same proxies. */
  spawnIndexer(options?: DeployableOptions): Promise<Deployable>;
  /** A forgetful one acknowledges nothing, as one that dies each time before it does. */
  startConsumer(options?: { forgetful?: true }): void;
  stopConsumer(): Promise<void>;
  /** The clocks of this process's indexer and consumer jump. */
  hurry(seconds: number): void;
  /** Time passes for everybody. */
  pass(seconds: number): Promise<void>;
  /** Payments of random amounts that wait for their coins. */
  offers(count: number, random: Random): Promise<Offered[]>;
  /** Sends each this much, unmined. */
  send(offers: readonly Offered[]): Promise<Paid[]>;
  /** Waits until the tip of the books is the head of the chain. */
  caughtUp(timeoutMs?: number): Promise<void>;
  /** Mines until all that is mined is deep enough, and waits until every one of them is paid: once, by one credit of what came. */
  expectCredited(paid: readonly Paid[], timeoutMs?: number): Promise<void>;
  tip(): Promise<{ height: number; hash: string; epoch: number; finalHeight: number } | undefined>;
  audit(): Promise<void>;
  /** Takes every fault away and has everything run again. */
  mend(): Promise<void>;
  stop(): Promise<void>;
}

/** Opens one that flows. */
export async function aRiver(): Promise<River> {
  const [world, chain, first, second] = await Promise.all([
    inProcess({ config: { SLUICE_RATE_LIMIT_SCALE: 1_000 } }),
    aChain({ blockSeconds: 0 }),
    startFlawedRpc(),
    startFlawedRpc(),
  ]);
  first.target = second.target = chain.url;
  const portOf = (url: string): number => Number(new URL(url).port);
  const [postgres, redis, ...rpc] = await Promise.all([
    faultProxy({ port: portOf(world.database.url) }),
    faultProxy({ port: portOf(world.redis.url) }),
    faultProxy({ port: portOf(first.url) }),
    faultProxy({ port: portOf(second.url) }),
  ]);
  const network: NetworkConfig = {
    ...world.network.config,
    rpcUrls: [rpc[0].url(first.url), rpc[1].url(second.url)],
    finality: { resolve: [{ rule: { blocks: CREDIT_BLOCKS } }], mature: { blocks: FINAL_BLOCKS } },
  };
  const db = connect(postgres.url(urlFor(world.database.url)), { name: 'river', max: 10 });
  let skewMs = 0;
  const stored = world.deps.chains.get(network.name);
  if (stored === undefined) throw new Error('the network is not stored');
  const genesis = await chain.node.call<{ hash: string }>('eth_getBlockByNumber', ['0x0', false]);
  await world.database.sql`update networks set genesis_hash = ${genesis.hash} where id = ${stored.id}`;
  const reader = openReader({ ...network, rpcUrls: [chain.url] });
  const deps: Deps = {
    ...world.deps,
    db,
    chains: new Map([[network.name, { ...stored, config: network, reader }]]),
    wallClock: () => Date.now() + skewMs,
  };
  const { log } = deps;
  const key = TEST_SECRETS.SLUICE_STREAM_KEY;
  const redisUrl = redis.url(world.redis.url);
  const streams = openStreams({ url: redisUrl, key, name: 'river-api', log });

  let running: { chain: FollowedChain; database: Database; streams: Streams } | undefined;
  let listening: Promise<Listening> | undefined;
  let consumer: ReturnType<typeof startChainConsumer> | undefined;
  const spawned: Deployable[] = [];
  const directory = join(inject('services').directory, `river-${randomUUID()}`);
  await mkdir(directory, { recursive: true });
  const networksFile = join(directory, 'networks.json');
  await writeFile(networksFile, JSON.stringify({ networks: [network] }));
  const { sql } = world.database;
  const gateway = await world.aGateway({ settings: { maturitySeconds: 0 } });

  const river: River = {
    world,
    chain,
    deps,
    network,
    postgres,
    redis,
    rpc: [rpc[0], rpc[1]],
    endpoints: [first, second],
    http() {
      listening ??= listen(deps);
      return listening;
    },
    streams,
    indexer: () => running?.chain,
    startIndexer() {
      const own = {
        database: connect(postgres.url(urlFor(world.database.url, ['indexer'])), { name: 'river-indexer', max: 4 }),
        streams: openStreams({ url: redisUrl, key, name: 'river-indexer', log }),
      };
      const followed = followChain(
        {
          sql: own.database.sql,
          snapshot: own.database.snapshot,
          streams: own.streams,
          log,
          metrics: createIndexerMetrics('test'),
          holder: randomUUID(),
          openReader: (one) => openReader(one, openEndpoints(one)),
          monotonicMs: () => performance.now() + skewMs,
        },
        network,
      );
      running = { chain: followed, ...own };
      return followed;
    },
    async stopIndexer() {
      const stopping = running;
      running = undefined;
      await stopping?.chain.stop();
      await stopping?.streams.close();
      await stopping?.database.end();
    },
    async spawnIndexer(options = {}) {
      const environment = { NODE_ENV: 'test', DATABASE_URL: postgres.url(world.database.url), REDIS_URL: redisUrl };
      const one = await startIndexer(
        { ...environment, SLUICE_NETWORKS: networksFile, SLUICE_STREAM_KEY: key, SLUICE_PRIVATE_WEBHOOK_TARGETS: LOOPBACK },
        options,
      );
      spawned.push(one);
      return one;
    },
    startConsumer({ forgetful } = {}) {
      const reader: Streams['reader'] = (...at) => ({ ...streams.reader(...at), ack: async () => undefined });
      consumer ??= startChainConsumer(deps, forgetful ? { ...streams, reader } : streams, randomUUID());
    },
    async stopConsumer() {
      const stopping = consumer;
      consumer = undefined;
      await stopping?.stop();
    },
    hurry(seconds) {
      skewMs += seconds * 1_000;
    },
    async pass(seconds) {
      river.hurry(seconds);
      await world.advance(seconds);
      await chain.node.call('evm_increaseTime', [seconds]);
    },
    offers: (count, random) =>
      Promise.all(
        Array.from({ length: count }, async () => {
          const body = { currencyCode: 'USD', amount: String(2 + random.below(40)), checkoutMode: 'API' as const, webhookUrl: 'http://127.0.0.1:4242/webhook' };
          const direct = { ...deps, db: world.deps.db };
          const created = await createPayment(direct, { gateway, body, clientIp: '127.0.0.1', commit: plainCommit(direct) });
          const { id, offers } = (created.data as { payment: { id: string; offers: { id: string; assetSymbol: string; totalValue: string }[] } }).payment;
          const offer = offers.find(({ assetSymbol }) => assetSymbol === 'USDT') as (typeof offers)[number];
          const address = await waitFor(
            async () => {
              const { data } = await selectOffer(direct, { paymentId: id, offerId: offer.id, clientIp: '127.0.0.1' });
              return (data as { depositAddress?: string }).depositAddress;
            },
            { what: 'an address' },
          );
          return { paymentId: id, address: address.toLowerCase(), rawAmount: toUnits(parseTrusted(offer.totalValue), 6) as bigint };
        }),
      ),
    async send(offers) {
      const paid: Paid[] = [];
      for (const offer of offers) paid.push({ ...offer, txid: await chain.pay(offer.address, chain.tokens.USDT, offer.rawAmount) });
      return paid;
    },
    async caughtUp(timeoutMs = 40_000) {
      await waitFor(async () => (await river.tip())?.hash === (await chain.headHash()), { what: 'the tip to be the head', timeoutMs });
    },
    async expectCredited(paid, timeoutMs = 60_000) {
      await chain.mine(CREDIT_BLOCKS);
      const ids = [...new Set(paid.map(({ paymentId }) => paymentId))];
      await river.caughtUp(timeoutMs);
      await waitFor(async () => (await sql`select 1 from payments where id = any(${ids}) and status = 'SUCCESS'`).length === ids.length, {
        what: 'every payment to succeed',
        timeoutMs,
      });
      await waitFor(async () => (await sql`select 1 from deposits where payment_id = any(${ids}) and state = 'seen'`).length === 0, {
        what: 'every deposit to be booked',
        timeoutMs,
      });
      // Many of one block are one row, whose parts are listed beside it.
      const deposits = await sql<{ paymentId: string; txid: string; rawAmount: string; state: string }[]>`
        select d.payment_id, coalesce(p.txid, d.txid) as txid, coalesce(p.raw_amount, d.raw_amount)::text as "rawAmount", d.state from deposits d
        left join transfer_sums s on d.parts is not null and s.network_id = d.network_id and s.block_hash = d.block_hash and s.txid = d.txid and s.kind = d.kind
          and s.ordinal = d.ordinal
        left join lateral unnest(s.txids, s.raw_amounts) as p (txid, raw_amount) on true
        where d.payment_id = any(${ids}) and d.state <> 'dropped'`;
      const byId = (a: { txid: string }, b: { txid: string }): number => a.txid.localeCompare(b.txid);
      expect([...deposits].sort(byId)).toEqual(
        paid.map(({ paymentId, txid, rawAmount }) => ({ paymentId, txid, rawAmount: String(rawAmount), state: 'credited' })).sort(byId),
      );
      // What comes in one block is booked together: it is the sums that must be right.
      const booked = await sql<{ paymentId: string; rawAmount: string }[]>`
        select d.payment_id, trunc(-sum(e.amount) * 1000000)::text as "rawAmount" from deposits d
        join ledger_transactions t on t.source_key = 'deposit:' || d.id join ledger_entries e on e.transaction_id = t.id
        join ledger_accounts a on a.id = e.account_id and a.kind = 'chain' where d.payment_id = any(${ids}) group by d.payment_id`;
      const sums = new Map(ids.map((id) => [id, paid.filter((one) => one.paymentId === id).reduce((sum, { rawAmount }) => sum + rawAmount, 0n)]));
      expect(new Map(booked.map(({ paymentId, rawAmount }) => [paymentId, BigInt(rawAmount)]))).toEqual(sums);
      for (const { paymentId, address } of paid.slice(0, 3)) expect(await chain.tokenBalance(chain.tokens.USDT, address)).toBe(sums.get(paymentId));
      const told = await sql<{ paymentId: string }[]>`select payment_id from webhook_events where payment_id = any(${ids})`;
      expect(told, 'one webhook each').toHaveLength(ids.length);
    },
    async tip() {
      const [row] = await sql<{ height: number; hash: string; epoch: number; finalHeight: number }[]>`
        select height, hash, epoch, final_height from chain_tips where network_id = ${stored.id}`;
      return row;
    },
    audit: () => assertCleanAudit(world.database),
    async mend() {
      for (const proxy of [postgres, redis, ...rpc]) proxy.mend();
      for (const one of [first, second]) one.flaw = 'none';
      if (running === undefined) river.startIndexer();
      river.startConsumer();
      await river.caughtUp();
    },
    async stop() {
      for (const proxy of [postgres, redis, ...rpc]) proxy.mend();
      await Promise.all(spawned.map((one) => one.kill()));
      await river.stopIndexer();
      await river.stopConsumer();
      await (await listening)?.close();
      await streams.close();
      await Promise.all([db.end(), reader.close(), first.stop(), second.stop()]);
      await Promise.all([postgres, redis, ...rpc].map((proxy) => proxy.close()));
      await Promise.all([chain.stop(), world.stop()]);
    },
  };
  river.startConsumer();
  river.startIndexer();
  await chain.mine(2 * FINAL_BLOCKS);
  await river.caughtUp();
  return river;
}
