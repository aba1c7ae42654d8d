import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { openEndpoints, openReader } from '#shared/chains/readers.ts';
import { ConfigError, type IndexerConfig, readIndexerConfig } from '#shared/platform/config.ts';
import { armCrashPoint } from '#shared/platform/crash-points.ts';
import { startHealthServer } from '#shared/platform/health.ts';
import { createLifecycle } from '#shared/platform/lifecycle.ts';
import { createLogger, type Logger } from '#shared/platform/logger.ts';
import { countRpc, createIndexerMetrics } from '#shared/platform/metrics.ts';
import { awaitSchema } from '#shared/platform/migrate.ts';
import { connect, type Sql } from '#shared/platform/postgres.ts';
import { openStreams } from '#shared/platform/redis-streams.ts';
import { VERSION } from '#shared/platform/version.ts';
import { superviseChains } from './supervisor.ts';

/** What a database that is down, restarting or out of reach answers. */
const UNREACHABLE = new Set(['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'CONNECT_TIMEOUT', 'CONNECTION_CLOSED', '57P01', '57P03']);
const DATABASE_RETRY_MS = 500;

/** An indexer process: reads its configuration, waits for the schema, follows its networks until it is told to stop. */
async function main(config: IndexerConfig): Promise<void> {
  armCrashPoint(config.SLUICE_CRASH_AT);
  const log = createLogger({ component: 'indexer', level: config.SLUICE_LOG_LEVEL });
  const lifecycle = createLifecycle(log);
  const metrics = createIndexerMetrics(VERSION);
  const database = connect(config.DATABASE_URL, { name: 'sluice-indexer', max: 2 + 4 * config.networks.length });
  lifecycle.onStop('database', () => database.end());
  const streams = openStreams({ url: config.REDIS_URL, key: config.SLUICE_STREAM_KEY, name: 'sluice-indexer', log });
  lifecycle.onStop('streams', () => streams.close());

  const checks: Record<string, () => Promise<string | null> | string | null> = {
    postgres: async () => {
      await database.sql`select 1`;
      return null;
    },
    redis: streams.problem,
    schema: () => 'waiting for the database schema',
  };
  const health = await startHealthServer(log, { host: config.SLUICE_HOST, port: config.SLUICE_METRICS_PORT, checks, scrape: metrics.scrape });
  lifecycle.onStop('health', () => health.close());

  await untilMigrated(database.sql, log, lifecycle.signal);
  if (lifecycle.signal.aborted) return;
  const supervisor = superviseChains(
    {
      sql: database.sql,
      streams,
      log,
      metrics,
      holder: `${hostname()}:${process.pid}:${randomUUID()}`,
      openReader: (network) => openReader(network, openEndpoints(network, countRpc(metrics, network.name, log))),
      monotonicMs: () => performance.now(),
    },
    config.networks,
  );
  Object.assign(checks, supervisor.checks, { schema: () => null });
  lifecycle.onStop('chains', () => supervisor.stop());
  lifecycle.signal.addEventListener('abort', () => health.drain());
}

/** A database that is not there yet is waited for; one with a schema this build does not know is not. */
async function untilMigrated(sql: Sql, log: Logger, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      return await awaitSchema(sql, process.env.SLUICE_SCHEMA_DIR ?? 'shared/schema', signal);
    } catch (error) {
      if (signal.aborted) return;
      if (!UNREACHABLE.has(String((error as { code?: unknown }).code))) throw error;
      log.warn({ err: error }, 'waiting for the database');
      await pause(DATABASE_RETRY_MS);
    }
  }
}

try {
  await main(readIndexerConfig(process.env));
} catch (error) {
  process.stderr.write(`${error instanceof ConfigError ? error.message : error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(1);
}
