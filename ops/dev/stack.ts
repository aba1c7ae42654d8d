import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CannotStart } from './cannot-start.ts';
import { operator } from './client.ts';
import { beginJournal } from './begin-journal.ts';
import { demoPeople, demoSecrets } from './demo-secrets.ts';
import { type DevFile, writeDevFile } from './dev-file.ts';
import { explorerPage } from './explorer.ts';
import { type LocalNetworks, networkNames, readServiceClock, refuseOtherChains, startNetworks } from './local-networks.ts';
import { canaryKeyFile, choosePorts, consoleUrl, type Processes, startProcesses, untilReady } from './processes.ts';
import { forgetChildren, otherRunner, rememberChild, stopLeftovers, takeRunnerLock } from './runner-lock.ts';
import { persistent } from './again.ts';
import { canaryGateway, demoGateway, describeAssets, describeNetworks, fundWallets } from './seed.ts';
import { emptyDatabase, ensureDatabase, removeCluster, seconds, startPostgres, stopAbandoned } from './services/postgres.ts';
import { makeDatabaseLogins, processLogins } from './process-logins.ts';
import { lastingRedis } from './lasting-redis.ts';
import { fetchRedis, logFile } from './services/redis.ts';
import { unlessAborted } from './services/wait.ts';
import { type ReceivedWebhook, startWebhookReceiver } from './webhook-receiver.ts';

export interface StackOptions {
  /** Root of the checkout. */
  root: string;
  /** Where everything is kept between runs. */
  directory: string;
  say(line: string): void;
  /** Forgets chains, database and Redis first. */
  reset: boolean;
  onWebhook(webhook: ReceivedWebhook, dev: DevFile): void;
  /** Ends a start that is under way: what it began is stopped, and the reason thrown. */
  signal: AbortSignal;
}

export interface Stack {
  dev: DevFile;
  /** Stops api, indexers, chains, Redis and Postgres, in that order, and keeps the data. */
  stop(): Promise<void>;
}

/** Starts a whole Sluice deployment on this machine, on real servers and the real deployables in dist/ (operability 1). */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { directory, say, signal } = options;
  await mkdir(join(directory, 'logs'), { recursive: true });
  const other = await otherRunner(directory);
  if (other !== undefined)
    throw new CannotStart(`sluice already runs on this data (process ${other}; see ${join(directory, 'dev.json')}). Stop it with Ctrl+C there first.`);
  const unlock = await takeRunnerLock(directory);
  const stops: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    const failures: unknown[] = [];
    // What cannot be stopped keeps nothing else running; the next start finds it by its process id.
    for (const step of stops.splice(0).reverse()) await step().catch((error: unknown) => failures.push(error));
    if (failures.length === 0) await forgetChildren(directory);
    await unlock();
    if (failures.length > 0) throw new AggregateError(failures, `not everything could be stopped: ${failures.map(String).join('; ')}`);
  };
  try {
    await rm(join(directory, 'dev.json'), { force: true });
    const leftovers = await stopLeftovers(directory);
    if (leftovers > 0) say(`stopped ${leftovers} processes of a run that was killed`);
    if (options.reset) await forgetEverything(directory, say);
    const dev = await bringUp(options, stops);
    signal.throwIfAborted();
    return { dev, stop };
  } catch (error) {
    await stop().catch((failure: unknown) => say(String(failure)));
    // What died of the same request to stop is no reason of its own.
    throw signal.aborted ? signal.reason : error;
  }
}

