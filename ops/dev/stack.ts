import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NetworkConfig } from '#shared/core/assets.ts';
import { connect } from '#shared/platform/postgres.ts';
import { type GatewayCredentials, type Operator, operator } from './client.ts';
import { DEMO_SEED, type DemoSecrets, demoSecrets } from './demo-secrets.ts';
import { DEV_FILE, type DevFile, type DevNetwork, writeDevFile } from './dev-file.ts';
import { explorerPage } from './explorer.ts';
import { FAUCET, mined, topUp } from './local-evm.ts';
import { blockHash, type LocalNetworks, startMining, startNetworks } from './local-networks.ts';
import { forgetChildren, otherRunner, rememberChild, stopLeftovers, takeRunnerLock } from './runner-lock.ts';
import { plainEnvironment } from './services/child.ts';
import { ensureDatabase, seconds, startPostgres } from './services/postgres.ts';
import { logFile, startRedis } from './services/redis.ts';
import { freePort, waitFor } from './services/wait.ts';
import { type Supervised, supervise } from './supervisor.ts';
import { type ReceivedWebhook, startWebhookReceiver } from './webhook-receiver.ts';

export interface StackOptions {
  root: string;
  say(line: string): void;
  /** Forgets chains, database and Redis first. */
  reset: boolean;
  onWebhook(webhook: ReceivedWebhook, dev: DevFile): void;
}

export interface Stack {
  dev: DevFile;
  /** Stops api, indexers, chains, Redis and Postgres, in that order, and keeps the data. */
  stop(): Promise<void>;
}

/** A reason not to start that a person can act on; shown without a stack trace. */
export class CannotStart extends Error {}

/** Native coins each wallet of the deployment is brought to on a local chain. */
const WALLET_ETHER = 1_000n;
const READY_WITHIN_MS = 60_000;

