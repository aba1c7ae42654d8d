import { cp, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { buildIfChanged } from '#ops/dev/build.mjs';
import { isAlive } from '#ops/dev/services/child.ts';
import { databaseUrl, ensureDatabase, type Postgres, removeCluster, startPostgres, stopAbandoned } from '#ops/dev/services/postgres.ts';
import { logFile, startRedis } from '#ops/dev/services/redis.ts';
import { applyRoles } from '#shared/platform/database-roles.ts';
import { migrate } from '#shared/platform/migrate.ts';
import { connect, type Database } from '#shared/platform/postgres.ts';
import { FULL } from './counts.ts';
import { TEST_LOGINS, TEST_REDIS_ACL } from './logins.ts';

/** What every test file of one run shares. */
export interface RunServices {
  /** Maintenance database of the run's Postgres. */
  postgresUrl: string;
  /** Migrated and empty; fresh databases are copies of it. */
  templateDatabase: string;
  redisUrl: string;
  /** The migrations of this run: a copy, so that editing the sources meanwhile changes nothing. */
  schemaDirectory: string;
  /** Scratch folder of this run, deleted when it ends. */
  directory: string;
}

declare module 'vitest' {
  export interface ProvidedContext {
    services: RunServices;
  }
}

interface Running {
  services: RunServices;
  stop(): Promise<void>;
}

const SHARED = Symbol.for('sluice.test.services');
const holder = globalThis as { [SHARED]?: { running: Promise<Running>; users: number } };

/** Starts what the run shares, once, however many projects ask for it; the last one out stops it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  holder[SHARED] ??= { running: start(), users: 0 };
  const shared = holder[SHARED];
  shared.users += 1;
  const running = await shared.running;
  project.provide('services', running.services);
  return async () => {
    shared.users -= 1;
    if (shared.users > 0) return;
    delete holder[SHARED];
    await running.stop();
  };
}

/**
 * Postgres plans a prepared statement anew for each of its first five uses, which is more than most connections of a test come to, and costs more than
 * to run it on tables that are nearly empty. Here it is planned once; `npm run test:long` plans as a deployment does.
 */
const PLANS: Readonly<Record<string, string>> = FULL ? {} : { plan_cache_mode: 'force_generic_plan' };

async function start(): Promise<Running> {
  const root = process.cwd();
  const runs = join(root, '.sluice', 'test');
  await removeAbandonedRuns(runs);
  const directory = join(runs, String(process.pid));
  await mkdir(directory, { recursive: true });
  const log = logFile(join(directory, 'services.log'));
  const [, postgres, redis] = await Promise.all([
    // What cannot be built has no bundle: the tests that start it fail, the others need not.
    buildIfChanged().catch((error: Error) => process.stderr.write(`${error.message}\n`)),
    startPostgres({ root, directory: join(directory, 'postgres'), template: 'test-cluster', durable: false, settings: PLANS, log }),
    startRedis({ root, directory: join(directory, 'redis'), databases: 2_000, acl: TEST_REDIS_ACL, log }),
  ]);
  const templateDatabase = `sluice_template_${process.pid}`;
  const database = connect(await ensureDatabase(postgres.url, templateDatabase), { name: 'sluice-test-setup', max: 1 });
  const schemaDirectory = join(directory, 'schema');
  await cp(join(root, 'shared', 'schema'), schemaDirectory, { recursive: true });
  await migrate(database.sql, schemaDirectory);
  // Roles belong to the cluster, and a copy of the template has what was granted in it.
  await applyRoles(database, TEST_LOGINS);
  await weakenPasswords(database, postgres);
  await database.end();
  return {
    services: { postgresUrl: postgres.url, templateDatabase, redisUrl: redis.url, schemaDirectory, directory },
    stop: async () => {
      if (postgres.external) await dropDatabase(postgres.url, templateDatabase);
      await Promise.all([redis.stop(), postgres.stop()]);
      await removeCluster(join(directory, 'postgres'));
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/**
 * Proving a password takes 4,096 rounds of hashing, a quarter of what a connection costs, and a run opens thousands: here one round is enough.
 * Postgres 15 knows no other number, and the owner of a server that somebody gave keeps what it has.
 */
async function weakenPasswords({ sql }: Database, postgres: Postgres): Promise<void> {
  const [{ version }] = await sql<[{ version: number }]>`select current_setting('server_version_num')::int as version`;
  if (version < 160_000) return;
  const owner = new URL(postgres.url);
  const logins = TEST_LOGINS.map(({ name, password }) => ({ name, password: password as string }));
  if (!postgres.external) logins.push({ name: owner.username, password: owner.password });
  const session = await sql.reserve();
  await session`set scram_iterations = 1`;
  for (const { name, password } of logins) await session.unsafe(`alter role ${name} password '${password}'`);
  session.release();
}

/** A run that was killed leaves a Postgres and a folder named after its process id. */
async function removeAbandonedRuns(runs: string): Promise<void> {
  for (const name of await readdir(runs).catch(() => [])) {
    if (!/^\d+$/.test(name) || isAlive(Number(name))) continue;
    await stopAbandoned(join(runs, name, 'postgres'));
    await removeCluster(join(runs, name, 'postgres'));
    await rm(join(runs, name), { recursive: true, force: true });
  }
}

async function dropDatabase(url: string, name: string): Promise<void> {
  const admin = connect(databaseUrl(url, 'postgres'), { name: 'sluice-test-setup', max: 1 });
  await admin.sql`drop database if exists ${admin.sql(name)} with (force)`;
  await admin.end();
}