async function bringUp(options: StackOptions, stops: (() => Promise<void>)[]): Promise<DevFile> {
  const { root, directory, say, signal } = options;
  const log = (name: string) => logFile(join(directory, 'logs', `${name}.log`));
  await fetchRedis({ root, log: say });
  const { ports, release } = await choosePorts(process.env, say);
  stops.push(release);
  let dev: DevFile | undefined;

  let began = performance.now();
  const postgresLog = log('postgres');
  const postgres = await startPostgres({ root, directory: join(directory, 'postgres'), log: postgresLog, tell: say, signal });
  stops.push(() => postgres.stop());
  const databaseUrl = postgres.external ? postgres.url : await ensureDatabase(postgres.url, 'sluice');
  if (postgres.external && options.reset) await emptyDatabase(databaseUrl);
  say(`postgres ${postgres.external ? 'at DATABASE_URL' : 'started'} in ${seconds(began)}`);

  began = performance.now();
  const names = await networkNames(root);
  const logins = await processLogins(join(directory, 'logins.json'), names);
  const redisLog = log('redis');
  const redis = await lastingRedis({
    root,
    directory: join(directory, 'redis'),
    acl: logins.redisAcl,
    say,
    onStart: (pid) => rememberChild(directory, pid),
    tell: say,
    signal,
    log: redisLog,
  });
  stops.push(() => redis.stop());
  say(`redis ${redis.external ? 'at REDIS_URL' : 'started'} in ${seconds(began)}`);

  signal.throwIfAborted();
  let local: LocalNetworks | undefined;
  await release(ports.receiver);
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
    signal,
  });
  const { chains } = local;
  let stopping = false;
  for (const [name, node] of chains)
    void node.service.exited.then(() => stopping || signal.aborted || say(`the ${name} node stopped by itself; stop with Ctrl+C and start again`));
  // Beside each other: one that hangs keeps the others waiting for nothing.
  stops.push(async () => {
    stopping = true;
    const failed = (await Promise.allSettled([...chains.values()].map((node) => node.stop()))).filter((result) => result.status === 'rejected');
    if (failed.length > 0) throw new AggregateError(failed.map(({ reason }) => reason as unknown));
  });
  await unlessAborted(signal, () => refuseOtherChains(databaseUrl, local?.networks ?? []));
  // Roles belong to a whole cluster: in one that is not ours they are its administrator's to make.
  if (postgres.external) say('every process uses the login of DATABASE_URL; sluice db roles apply makes those that may do less');
  else await makeDatabaseLogins(databaseUrl, { logins, networks: names, schemaDirectory: join(root, 'shared/schema') });
  const serviceNow = await readServiceClock(databaseUrl);
  for (const { name, blockSeconds } of local.networks) await unlessAborted(signal, () => chains.get(name)?.startMining({ blockSeconds, serviceNow }));
  say(
    `${local.networks.map((network) => network.name).join(', ')} ${local.chains.size > 0 ? `local ${local.chains.size === 1 ? 'chain' : 'chains'} ready` : 'reached'} in ${seconds(began)}`,
  );

  began = performance.now();
  const secrets = await demoSecrets(join(directory, 'secrets.json'));
  const journal = join(directory, 'journal');
  await beginJournal({ databaseUrl, schema: join(root, 'shared/schema'), folder: journal, networks: local.networks });
  signal.throwIfAborted();
  await release();
  const processes = await startProcesses({
    root,
    directory,
    ports,
    databaseUrl: (name) => (postgres.external ? databaseUrl : logins.database(name, databaseUrl)),
    redisUrl: (name) => (redis.external ? redis.url : logins.redis(name, redis.url)),
    local,
    journal,
    secrets,
    say,
    signal,
    onPids: async () => {
      if (dev) await publish(dev, processes, directory);
    },
  });
  stops.push(async () => {
    // The indexers publish for the api: it goes first, they follow.
    await Promise.all([processes.console.stop(), processes.api.stop(), processes.signer.stop()]);
    await Promise.all([...processes.indexers.values()].map((indexer) => indexer.stop()));
  });
  await Promise.all([
    untilReady(ports.apiMetrics, processes.api, options),
    untilReady(ports.signerMetrics, processes.signer, options),
    untilReady(ports.consoleMetrics, processes.console, options),
    ...[...processes.indexers].map(([name, indexer]) => untilReady(ports.indexerMetrics.get(name) as number, indexer, options)),
  ]);
  say(`api, signer, console and ${processes.indexers.size === 1 ? 'indexer' : 'indexers'} ready in ${seconds(began)}`);

  const origin = `http://127.0.0.1:${ports.api}`;
  const control = persistent(operator(`${origin}/operator/v1`, secrets.SLUICE_OPERATOR_TOKEN), options);
  const gateway = await demoGateway(control, join(directory, 'demo-gateway.json'), new URL(receiver.url).origin);
  await unlessAborted(signal, () => canaryGateway(control, `${origin}/api/v1`, canaryKeyFile(directory)));
  await fundWallets(local, databaseUrl, options);
  dev = {
    api: { baseUrl: `${origin}/api/v1`, origin, pid: processes.api.pid() },
    checkoutUrl: `http://127.0.0.1:${ports.checkout}`,
    dashboardUrl: consoleUrl(ports),
    operatorUrl: `${origin}/operator/v1`,
    operatorToken: secrets.SLUICE_OPERATOR_TOKEN,
    operatorTokens: demoPeople(secrets),
    metrics: {
      api: `http://127.0.0.1:${ports.apiMetrics}/metrics`,
      indexers: Object.fromEntries([...ports.indexerMetrics].map(([name, port]) => [name, `http://127.0.0.1:${port}/metrics`])),
    },
    databaseUrl,
    redisUrl: redis.external ? redis.url : logins.redisAdministrator(redis.url),
    gateway,
    webhookReceiver: { origin: new URL(receiver.url).origin, url: receiver.url, log: receiver.logUrl },
    networks: await describeNetworks(control, local, processes),
    localNetworks: [...local.chains.keys()].sort(),
    assets: await describeAssets(control, local),
    signer: { pid: processes.signer.pid() },
    console: { pid: processes.console.pid() },
    runnerPid: process.pid,
  };
  await publish(dev, processes, directory);
  stops.push(() => rm(join(directory, 'dev.json'), { force: true }));
  return dev;
}

/** What `--reset` forgets: all data, none of the downloads. */
async function forgetEverything(directory: string, say: (line: string) => void): Promise<void> {
  await stopAbandoned(join(directory, 'postgres'));
  await removeCluster(join(directory, 'postgres'));
  for (const name of ['redis', 'chains', 'journal', 'secrets.json', 'logins.json', 'demo-gateway.json', 'canary.key', 'logs'])
    await rm(join(directory, name), { recursive: true, force: true });
  await mkdir(join(directory, 'logs'), { recursive: true });
  say('forgot chains, database and Redis');
}

/** Writes `.sluice/dev.json` with the process ids of this moment. */
async function publish(dev: DevFile, processes: Processes, directory: string): Promise<void> {
  dev.api.pid = processes.api.pid();
  dev.signer.pid = processes.signer.pid();
  dev.console.pid = processes.console.pid();
  for (const [name, indexer] of processes.indexers) if (dev.networks[name]) dev.networks[name].indexerPid = indexer.pid();
  await writeDevFile(join(directory, 'dev.json'), dev);
}
