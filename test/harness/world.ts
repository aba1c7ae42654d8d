import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';
import { type GatewayCredentials, type Merchant, merchant, type Operator, operator } from '#ops/dev/client.ts';
import { DEMO_SEED } from '#shared/platform/config.ts';
import { publicHalf } from '#shared/platform/statements.ts';
import type { NetworkConfig } from '#shared/core/assets.ts';
import { assertCleanAudit } from './audit.ts';
import type { CommonChain, TestChain } from './chain.ts';
import { aChainOf } from './chains.ts';
import { type FreshDatabase, freshDatabase } from './database.ts';
import { type Deployable, type DeployableOptions, type RunningApi, startApi, startIndexer } from './deployables.ts';
import { beginJournal } from './journal.ts';
import { demoNetwork } from './networks.ts';
import { type FreshRedis, freshRedis } from './redis.ts';

/** Tokens of two people of the tests, by name. */
export const TEST_PEOPLE = { anna: 'test-token-of-anna-test-token-of-anna-test-token', ben: 'test-token-of-ben-test-token-of-ben-test-token-of' };

/** The same as configuration has them. */
export const TEST_OPERATOR_TOKENS = Object.entries(TEST_PEOPLE)
  .map(([name, token]) => `${name}=${token}`)
  .join(',');

/** Secrets of the tests; they open nothing. */
export const TEST_SECRETS = {
  SLUICE_STREAM_KEY: 'test-stream-key-test-stream-key-test-stream-key',
  SLUICE_API_KEY_PEPPER: 'test-pepper-test-pepper-test-pepper-test-pepper',
  SLUICE_OPERATOR_TOKEN: 'test-operator-token-test-operator-token-test-op',
  SLUICE_MASTER_KEY: 'test-master-key-test-master-key-test-master-key',
};
/** What the http role of the tests signs with. */
export const TEST_INTENT_KEY = '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60';
/** The demo seed: ops/dev/networks.json is derived from it. */
export const TEST_SEED = DEMO_SEED;

/** Dollars of a coin in a world, by symbol. */
export const WORLD_PRICES: Readonly<Record<string, string>> = { ETH: '2000', TRX: '0.3', BTC: '50000', USDT: '1', USDC: '1' };

/** Where the tests' webhook receivers are: allowed by configuration, so that the guard against private targets is never off. */
export const LOOPBACK = '127.0.0.0/8,::1/128';

export interface World {
  database: FreshDatabase;
  redis: FreshRedis;
  /** The first EVM chain. @throws when this world has none */
  chain: TestChain;
  /** The first network. */
  network: NetworkConfig;
  /** Every network with its chain, by name, in the order they were asked for. */
  networks: Map<string, WorldNetwork>;
  /** Path of the networks file every process of this world reads. */
  networksFile: string;
  /** Folder of the signer's journal, which is begun. */
  journal: string;
  /** What the api is started with; no process but the signer gets the seed. */
  environment: Record<string, string>;
  /** What the signer is started with, beside its role and the seed: no secret of the api, and only the public half of the key it accepts with. */
  signerEnvironment: Record<string, string>;
  /** http + worker. */
  startApi(options?: DeployableOptions): Promise<RunningApi>;
  /** The signer, alone with the seed. */
  startSigner(options?: DeployableOptions): Promise<RunningApi>;
  /** Follows every network, or only `network`. */
  startIndexer(options?: DeployableOptions & { network?: string }): Promise<Deployable>;
  /** Operator API of `api`. */
  operator(api: RunningApi): Operator;
  /** A gateway that may do everything from this machine, with its credentials; `settings` goes over the defaults. */
  aGateway(api: RunningApi, settings?: Record<string, unknown>): Promise<Merchant>;
  /** Sets the price of everything the demo networks know, unless others are given. */
  setPrices(api: RunningApi, prices?: Readonly<Record<string, string>>): Promise<void>;
  /** Runs the audit's checks and fails with the rows of each that is not clean. */
  audit(): Promise<void>;
  /** Stops whatever still runs, audits the books (unless told not to) and removes everything. */
  stop(options?: { audit?: boolean }): Promise<void>;
}

export interface WorldNetwork<Chain extends CommonChain = CommonChain> {
  network: NetworkConfig;
  chain: Chain;
}

export interface WorldOptions {
  /** What the deployment serves, each on a chain of its own; the demo's `ethereum` when absent. */
  networks?: NetworkConfig[];
  /** Seconds between blocks; 0: only by `chain.mine`; undefined: one block per transaction. */
  blockSeconds?: number;
  redis?: FreshRedis;
  /** The chain of the first network, instead of a new one. */
  chain?: CommonChain;
  /** Last changes to each network's configuration. */
  configure?(network: NetworkConfig): NetworkConfig;
}

/**
 * A whole deployment's surroundings: a database, a Redis, a chain per network with tokens and funded wallets, and a networks file.
 * Processes are started by the test, because most tests are about what happens to them.
 */
