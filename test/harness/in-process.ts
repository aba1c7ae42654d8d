import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { storedPrices } from '#api/clients/prices.ts';
import type { Chain, Commit, Deps, Gateway, Mail } from '#api/deps.ts';
import { readGateway } from '#api/gateways/gateway-settings.ts';
import { newSecret, replaceSecret } from '#api/gateways/secrets.ts';
import { seedNetworks } from '#api/operator/seed-networks.ts';
import { openScreeningSources } from '#api/clients/screening/registry.ts';
import { anyAddress } from '#api/screening/any-address.ts';
import { openScreening } from '#api/screening/open.ts';
import { setScreeningCredits } from '#api/store/screenings.ts';
import { listAssets, type StoredAsset } from '#api/store/assets.ts';
import { advanceClock } from '#api/store/clock.ts';
import { insertGateway } from '#api/store/gateways.ts';
import { upsertPrice } from '#api/store/prices.ts';
import { codecOf, openDeriver } from '#shared/chains/codecs.ts';
import type { NetworkConfig } from '#shared/core/assets.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import { parseTrusted } from '#shared/core/money.ts';
import { type ApiConfig, readApiConfig } from '#shared/platform/config.ts';
import { createLogger } from '#shared/platform/logger.ts';
import { createLimiter } from '#shared/platform/limiter.ts';
import { absent } from './absent.ts';
import { type FreshDatabase, freshDatabase } from './database.ts';
import { demoNetwork } from './networks.ts';
import { aJournal } from './journal.ts';
import { urlFor } from './logins.ts';
import { freshRedis, type FreshRedis } from './redis.ts';
import { LOOPBACK, TEST_INTENT_KEY, TEST_OPERATOR_TOKENS, TEST_SECRETS } from './world.ts';

/** The api's use cases without its processes: real Postgres, real derivation, no chain behind the network. */
export interface InProcess {
  /** What product code is given: its `db` may do what the roles of the api may do, and no more. */
  deps: Deps;
  /** The test's own: owns everything. */
  database: FreshDatabase;
  redis: FreshRedis;
  /** The demo network: `ethereum` unless another was asked for. */
  network: { id: string; config: NetworkConfig };
  /** The demo network's, by symbol. */
  assets: Record<string, StoredAsset>;
  /** How often `deps.wake` and `deps.nudgeIndexer` were called, and what was announced. */
  calls: { wake: number; nudged: string[]; announced: { paymentIds: readonly string[]; network?: string | undefined }[] };
  /** Every mail that was sent. */
  mails: Mail[];
  /** Folder of the signer's journal. */
  journalFolder: string;
  /** Adds a gateway; `input` goes over the operator API's defaults. */
  aGateway(input?: Record<string, unknown>): Promise<Gateway & { webhookSecret: string }>;
  setPrice(symbol: string, usd: string, source?: string): Promise<void>;
  /** Moves the service clock; the wall clock stays. */
  advance(seconds: number): Promise<void>;
  /** Plays the indexer: acknowledges every watch that waits. Returns the addresses. */
  acknowledge(): Promise<string[]>;
  stop(): Promise<void>;
}

export interface InProcessOptions {
  /** Goes over the configuration. */
  config?: Partial<ApiConfig>;
  /** Which of the demo networks; `ethereum` when absent. */
  network?: string;
  /** Networks beside the demo network. */
  moreNetworks?(demo: NetworkConfig): NetworkConfig[];
}