/** Starts a whole Sluice deployment on this machine, on real servers and the real deployables in dist/ (operability 1). */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { root, say } = options;
  const directory = join(root, '.sluice');
  await mkdir(join(directory, 'logs'), { recursive: true });
  const other = await otherRunner(directory);
  if (other !== undefined) throw new CannotStart(`sluice already runs on this data (process ${other}; see ${DEV_FILE}). Stop it with Ctrl+C there first.`);
  const unlock = await takeRunnerLock(directory);
  const stops: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    for (const step of stops.splice(0).reverse()) await step();
  };
  try {
    stops.push(unlock);
    await rm(join(directory, 'dev.json'), { force: true });
    const leftovers = await stopLeftovers(directory);
    if (leftovers > 0) say(`stopped ${leftovers} processes of a run that was killed`);
    if (options.reset) await forgetEverything(directory, say);
    return { dev: await bringUp(options, directory, stops), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function bringUp(options: StackOptions, directory: string, stops: (() => Promise<void>)[]): Promise<DevFile> {
  const { root, say } = options;
  const log = (name: string) => logFile(join(directory, 'logs', `${name}.log`));
  stops.push(() => forgetChildren(directory));
  const ports = await choosePorts(say);
  let dev: DevFile | undefined;

  let began = performance.now();
  const postgresLog = log('postgres');
  const postgres = await startPostgres({ root, directory: join(directory, 'postgres'), log: postgresLog });
  stops.push(() => postgres.stop());
  const databaseUrl = postgres.external ? postgres.url : await ensureDatabase(postgres.url, 'sluice');
  say(`postgres ${postgres.external ? 'at DATABASE_URL' : 'started'} in ${seconds(began)}`);

  began = performance.now();
  const redisLog = log('redis');
  const redis = await startRedis({
    root,
    directory: join(directory, 'redis'),
    log: (line) => (line.startsWith('no redis-server') || line.startsWith('Redis unpacked') ? say(line) : redisLog(line)),
  });
  stops.push(() => redis.stop());
  if (redis.pid !== undefined) await rememberChild(directory, redis.pid);
  say(`redis ${redis.external ? 'at REDIS_URL' : 'started'} in ${seconds(began)}`);

  let local: LocalNetworks | undefined;
  const receiver = await startWebhookReceiver({
    port: ports.receiver,
    onWebhook: (webhook) => dev && options.onWebhook(webhook, dev),
    pages: (path) => explorerPage(local, path),
  });
  stops.push(() => receiver.stop());

  began = performance.now();
  await mkdir(join(directory, 'chains'), { recursive: true });
  local = await startNetworks({
    root,
    directory: join(directory, 'chains'),
    explorerOrigin: new URL(receiver.url).origin,
    onChild: (pid) => rememberChild(directory, pid),
    log: say,
  });
  for (const [name, anvil] of local.chains) {
    let stopping = false;
    void anvil.service.exited.then(() => stopping || say(`the ${name} node stopped by itself; stop with Ctrl+C and start again`));
    stops.push(async () => {
      stopping = true;
      await anvil.stop();
    });
  }
  await refuseOtherChains(databaseUrl, local.networks);
  const serviceNow = await readServiceClock(databaseUrl);
  for (const network of local.networks) {
    const anvil = local.chains.get(network.name);
    if (anvil) await startMining(anvil, { blockSeconds: network.blockSeconds, serviceNow });
  }
  say(`${local.networks.map((network) => network.name).join(', ')} ${local.chains.size > 0 ? 'local chain ready' : 'reached'} in ${seconds(began)}`);

  began = performance.now();
  const secrets = await demoSecrets(join(directory, 'secrets.json'));
  const processes = await startProcesses({
    root,
    directory,
    ports,
    databaseUrl,
    redisUrl: redis.url,
    local,
    secrets,
    say,
    onPids: () => dev && publish(dev, processes, directory),
  });
  stops.push(async () => {
    // The indexers publish for the api: it goes first, they follow.
    await Promise.all([processes.api.stop(), processes.signer.stop()]);
    await Promise.all([...processes.indexers.values()].map((indexer) => indexer.stop()));
  });
  await Promise.all([
    untilReady(ports.apiMetrics, processes.api),
    untilReady(ports.signerMetrics, processes.signer),
    ...[...processes.indexers].map(([name, indexer]) => untilReady(ports.indexerMetrics.get(name) as number, indexer)),
  ]);
  say(`api, signer and ${processes.indexers.size === 1 ? 'indexer' : 'indexers'} ready in ${seconds(began)}`);

  const origin = `http://127.0.0.1:${ports.api}`;
  const control = operator(`${origin}/operator/v1`, secrets.SLUICE_OPERATOR_TOKEN);
  const gateway = await demoGateway(control, join(directory, 'demo-gateway.json'));
  await fundWallets(local, databaseUrl, say);
  dev = {
    api: { baseUrl: `${origin}/api/v1`, origin, pid: processes.api.pid() },
    checkoutUrl: `http://127.0.0.1:${ports.checkout}`,
    dashboardUrl: null,
    operatorUrl: `${origin}/operator/v1`,
    operatorToken: secrets.SLUICE_OPERATOR_TOKEN,
    metrics: {
      api: `http://127.0.0.1:${ports.apiMetrics}/metrics`,
      indexers: Object.fromEntries([...ports.indexerMetrics].map(([name, port]) => [name, `http://127.0.0.1:${port}/metrics`])),
    },
    databaseUrl,
    redisUrl: redis.url,
    gateway,
    webhookReceiver: { url: receiver.url, log: receiver.logUrl },
    networks: await describeNetworks(control, local, processes),
    assets: await describeAssets(control, local),
    signer: { pid: processes.signer.pid() },
    runnerPid: process.pid,
  };
  await publish(dev, processes, directory);
  stops.push(() => rm(join(directory, 'dev.json'), { force: true }));
  return dev;
}

interface Ports {
  api: number;
  checkout: number;
  receiver: number;
  apiMetrics: number;
  signerMetrics: number;
  signer: number;
  indexerMetrics: Map<string, number>;
}

/** The usual ports, or the next free ones; says which were taken. */
async function choosePorts(say: (line: string) => void): Promise<Ports> {
  const taken = new Set<number>();
  const choose = async (name: string, preferred: number): Promise<number> => {
    let port = await freePort(preferred);
    while (taken.has(port)) port = await freePort(port + 1);
    taken.add(port);
    if (port !== preferred) say(`port ${preferred} is taken; ${name} uses ${port}`);
    return port;
  };
  return {
    api: await choose('the api', Number(process.env.SLUICE_PORT ?? 3000)),
    checkout: await choose('the checkout', Number(process.env.SLUICE_CHECKOUT_PORT ?? 3001)),
    receiver: await choose('the webhook receiver', 4242),
    apiMetrics: await choose('metrics of the api', 9464),
    signerMetrics: await choose('metrics of the signer', 9465),
    signer: await freePort(),
    indexerMetrics: new Map(),
  };
}

interface Processes {
  api: Supervised;
  signer: Supervised;
  indexers: Map<string, Supervised>;
}

interface ProcessOptions {
  root: string;
  directory: string;
  ports: Ports;
  databaseUrl: string;
  redisUrl: string;
  local: LocalNetworks;
  secrets: DemoSecrets;
  say(line: string): void;
  onPids(): void;
}

/** The deployables as production runs them: http and worker, the signer apart and alone with the seed, one indexer per network. */
async function startProcesses(options: ProcessOptions): Promise<Processes> {
  const { ports, secrets } = options;
  const passed = ['SLUICE_LOG_LEVEL', 'OTEL_EXPORTER_OTLP_ENDPOINT'].filter((name) => process.env[name] !== undefined);
  const common = {
    ...plainEnvironment(),
    ...Object.fromEntries(passed.map((name) => [name, process.env[name]])),
    NODE_ENV: 'development',
    DATABASE_URL: options.databaseUrl,
    REDIS_URL: options.redisUrl,
    SLUICE_NETWORKS: options.local.file,
    SLUICE_STREAM_KEY: secrets.SLUICE_STREAM_KEY,
  };
  const api = {
    ...common,
    ...secrets,
    SLUICE_CHECKOUT_PORT: String(ports.checkout),
    SLUICE_PUBLIC_URL: `http://127.0.0.1:${ports.api}`,
    SLUICE_CHECKOUT_URL: `http://127.0.0.1:${ports.checkout}`,
    SLUICE_RATE_LIMIT_SCALE: process.env.SLUICE_RATE_LIMIT_SCALE ?? '1000',
  };
  const start = async (name: string, program: string, env: Record<string, string | undefined>): Promise<Supervised> => {
    const supervised = await supervise({
      name,
      command: process.execPath,
      args: ['--enable-source-maps', join(options.root, 'dist', program)],
      cwd: options.root,
      env,
      onLine: logFile(join(options.directory, 'logs', `${name.replaceAll(' ', '-')}.log`)),
      onRestart: (pid) => void rememberChild(options.directory, pid).then(options.onPids),
      say: options.say,
    });
    await rememberChild(options.directory, supervised.pid());
    return supervised;
  };
  for (const [index, network] of options.local.networks.entries()) ports.indexerMetrics.set(network.name, await freePort(9466 + index));
  const [http, signer, ...indexers] = await Promise.all([
    start('api', 'api.js', { ...api, SLUICE_ROLES: 'http,worker', SLUICE_PORT: String(ports.api), SLUICE_METRICS_PORT: String(ports.apiMetrics) }),
    start('signer', 'api.js', {
      ...api,
      SLUICE_ROLES: 'signer',
      SLUICE_SIGNER_SEED: process.env.SLUICE_SIGNER_SEED ?? DEMO_SEED,
      SLUICE_PORT: String(ports.signer),
      SLUICE_METRICS_PORT: String(ports.signerMetrics),
    }),
    ...options.local.networks.map(({ name }) =>
      start(`indexer ${name}`, 'indexer.js', { ...common, SLUICE_INDEXER_NETWORKS: name, SLUICE_METRICS_PORT: String(ports.indexerMetrics.get(name)) }),
    ),
  ]);
  return { api: http, signer, indexers: new Map(options.local.networks.map((network, index) => [network.name, indexers[index] as Supervised])) };
}

/** Writes `.sluice/dev.json` with the process ids of this moment. */
async function publish(dev: DevFile, processes: Processes, directory: string): Promise<void> {
  dev.api.pid = processes.api.pid();
  dev.signer.pid = processes.signer.pid();
  for (const [name, indexer] of processes.indexers) if (dev.networks[name]) dev.networks[name].indexerPid = indexer.pid();
  await writeDevFile(join(directory, 'dev.json'), dev);
}

/** A process that keeps dying will not get ready by waiting. */
const HOPELESS_DEATHS = 3;

async function untilReady(port: number, process: Supervised): Promise<void> {
  let reasons = 'it does not answer';
  const problem = await waitFor(
    async () => {
      if (process.deaths() >= HOPELESS_DEATHS) return `it keeps stopping:\n${process.lastLines().join('\n')}\n`;
      const response = await fetch(`http://127.0.0.1:${port}/readyz`);
      reasons = await response.text();
      return response.ok ? 'none' : undefined;
    },
    { what: process.name, timeoutMs: READY_WITHIN_MS, everyMs: 50 },
  ).catch(() => reasons);
  if (problem !== 'none') throw new CannotStart(`${process.name} does not get ready: ${problem}; its log is in .sluice/logs`);
}

/** The demo gateway, made once per data folder through the operator API; its secrets are shown once, so they are kept. */
async function demoGateway(control: Operator, path: string): Promise<DevFile['gateway']> {
  const kept = await readFile(path, 'utf8').catch(() => undefined);
  if (kept !== undefined) {
    const gateway = JSON.parse(kept) as DevFile['gateway'];
    if ((await control.call('GET', `/gateways/${gateway.id}`)).success) return gateway;
  }
  const here = ['127.0.0.1', '::1'];
  const created = (await control.must('POST', '/gateways', {
    body: {
      name: 'Acme Books (demo)',
      apiAllowlist: here,
      cashout: { enabled: true, allowlist: here },
      branding: { displayName: 'Acme Books' },
      contactEmail: 'demo@example.com',
    },
  })) as { gateway: { id: string } } & Omit<GatewayCredentials, 'id'>;
  const totp = (await control.must('POST', `/gateways/${created.gateway.id}/totp`)) as { secret: string };
  const gateway = {
    id: created.gateway.id,
    apiKey: created.apiKey,
    cashoutSigningSecret: created.cashoutSigningSecret,
    webhookSecret: created.webhookSecret,
    totpSecret: totp.secret,
  };
  await writeFile(path, `${JSON.stringify(gateway, null, 2)}\n`, { mode: 0o600 });
  return gateway;
}

/** Gives the wallets native coin by transfers the indexer sees, so that the books know of them. */
async function fundWallets(local: LocalNetworks, databaseUrl: string, say: (line: string) => void): Promise<void> {
  if (local.chains.size === 0) return;
  const database = connect(databaseUrl, { name: 'sluice-dev', max: 1 });
  try {
    await waitFor(async () => (await database.sql`select 1 from watches where acked_epoch is null limit 1`).length === 0, {
      what: 'the indexers to watch the wallets',
      timeoutMs: READY_WITHIN_MS,
      everyMs: 100,
    });
  } finally {
    await database.end();
  }
  for (const network of local.networks) {
    const node = local.chains.get(network.name)?.node;
    if (node === undefined) continue;
    const transactions: string[] = [];
    // One after the other: the node numbers the faucet's transactions as they arrive.
    for (const wallet of [network.wallets.hot, network.wallets.funding]) {
      const txid = await topUp(node, wallet.address, WALLET_ETHER);
      if (txid !== undefined) transactions.push(txid);
    }
    for (const txid of transactions) await mined(node, txid);
    if (transactions.length > 0) say(`${network.name}: wallets funded with ${WALLET_ETHER} ${network.nativeSymbol} each`);
  }
}

/** A database belongs to the chains it was filled from, and a local chain that was killed may have lost its last blocks. */
async function refuseOtherChains(databaseUrl: string, networks: NetworkConfig[]): Promise<void> {
  const database = connect(databaseUrl, { name: 'sluice-dev', max: 1 });
  try {
    if ((await database.sql`select to_regclass('networks')::text as found`)[0]?.found == null) return;
    for (const network of networks.filter((one) => one.family === 'evm')) {
      const [known] = await database.sql<{ genesis_hash: string | null; final_height: number | null; final_hash: string | null }[]>`
        select genesis_hash, final_height, (select hash from chain_blocks where network_id = networks.id and height = final_height and canonical) as final_hash
        from networks left join chain_tips on network_id = networks.id where name = ${network.name}`;
      const rpcUrl = network.rpcUrls[0] as string;
      if (known?.genesis_hash != null && known.genesis_hash.toLowerCase() !== (await blockHash(rpcUrl, 0)))
        throw new CannotStart(`${network.name}: this chain is new: npm start -- --reset`);
      if (known?.final_height != null && known.final_hash != null && (await blockHash(rpcUrl, known.final_height)) !== known.final_hash.toLowerCase())
        throw new CannotStart(`${network.name}: this chain lost blocks that were final (was its node killed?): npm start -- --reset`);
    }
  } finally {
    await database.end();
  }
}

async function readServiceClock(databaseUrl: string): Promise<Date> {
  const database = connect(databaseUrl, { name: 'sluice-dev', max: 1 });
  try {
    const [found] = await database.sql`select to_regclass('clock_offset')::text as name`;
    if (found?.name == null) return new Date();
    const [row] = await database.sql<{ now: Date }[]>`select sluice_now() as now`;
    return row?.now ?? new Date();
  } finally {
    await database.end();
  }
}

async function describeNetworks(control: Operator, local: LocalNetworks, processes: Processes): Promise<Record<string, DevNetwork>> {
  const { items } = (await control.must('GET', '/networks?limit=100')) as { items: { id: string; name: string }[] };
  return Object.fromEntries(
    local.networks.map((network) => [
      network.name,
      {
        id: items.find((item) => item.name === network.name)?.id ?? '',
        family: network.family,
        rpcUrl: network.rpcUrls[0] as string,
        ...(network.family === 'evm' ? { chainId: Number(network.chainId) } : {}),
        ...(local.chains.has(network.name) ? { faucetPrivateKey: FAUCET.privateKey } : {}),
        indexerPid: processes.indexers.get(network.name)?.pid() ?? 0,
      },
    ]),
  );
}

async function describeAssets(control: Operator, local: LocalNetworks): Promise<DevFile['assets']> {
  const { items } = (await control.must('GET', '/assets?limit=100')) as { items: (Omit<DevFile['assets'][number], 'network'> & { networkName: string })[] };
  const served = new Set(local.networks.map((network) => network.name));
  return items
    .filter((asset) => served.has(asset.networkName))
    .map(({ id, symbol, networkName, type, contract, decimals }) => ({ id, symbol, network: networkName, type, contract, decimals }));
}

/** What `--reset` forgets: all data, none of the downloads. */
async function forgetEverything(directory: string, say: (line: string) => void): Promise<void> {
  const moved = (await readFile(join(directory, 'postgres', 'moved-to'), 'utf8').catch(() => '')).trim();
  for (const path of [
    ...(moved === '' ? [] : [moved]),
    ...['postgres', 'redis', 'chains', 'secrets.json', 'demo-gateway.json', 'dev.json', 'logs'].map((name) => join(directory, name)),
  ])
    await rm(path, { recursive: true, force: true });
  await mkdir(join(directory, 'logs'), { recursive: true });
  say('forgot chains, database and Redis');
}