export async function aWorld(options: WorldOptions = {}): Promise<World> {
  const configured = options.networks ?? [await demoNetwork()];
  const open = async (one: NetworkConfig, index: number): Promise<WorldNetwork> => {
    const given = index === 0 ? options.chain : undefined;
    const fund = [one.wallets.funding.address, one.wallets.hot.address];
    const chain = given ?? (await aChainOf(one, { fund, ...(options.blockSeconds === undefined ? {} : { blockSeconds: options.blockSeconds }) }));
    const local = { ...one, rpcUrls: [chain.url] };
    return { network: options.configure?.(local) ?? local, chain };
  };
  const [database, redis, opened] = await Promise.all([freshDatabase(), options.redis ?? freshRedis(), Promise.all(configured.map(open))]);
  const networks = new Map(opened.map((one) => [one.network.name, one]));
  const directory = join(inject('services').directory, `world-${randomUUID()}`);
  await mkdir(directory, { recursive: true });
  const networksFile = join(directory, 'networks.json');
  await writeFile(networksFile, JSON.stringify({ networks: opened.map(({ network }) => network) }));
  const journal = join(directory, 'journal');
  await beginJournal(
    database,
    journal,
    opened.map(({ network }) => network),
  );
  const common = {
    NODE_ENV: 'test',
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    SLUICE_NETWORKS: networksFile,
    SLUICE_RATE_LIMIT_SCALE: '1000',
    SLUICE_MAIL_DIR: join(directory, 'mail'),
    SLUICE_PRIVATE_WEBHOOK_TARGETS: LOOPBACK,
  };
  const environment = { ...common, ...TEST_SECRETS, SLUICE_INTENT_KEY: TEST_INTENT_KEY, SLUICE_OPERATOR_TOKENS: TEST_OPERATOR_TOKENS };
  const signerEnvironment = { ...common, SLUICE_INTENT_PUBLIC_KEYS: publicHalf(TEST_INTENT_KEY) };
  const running = new Set<Deployable>();
  const keep = <D extends Deployable>(deployable: D): D => {
    running.add(deployable);
    void deployable.exited.then(() => running.delete(deployable));
    return deployable;
  };
  const operatorOf = (api: RunningApi): Operator => operator(api.operatorUrl, TEST_SECRETS.SLUICE_OPERATOR_TOKEN);
  const world: World = {
    database,
    redis,
    get chain() {
      const found = opened.find(({ chain }) => chain.family === 'evm');
      if (found === undefined) throw new Error('this world has no EVM chain');
      return found.chain as TestChain;
    },
    network: (opened[0] as WorldNetwork).network,
    networks,
    networksFile,
    journal,
    environment,
    signerEnvironment,
    startApi: async (more = {}) => {
      const roles = more.env?.SLUICE_ROLES ?? 'http,worker';
      // Who does not accept has no key to accept with, as configuration demands.
      const { SLUICE_INTENT_KEY: own, ...rest } = environment;
      const intents = roles.includes('http') ? { SLUICE_INTENT_KEY: own } : { SLUICE_INTENT_PUBLIC_KEYS: publicHalf(own) };
      return keep(await startApi({ ...rest, ...intents, SLUICE_ROLES: 'http,worker' }, more));
    },
    startSigner: async (more = {}) =>
      keep(await startApi({ ...signerEnvironment, SLUICE_ROLES: 'signer', SLUICE_SIGNER_SEED: TEST_SEED, SLUICE_SIGNER_JOURNAL: journal }, more)),
    startIndexer: async ({ network = '', ...more } = {}) =>
      keep(await startIndexer({ ...common, SLUICE_STREAM_KEY: environment.SLUICE_STREAM_KEY, SLUICE_INDEXER_NETWORKS: network }, more)),
    operator: operatorOf,
    async aGateway(api, settings = {}) {
      const created = await operatorOf(api).must('POST', '/gateways', { body: { ...aGateway(), ...settings } });
      const { gateway, apiKey, cashoutSigningSecret, webhookSecret } = created as { gateway: { id: string } } & Record<string, string>;
      const credentials = { id: gateway.id, apiKey, cashoutSigningSecret, webhookSecret } as GatewayCredentials;
      return merchant(api.baseUrl, credentials);
    },
    async setPrices(api, prices = WORLD_PRICES) {
      for (const [symbol, usd] of Object.entries(prices)) await operatorOf(api).must('PUT', `/prices/${symbol}`, { body: { usd } });
    },
    audit: () => assertCleanAudit(database),
    async stop({ audit = true } = {}) {
      try {
        await Promise.all([...running].map((deployable) => deployable.stop()));
        if (audit) await assertCleanAudit(database);
      } finally {
        await Promise.all([...opened.map(({ chain }) => chain.stop()), redis.stop(), database.drop()]);
      }
    },
  };
  return world;
}

/** Body of a gateway that may create payments and cash out from this machine. */
export function aGateway(name = 'Acme Books'): Record<string, unknown> {
  const here = ['127.0.0.1', '::1'];
  return { name, apiAllowlist: here, cashout: { enabled: true, allowlist: here } };
}

/** Body of an API-mode payment of `amount` US dollars. */
export function aPayment(webhookUrl: string, overrides: Record<string, unknown> = {}): Record<string, unknown> {
  return { currencyCode: 'USD', amount: '10', checkoutMode: 'API', webhookUrl, ...overrides };
}