/** Opens a fresh database with the demo network, its assets, currencies and default prices. */
export async function inProcess(options: InProcessOptions = {}): Promise<InProcess> {
  const [database, redis] = await Promise.all([freshDatabase(), freshRedis()]);
  const config: ApiConfig = {
    ...readApiConfig({
      NODE_ENV: 'test',
      DATABASE_URL: urlFor(database.url),
      REDIS_URL: redis.url,
      SLUICE_NETWORKS: 'ops/dev/networks.json',
      SLUICE_ROLES: 'http,worker',
      SLUICE_LOG_LEVEL: 'silent',
      SLUICE_PRIVATE_WEBHOOK_TARGETS: LOOPBACK,
      ...TEST_SECRETS,
      SLUICE_INTENT_KEY: TEST_INTENT_KEY,
      SLUICE_OPERATOR_TOKENS: TEST_OPERATOR_TOKENS,
    }),
    ...options.config,
  };
  const db = database.as();
  const network = await demoNetwork(options.network);
  const networks = [network, ...(options.moreNetworks?.(network) ?? [])];
  const random = (length: number): Uint8Array => randomBytes(length);
  const ids = await seedNetworks({ db, networks, codec: codecOf, staticPrices: true, randomBytes: random });
  const chains = new Map<string, Chain>(
    networks.map((one) => [
      one.name,
      { id: ids.get(one.name) as string, config: one, codec: codecOf(one), deriver: openDeriver(one), reader: absent('reader'), payer: absent('payer') },
    ]),
  );
  const mails: Mail[] = [];
  const calls: InProcess['calls'] = { wake: 0, nudged: [], announced: [] };
  const log = createLogger({ component: 'test', level: process.env.SLUICE_TEST_LOGS ? 'debug' : 'silent' });
  const sources = openScreeningSources(config, { db, log, canonical: anyAddress(chains.values()) });
  const memory = await aJournal(db, { networks, log });
  const deps: Deps = {
    db,
    config,
    log,
    chains,
    prices: storedPrices(db, { staticAllowed: true }),
    screening: openScreening({ db, log, randomBytes: random, sources }),
    mail: { send: async (mail) => void mails.push(mail) },
    limiter: createLimiter({ now: () => Date.now() }),
    randomBytes: random,
    wallClock: () => Date.now(),
    wake: () => {
      calls.wake += 1;
    },
    nudgeIndexer: (name) => void calls.nudged.push(name),
    announce: (paymentIds, name) => void calls.announced.push({ paymentIds, network: name }),
    journal: memory.journal,
  };
  const assets = Object.fromEntries(
    (await listAssets(database.sql)).filter((asset) => asset.networkName === network.name).map((asset) => [asset.symbol, asset]),
  );
  return {
    deps,
    database,
    redis,
    network: { id: ids.get(network.name) as string, config: network },
    assets,
    calls,
    mails,
    journalFolder: memory.folder,
    async aGateway(input = {}) {
      const webhookSecret = newSecret('webhook', random);
      const { screeningCredits, ...read } = readGateway({ name: 'Acme Books', apiAllowlist: ['127.0.0.1'], ...input });
      const gateway: Gateway = { id: uuidFrom(random(16)), ...read };
      await db.transaction(async (tx) => {
        await insertGateway(tx, gateway);
        await setScreeningCredits(tx, gateway.id, screeningCredits ?? 0);
        await replaceSecret(deps, tx, { gatewayId: gateway.id, kind: 'webhook', secret: webhookSecret, overlapSeconds: 0 });
      });
      return { ...gateway, webhookSecret };
    },
    setPrice: (symbol, usd, source = 'static') => db.transaction((tx) => upsertPrice(tx, { symbol, usd: parseTrusted(usd), source })),
    advance: (seconds) => db.transaction((tx) => advanceClock(tx, seconds)),
    async acknowledge() {
      const rows = await database.sql<{ address: string }[]>`update watches set acked_epoch = 1, watched_from = 1 where acked_epoch is null returning address`;
      // Called again and again until somebody's address is there.
      if (rows.length === 0) await pause(5);
      return rows.map((row) => row.address);
    },
    async stop() {
      await Promise.all([redis.stop(), memory.stop(), database.drop()]);
    },
  };
}

/** The one transaction of a call that carries no Idempotency-Key. */
export function plainCommit(deps: Deps): Commit {
  return (work) => deps.db.transaction(work);
}
