// The composition root of the api deployable: read it to know everything that runs.
import { randomBytes, randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import { join } from 'node:path';
import { assertDurable } from '#api/ledger/assert-durable.ts';
import { openHostedCheckout } from '#api/checkout/hosted.ts';
import { openLive } from '#api/checkout/live.ts';
import { type NewsLine, openNews } from '#api/checkout/news.ts';
import { openFollowedPages } from '#api/console/followed-pages.ts';
import { openMailer } from '#api/clients/mail.ts';
import { remotePeopleDesk } from '#api/people/remote-desk.ts';
import { pricePolicy, storedPrices } from '#api/clients/prices.ts';
import { openPriceSources } from '#api/clients/prices/registry.ts';
import { startChainConsumer } from '#api/consumers/chain-events.ts';
import { startMempoolConsumer } from '#api/consumers/mempool-events.ts';
import { startRescanConsumer } from '#api/consumers/rescans.ts';
import type { Chain, Deps } from '#api/deps.ts';
import { createApp } from '#api/http/app.ts';
import { createConsoleApp } from '#api/http/console-app.ts';
import { createCheckoutApp } from '#api/http/checkout-app.ts';
import { createPeopleDeskApp } from '#api/http/people-desk-app.ts';
import { openPaymentSockets } from '#api/http/payment-socket.ts';
import { closeHttpServer, createHttpServer } from '#api/http/server.ts';
import { startAdopting } from '#api/intents/start-adopting.ts';
import { startCanary } from '#api/jobs/canary.ts';
import { reportOnScrape } from '#api/jobs/report-on-scrape.ts';
import { type Jobs, startJobs } from '#api/jobs/start.ts';
import { merchantOperations } from '#api/operations/merchant-operations.ts';
import { operatorOperations } from '#api/operations/operator-operations.ts';
import { awaitNetworks, awaitWallets } from '#api/operator/await-seeds.ts';
import { openPeopleDesk } from '#api/people/desk.ts';
import { localChains } from '#api/operator/dev-chains.ts';
import { seedNetworks } from '#api/operator/seed-networks.ts';
import { accountsOf } from '#api/signer/journal/init-journal.ts';
import { keepJournal } from '#api/signer/journal/keep-journal.ts';
import { SignerJournal } from '#api/signer/journal/signer-journal.ts';
import { openSigners, startSigner } from '#api/signer/start.ts';
import { seedWallets } from '#api/treasury/wallets.ts';
import { pinGenesis } from '#api/operator/pin-genesis.ts';
import type { DueWork } from '#api/store/outbox.ts';
import { work } from '#api/jobs/all-work.ts';
import { factsOf } from '#shared/chains/chain-facts.ts';
import { codecOf, openDeriver } from '#shared/chains/codecs.ts';
import { openPayer } from '#shared/chains/payers.ts';
import { openEndpoints, openReader } from '#shared/chains/readers.ts';
import { openScreeningSources } from '#api/clients/screening/registry.ts';
import { anyAddress } from '#api/screening/any-address.ts';
import { openScreening } from '#api/screening/open.ts';
import { warningChecks } from '#shared/chains/network-warnings.ts';
import { watchLacks } from '#shared/chains/watch-lacks.ts';
import { countRpc, gaugeChains, gaugeConnections, gaugeRedis, timeDatabase } from '#shared/platform/common-metrics.ts';
import { bringUpToDate } from '#shared/platform/bring-up-to-date.ts';
import { type ApiConfig, ConfigError, readApiConfig } from '#shared/platform/config.ts';
import { armCrashPoint } from '#shared/platform/crash-points.ts';
import { type DatabaseClock, followDatabaseClock } from '#shared/platform/database-clock.ts';
import { isWritable, onceReachable } from '#shared/platform/database-problems.ts';
import { readAcceptedHeaderFields } from '#shared/platform/accepted-header-fields.ts';
import { maySeed, rightsProblem, untilAllowed } from '#shared/platform/database-roles.ts';
import { type HealthCheck, startHealthServer } from '#shared/platform/health.ts';
import { createLifecycle, type Lifecycle } from '#shared/platform/lifecycle.ts';
import { createLimiter, type Limiter } from '#shared/platform/limiter.ts';
import { createLogger, type Logger } from '#shared/platform/logger.ts';
import { type ApiMetrics, createApiMetrics } from '#shared/platform/metrics.ts';
import { packageRoot } from '#shared/platform/package-root.ts';
import { processName } from '#shared/platform/process-name.ts';
import { connect, type Database } from '#shared/platform/postgres.ts';
import { openSharedBuckets } from '#shared/platform/redis-buckets.ts';
import { indexerChannel, openStreams, type Streams, WORKER_CHANNEL } from '#shared/platform/redis-streams.ts';
import { openTracing } from '#shared/platform/tracing-export.ts';
import { trustedKeys } from '#shared/platform/statements.ts';
import { COMMIT, VERSION } from '#shared/platform/version.ts';
import { startWatchdog } from '#shared/platform/watchdog.ts';

/** Whoever asks over HTTP rather hears soon that we are busy. */
const REQUEST_WAIT_MS = 5_000;

async function main(): Promise<void> {
  const config = readApiConfig(process.env);
  // A wrong choice of sources is refused here, and not found out by the first round.
  if (config.SLUICE_PRICE_SOURCE === 'http') openPriceSources(config);
  armCrashPoint(config.SLUICE_CRASH_AT);
  const log = createLogger({ component: 'api', level: config.SLUICE_LOG_LEVEL });
  const lifecycle = createLifecycle(log);
  await start(config, log, lifecycle).catch((error: unknown) => {
    // Told to stop while it waited for something: the lifecycle ends this process, and nothing went wrong.
    if (!lifecycle.signal.aborted) throw error;
  });
}

async function start(config: ApiConfig, log: Logger, lifecycle: Lifecycle): Promise<void> {
  const tracing = await openTracing({ service: 'sluice-api', version: VERSION, log }, process.env);
  if (tracing !== undefined) lifecycle.onStop('tracing', () => tracing.stop());
  const metrics = createApiMetrics(VERSION, { commit: COMMIT, chains: config.networks.map((network) => network.name) });
  gaugeChains(
    metrics,
    config.networks.map((network) => ({ chain: network.name, ...factsOf(network) })),
  );

  const processId = randomUUID();
  const name = processName({ program: 'api', roles: config.SLUICE_ROLES, id: processId.slice(0, 8), startedAt: new Date() });
  const db = connect(config.DATABASE_URL, { name, max: 20, observe: timeDatabase(metrics) });
  gaugeConnections(metrics, () => db.pool());
  lifecycle.onStop('postgres', () => db.end());
  const health = await startHealth(config, log, lifecycle, metrics);
  await onceReachable(log, lifecycle.signal, () => prepareDatabase(config, { db, log, health, signal: lifecycle.signal }));
  await assertDurable(db.sql);
  const clock = await followDatabaseClock(db.sql, log);
  lifecycle.onStop('clock', () => clock.stop());

  const { SLUICE_STREAM_KEY: key, SLUICE_STREAM_KEY_PREVIOUS: previousKey } = config;
  const streams = openStreams({ url: config.REDIS_URL, key, previousKey, name: 'sluice-api', log });
  lifecycle.onStop('redis', () => streams.close());
  gaugeRedis(metrics, () => streams.problem());
  const buckets = openSharedBuckets({ url: config.REDIS_URL, name: 'sluice-api-limits', log });
  lifecycle.onStop('rate limits', () => buckets.close());
  const limiter = createLimiter({ now: Date.now, shared: buckets, names: config.SLUICE_ROLES.includes('console') ? 'sluice:console' : 'sluice' });
  const news = openNews(streams);
  const seeds = await maySeed(db.sql);
  if (!seeds) health.waiting('waiting until a process with the http role has stored networks, assets and wallets');
  const deps = await openDeps({ config, log, db, clock, streams, news, metrics, limiter, seeds, signal: lifecycle.signal });
  const roles = new Set(config.SLUICE_ROLES);
  if (seeds) await seedWallets(deps);
  else if (!roles.has('console')) await awaitWallets(deps, lifecycle.signal);

  for (const role of roles) metrics.processRole.set({ role }, 1);
  // A process that only signs reads hardly anything.
  if (roles.has('http') || roles.has('worker'))
    for (const { config: network, reader } of deps.chains.values()) lifecycle.onStop(`lacks of ${network.name}`, watchLacks(network, reader, log));
  const jobs = roles.has('worker') ? await startWorker(deps, { streams, processId }, lifecycle) : undefined;
  const journal = roles.has('signer') ? await startSignerRole(deps, config, streams, lifecycle) : undefined;
  if (roles.has('http')) await startHttp({ ...deps, db: db.waitingAtMost(REQUEST_WAIT_MS) }, { jobs, news }, lifecycle);
  if (roles.has('console')) await startConsole({ ...deps, db: db.waitingAtMost(REQUEST_WAIT_MS) }, lifecycle);
  health.ready({ db, streams, chains: deps.chains, journal });
  lifecycle.onStop('watchdog', startWatchdog('api'));
  log.info({ roles: [...roles], networks: [...deps.chains.keys()], version: VERSION }, 'started');
}

async function openDeps(parts: {
  config: ApiConfig;
  log: Logger;
  db: Database;
  clock: DatabaseClock;
  streams: Streams;
  news: NewsLine;
  metrics: ApiMetrics;
  limiter: Limiter;
  /** Whether this process may store what the configuration says. */
  seeds: boolean;
  signal: AbortSignal;
}): Promise<Deps> {
  const { config, log, db, clock, streams, news, metrics, limiter, seeds } = parts;
  const staticPrices = config.SLUICE_PRICE_SOURCE === 'static';
  const seeding = { db, networks: config.networks, codec: codecOf, staticPrices, randomBytes };
  const ids = await (seeds ? seedNetworks(seeding) : awaitNetworks(seeding, parts.signal));
  // A process that only signs hears nothing of what rows say about headers, and the console asks no node.
  const acceptedFields = config.SLUICE_ROLES.every((role) => role === 'signer' || role === 'console')
    ? undefined
    : (name: string) => readAcceptedHeaderFields(db.sql, name);
  const chains = new Map<string, Chain>(
    config.networks.map((network) => {
      const id = ids.get(network.name) as string;
      const opened = openEndpoints(network, countRpc(metrics, network.name, log), acceptedFields && (() => acceptedFields(network.name)));
      const reader = openReader(network, opened);
      const payer = openPayer(network, opened);
      return [network.name, { id, config: network, codec: codecOf(network), deriver: openDeriver(network), reader, payer }];
    }),
  );
  if (!config.SLUICE_ROLES.includes('console')) await pinGenesis(db, chains.values(), log, seeds);
  const sources = openScreeningSources(config, { db, log, canonical: anyAddress(chains.values()) });
  return {
    db,
    config,
    log,
    chains,
    prices: storedPrices(db, pricePolicy(config)),
    screening: openScreening({ db, log, randomBytes, metrics, sources }),
    mail: openMailer(config),
    limiter,
    randomBytes,
    wallClock: clock.now,
    hearClock: clock.hear,
    wake: () => streams.nudge(WORKER_CHANNEL),
    nudgeIndexer: (network) => streams.nudge(indexerChannel(network)),
    announce: (paymentIds, network) => news.announce({ paymentIds, ...(network !== undefined && { network }) }),
    metrics,
  };
}

/** The worker role: applies the block streams, runs due jobs and what is periodic, and proves every minute that payments work. */
async function startWorker(given: Deps, { streams, processId }: { streams: Streams; processId: string }, lifecycle: Lifecycle): Promise<Jobs> {
  let jobs: Jobs | undefined;
  const wake = (added: readonly DueWork[] = []): void => {
    // What it begins itself nobody has to look for.
    if (jobs?.begin(added) === true) return;
    // What it adds itself it looks for at once, and not by way of Redis; the word tells it that it did.
    jobs?.wake();
    streams.nudge(WORKER_CHANNEL, processId);
  };
  const deps: Deps = { ...given, wake };
  const started = await startJobs(deps, work, streams.deaf);
  jobs = started;
  reportOnScrape(deps);
  const { SLUICE_CANARY_URL: url, SLUICE_CANARY_KEY_FILE: keyFile } = deps.config;
  if (url !== undefined && keyFile !== undefined) {
    const canary = startCanary(deps, { url, keyFile });
    lifecycle.onStopAtOnce('canary', () => canary.stop());
  }
  const heard = (word: string): void => {
    if (word !== processId) started.wake();
  };
  const stopListening = streams.onNudge(WORKER_CHANNEL, heard, started.wake);
  const consumer = startChainConsumer(deps, streams, `api:${processId}`);
  const mempool = startMempoolConsumer(deps, streams);
  const rescans = startRescanConsumer(deps, streams);
  lifecycle.onStopAtOnce('jobs', () => started.stop());
  lifecycle.onStop('worker nudges', () => stopListening());
  lifecycle.onStop('chain consumer', () => consumer.stop());
  lifecycle.onStop('mempool consumer', () => mempool.stop());
  lifecycle.onStop('rescan consumer', () => rescans.stop());
  return started;
}

/** The signer role: the only one that has the seed, and a memory of its own. */
async function startSignerRole(deps: Deps, config: ApiConfig, streams: Streams, lifecycle: Lifecycle): Promise<HealthCheck> {
  const signers = openSigners(deps, config.SLUICE_SIGNER_SEED ?? '');
  const journal = new SignerJournal({
    folder: config.SLUICE_SIGNER_JOURNAL ?? '',
    accounts: accountsOf(config.networks),
    trusted: trustedKeys(config),
    log: deps.log,
    fatal(error) {
      deps.log.fatal({ err: error }, 'the journal cannot be written: nobody knows what its disk holds');
      process.exit(1);
    },
  });
  const keeper = await keepJournal(deps, journal);
  lifecycle.onStop('journal', () => keeper.stop());
  const signer = startSigner({ ...deps, journal }, signers, streams.deaf, (head) => journal.hear(head));
  const stopListening = streams.onNudge(WORKER_CHANNEL, signer.wake, signer.wake);
  lifecycle.onStop('signer nudges', () => stopListening());
  lifecycle.onStop('signer', () => signer.stop());
  return () => keeper.health();
}

/**
 * The http role: both contracts and their documentation, on a port of its own what belongs to the hosted checkout, and its live channel on both. Where there is a console, on
 * a port for it alone what says who people are.
 */
async function startHttp(deps: Deps, { jobs, news }: { jobs: Jobs | undefined; news: NewsLine }, lifecycle: Lifecycle): Promise<void> {
  const production = deps.config.NODE_ENV === 'production';
  const contractFolder = join(packageRoot(), 'dist/contract');
  const docs = join(packageRoot(), 'dist/docs');
  const app = await createApp(deps, {
    contractFolder,
    docsFolders: { pages: docs, runbooks: join(docs, 'runbooks'), assets: join(packageRoot(), 'dist/docs-page') },
    merchantOperations,
    operatorOperations: operatorOperations({
      devChains: production ? null : localChains(deps.config.networks, deps.log),
      runDue: async () => jobs?.runDue(),
    }),
  });
  const adopting = startAdopting(deps);
  lifecycle.onStop('countersigning', () => adopting.stop());
  const hosted = openHostedCheckout(deps);
  const checkout = await createCheckoutApp(deps, { contractFolder, hosted });
  const live = openLive({ read: async (id) => (await hosted.read(deps, id)).snapshot, log: deps.log, news });
  lifecycle.onStop('live payments', () => live.stop());
  const sockets = openPaymentSockets(deps, { live, hosted });
  // Their connections keep a server from closing, so that they end as soon as it begins to.
  lifecycle.onStopAtOnce('payment sockets', () => sockets.close());
  await listen(deps, lifecycle, { name: 'http', app, port: deps.config.SLUICE_PORT, equip: (server) => sockets.attach(server, '/api/v1') });
  await listen(deps, lifecycle, { name: 'checkout', app: checkout, port: deps.config.SLUICE_CHECKOUT_PORT, equip: (server) => sockets.attach(server, '') });
  if (deps.config.SLUICE_CONSOLE_URL !== undefined) {
    if (production && deps.config.SLUICE_SMTP_URL === undefined) deps.log.warn('no link to sign in can be mailed: SLUICE_SMTP_URL is not set');
    const desk = createPeopleDeskApp(deps, openPeopleDesk(deps));
    await listen(deps, lifecycle, { name: 'internal', app: desk, port: deps.config.SLUICE_INTERNAL_PORT, equip: () => undefined });
  }
}

/** The console role: people's pages, over a login that reads, and the http role for whatever says who somebody is. */
async function startConsole(deps: Deps, lifecycle: Lifecycle): Promise<void> {
  const { SLUICE_INTERNAL_URL: url = '', SLUICE_INTERNAL_KEY: key = '' } = deps.config;
  const desk = remotePeopleDesk({ url, key, log: deps.log });
  const followed = openFollowedPages(deps);
  // They keep a server from closing.
  lifecycle.onStopAtOnce('followed pages', async () => followed.stop());
  const app = await createConsoleApp(deps, { desk, followed, contractFolder: join(packageRoot(), 'dist/contract') });
  await listen(deps, lifecycle, { name: 'console', app, port: deps.config.SLUICE_CONSOLE_PORT, equip: () => undefined });
}

async function listen(
  deps: Deps,
  lifecycle: Lifecycle,
  { name, app, port, equip }: { name: string; app: Parameters<typeof createHttpServer>[0]; port: number; equip(server: Server): void },
): Promise<void> {
  const server = createHttpServer(app);
  equip(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, deps.config.SLUICE_HOST, resolve);
  });
  deps.log.info({ listener: name, address: server.address() }, 'listening');
  lifecycle.onStopAtOnce(name, () => closeHttpServer(server));
}

