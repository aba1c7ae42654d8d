import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { factsOf } from '#shared/chains/chain-facts.ts';
import { hearHeads, openEndpoints, openReader } from '#shared/chains/readers.ts';
import { readAcceptedHeaderFields } from '#shared/platform/accepted-header-fields.ts';
import { countRpc, gaugeChains, gaugeConnections, gaugeRedis, timeDatabase } from '#shared/platform/common-metrics.ts';
import { ConfigError, type IndexerConfig, readIndexerConfig } from '#shared/platform/config.ts';
import { armCrashPoint } from '#shared/platform/crash-points.ts';
import { isWritable, onceReachable } from '#shared/platform/database-problems.ts';
import { rightsProblem, untilAllowed } from '#shared/platform/database-roles.ts';
import { type HealthCheck, startHealthServer } from '#shared/platform/health.ts';
import { createLifecycle } from '#shared/platform/lifecycle.ts';
import { createLogger } from '#shared/platform/logger.ts';
import { createIndexerMetrics } from '#shared/platform/metrics.ts';
import { awaitSchema } from '#shared/platform/migrate.ts';
import { packageRoot } from '#shared/platform/package-root.ts';
import { processName } from '#shared/platform/process-name.ts';
import { connect } from '#shared/platform/postgres.ts';
import { openStreams } from '#shared/platform/redis-streams.ts';
import { openTracing } from '#shared/platform/tracing-export.ts';
import { COMMIT, VERSION } from '#shared/platform/version.ts';
import { startWatchdog } from '#shared/platform/watchdog.ts';
import { superviseChains } from './supervisor.ts';

/** An indexer process: reads its configuration, waits for the schema, follows its networks until it is told to stop. */
async function main(config: IndexerConfig): Promise<void> {
  armCrashPoint(config.SLUICE_CRASH_AT);
  const log = createLogger({ component: 'indexer', level: config.SLUICE_LOG_LEVEL });
  const lifecycle = createLifecycle(log);
  const tracing = await openTracing({ service: 'sluice-indexer', version: VERSION, log }, process.env);
  if (tracing !== undefined) lifecycle.onStop('tracing', () => tracing.stop());
  const metrics = createIndexerMetrics(VERSION, { commit: COMMIT, chains: config.networks.map((network) => network.name) });
  gaugeChains(
    metrics,
    config.networks.map((network) => ({ chain: network.name, ...factsOf(network) })),
  );
  const identity = randomUUID();
  const name = processName({ program: 'indexer', roles: [], id: identity.slice(0, 8), startedAt: new Date() });
  // Standbys take this process for dead when it has no session, so that none is closed for its age alone.
  const lasting = { lifetimeMs: Number.POSITIVE_INFINITY };
  const database = connect(config.DATABASE_URL, { name, max: 2 + 4 * config.networks.length, observe: timeDatabase(metrics), ...lasting });
  gaugeConnections(metrics, () => database.pool());
  lifecycle.onStop('database', () => database.end());
  const streams = openStreams({ url: config.REDIS_URL, key: config.SLUICE_STREAM_KEY, name: 'sluice-indexer', log });
  lifecycle.onStop('streams', () => streams.close());
  gaugeRedis(metrics, streams.problem);

  let waitsFor = 'waiting for the database schema';
  const checks: Record<string, HealthCheck> = {
    postgres: () => isWritable(database),
    redis: streams.problem,
    schema: () => waitsFor,
  };
  const health = await startHealthServer(log, { host: config.SLUICE_HOST, port: config.SLUICE_METRICS_PORT, checks, scrape: metrics.scrape });
  lifecycle.onStop('health', () => health.close());

  const prepare = async (): Promise<void> => {
    await untilMigrated(config, lifecycle.signal);
    await untilAllowed(database.sql, ['indexer'], {
      log,
      signal: lifecycle.signal,
      waiting: (problem) => {
        waitsFor = problem;
      },
    });
  };
  await onceReachable(log, lifecycle.signal, prepare).catch((error: unknown) => {
    if (!lifecycle.signal.aborted) throw error;
  });
  if (lifecycle.signal.aborted) return;
  const supervisor = superviseChains(
    {
      sql: database.sql,
      snapshot: database.snapshot,
      streams,
      log,
      metrics,
      holder: `${hostname()}:${process.pid}:${identity}`,
      openReader: (network) =>
        openReader(
          network,
          openEndpoints(network, countRpc(metrics, network.name, log), () => readAcceptedHeaderFields(database.sql, network.name)),
        ),
      hearHeads,
      monotonicMs: () => performance.now(),
    },
    config.networks,
  );
  Object.assign(checks, supervisor.checks, { schema: () => rightsProblem(database.sql, ['indexer']) });
  lifecycle.onStop('chains', () => supervisor.stop());
  lifecycle.onStop('watchdog', startWatchdog('indexer'));
  lifecycle.signal.addEventListener('abort', () => health.drain());
}

/** Has a connection of its own: those that stay learn the types of the whole schema when they open. */
async function untilMigrated(config: IndexerConfig, signal: AbortSignal): Promise<void> {
  const db = connect(config.DATABASE_URL, { name: 'sluice-indexer', max: 1 });
  try {
    await awaitSchema(db.sql, process.env.SLUICE_SCHEMA_DIR ?? join(packageRoot(), 'shared/schema'), signal);
  } finally {
    await db.end();
  }
}

try {
  await main(readIndexerConfig(process.env));
} catch (error) {
  process.stderr.write(`${error instanceof ConfigError ? error.message : error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(1);
}