/** Waits until the schema is what this build needs, or makes it that, and until this process may do its work. */
async function prepareDatabase(
  config: ApiConfig,
  { db, log, health, signal }: { db: Database; log: Logger; health: Health; signal: AbortSignal },
): Promise<void> {
  const applied = await bringUpToDate({
    url: config.DATABASE_OWNER_URL ?? config.DATABASE_URL,
    directory: process.env.SLUICE_SCHEMA_DIR ?? join(packageRoot(), 'shared/schema'),
    log,
    signal,
    waiting: () => health.waiting('waiting for the database schema'),
  });
  if (applied.length > 0) log.info({ applied }, 'schema migrated');
  await untilAllowed(db.sql, config.SLUICE_ROLES, { log, signal, waiting: health.waiting });
}

interface Health {
  /** Says why nothing is done yet. */
  waiting(why: string): void;
  ready(parts: { db: Database; streams: Streams; chains: Deps['chains']; journal: HealthCheck | undefined }): void;
}

/** Answers from the first moment on, so that whoever watches can tell a process that waits for its database from one that is dead. */
async function startHealth(config: ApiConfig, log: Logger, lifecycle: Lifecycle, metrics: ApiMetrics): Promise<Health> {
  let state = 'starting';
  const checks: Record<string, HealthCheck> = { process: () => state };
  const health = await startHealthServer(log, { host: config.SLUICE_HOST, port: config.SLUICE_METRICS_PORT, checks, scrape: metrics.scrape });
  lifecycle.onStop('health', () => health.close());
  lifecycle.signal.addEventListener('abort', () => health.drain());
  return {
    waiting(why) {
      state = why;
    },
    ready({ db, streams, chains, journal }) {
      checks.process = () => null;
      checks.postgres = async () => (await isWritable(db)) ?? (await rightsProblem(db.sql, config.SLUICE_ROLES));
      // Whoever answers requests goes on without Redis; taking it out of rotation would make an outage of a wake-up one of the API.
      if (!config.SLUICE_ROLES.some((role) => role === 'http' || role === 'console')) checks.redis = () => streams.problem();
      Object.assign(
        checks,
        warningChecks(config.networks, (name) => chains.get(name)?.reader.lacking() ?? []),
      );
      if (journal !== undefined && !config.SLUICE_ROLES.includes('http')) checks.journal = journal;
    },
  };
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof ConfigError ? error.message : (error as Error).stack}\n`);
  process.exit(1);
});
