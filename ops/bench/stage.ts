import { randomBytes, randomUUID } from 'node:crypto';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleProgram } from '#ops/dev/build.mjs';
import { NODE_FLAGS, plainEnvironment } from '#ops/dev/services/child.ts';
import { databaseUrl, ensureDatabase, removeCluster, startPostgres } from '#ops/dev/services/postgres.ts';
import { startRedis } from '#ops/dev/services/redis.ts';
import { freePort, waitFor } from '#ops/dev/services/wait.ts';
import type { NetworkConfig } from '#shared/core/assets.ts';
import { DEMO_SEED } from '#shared/platform/config.ts';
import { migrate } from '#shared/platform/migrate.ts';
import { packageRoot } from '#shared/platform/package-root.ts';
import { connect, type Database } from '#shared/platform/postgres.ts';
import { publicHalf } from '#shared/platform/statements.ts';

const secret = (): string => randomBytes(24).toString('hex');

/** Secrets of one run; they open nothing. */
export const SECRETS = {
  SLUICE_STREAM_KEY: secret(),
  SLUICE_API_KEY_PEPPER: secret(),
  SLUICE_OPERATOR_TOKEN: secret(),
  SLUICE_MASTER_KEY: secret(),
};

/** What its http role signs with. */
const INTENT_KEY = randomBytes(32).toString('hex');

/** A process under measurement; what it writes goes to a file, so that nobody spends CPU on reading it. */
export interface Process {
  pid: number;
  /** Unix milliseconds. */
  startedMs: number;
  logFile: string;
  exited: Promise<number | null>;
  /** SIGTERM, and SIGKILL after 10 s. */
  stop(): Promise<void>;
}

export interface ApiProcess extends Process {
  origin: string;
}

/** Real servers for one run: Postgres that keeps what it was told, Redis, and the deployables as they are built. */
export interface Stage {
  directory: string;
  redisUrl: string;
  /** Whether Postgres writes to disk before it says so; without it no figure about writing counts. */
  durable: boolean;
  /** An empty, migrated database. */
  database(): Promise<Database & { url: string }>;
  /** Writes a networks file; what an environment's SLUICE_NETWORKS names. */
  networksFile(networks: readonly NetworkConfig[]): Promise<string>;
  environment(database: { url: string }, networksFile: string): Record<string, string>;
  startApi(environment: Record<string, string>): Promise<ApiProcess>;
  startIndexer(environment: Record<string, string>): Promise<Process>;
  /** A program of this folder, made as the deployables are, as a process of its own, whose CPU and memory are its own; with files `instead` of others (bundleProgram). */
  startTool(file: string, args: readonly string[], instead?: Readonly<Record<string, string>>): Promise<Tool>;
  /** What Postgres wrote to its log since it was started. */
  postgresLog: string[];
  say(line: string): void;
  stop(): Promise<void>;
}

/** A tool answers each line it is sent with one line of JSON. */
export interface Tool extends Process {
  ask<T>(question: object): Promise<T>;
}

/** Starts the servers below `.sluice/bench`; `durable` false only where nothing is measured. */
export async function openStage(options: { durable: boolean; say(line: string): void }): Promise<Stage> {
  const root = packageRoot();
  const directory = join(root, '.sluice', 'bench', String(process.pid));
  await mkdir(directory, { recursive: true });
  const postgresLog: string[] = [];
  const cluster = join(directory, 'postgres');
  const [postgres, redis] = await Promise.all([
    startPostgres({ root, directory: cluster, durable: options.durable, template: 'test-cluster', log: (line) => void postgresLog.push(line) }),
    startRedis({ root, directory: join(directory, 'redis'), log: () => undefined }),
  ]);
  const running = new Set<Process>();
  const tools = new Map<string, Promise<void>>();
  const databases: Database[] = [];
  let lastRedis = -1;
  let migrated: Promise<string> | undefined;

  const start = async (name: string, args: readonly string[], env: Record<string, string | undefined>, pipes = false): Promise<Started> => {
    const logFile = join(directory, `${name}-${randomUUID()}.log`);
    const log = await open(logFile, 'a');
    const startedMs = Date.now();
    const child = spawn(process.execPath, args, { env, stdio: pipes ? ['pipe', 'pipe', log.fd] : ['ignore', log.fd, log.fd] });
    await once(child, 'spawn');
    await log.close();
    const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
    const started: Started = {
      child,
      pid: child.pid as number,
      startedMs,
      logFile,
      exited,
      async stop() {
        const insist = setTimeout(() => child.kill('SIGKILL'), 10_000);
        if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
        await exited;
        clearTimeout(insist);
      },
    };
    running.add(started);
    void exited.then(() => running.delete(started));
    return started;
  };

  const deployable = async (name: 'api' | 'indexer', environment: Record<string, string>): Promise<Process> => {
    const port = await freePort();
    const env = { PATH: process.env.PATH, SLUICE_METRICS_PORT: String(port), ...environment };
    const more = (process.env.SLUICE_BENCH_NODE_ARGS ?? '').split(' ').filter(Boolean);
    const started = await start(name, [...(NODE_FLAGS[`${name}.js`] ?? []), ...more, join('dist', `${name}.js`)], env);
    try {
      await waitFor(async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).ok, { what: `${name} to be ready`, timeoutMs: 60_000 });
    } catch (error) {
      await started.stop();
      throw new Error(`${(error as Error).message}\n${(await readFile(started.logFile, 'utf8')).split('\n').slice(-12).join('\n')}`, { cause: error });
    }
    return started;
  };

  return {
    directory,
    get redisUrl() {
      return `${redis.url}/${lastRedis}`;
    },
    durable: options.durable,
    postgresLog,
    say: options.say,
    async database() {
      migrated ??= migratedDatabase(postgres.url);
      const url = await copyOf(postgres.url, await migrated);
      const database = connect(url, { name: 'sluice-bench', max: 4 });
      databases.push(database);
      lastRedis = (lastRedis + 1) % 16;
      return { ...database, url };
    },
    async networksFile(networks) {
      const file = join(directory, `networks-${randomUUID()}.json`);
      await writeFile(file, JSON.stringify({ networks }));
      return file;
    },
    environment: (database, networksFile) => ({
      NODE_ENV: 'development',
      DATABASE_URL: database.url,
      REDIS_URL: `${redis.url}/${lastRedis}`,
      SLUICE_NETWORKS: networksFile,
      // Everything comes from one address here; the limiter works as always and never refuses.
      SLUICE_RATE_LIMIT_SCALE: '100000',
      SLUICE_MAIL_DIR: join(directory, 'mail'),
      ...SECRETS,
    }),
    async startApi(environment) {
      const [port, checkout] = [await freePort(), await freePort()];
      const roles = environment.SLUICE_ROLES ?? 'http,worker,signer';
      const seed = roles.includes('signer') ? { SLUICE_SIGNER_SEED: DEMO_SEED, SLUICE_SIGNER_JOURNAL: join(directory, 'journal') } : {};
      const intents = roles.includes('http') ? { SLUICE_INTENT_KEY: INTENT_KEY } : { SLUICE_INTENT_PUBLIC_KEYS: publicHalf(INTENT_KEY) };
      const own = { SLUICE_PORT: String(port), SLUICE_CHECKOUT_PORT: String(checkout), ...seed, ...intents, ...environment };
      // The signer and the console by themselves are refused what they do without.
      const env = ['signer', 'console'].includes(roles) ? Object.fromEntries(Object.entries(own).filter(([name]) => !(name in SECRETS))) : own;
      return { ...(await deployable('api', env)), origin: `http://127.0.0.1:${port}` };
    },
    startIndexer: (environment) => deployable('indexer', environment),
    async startTool(file, args, instead) {
      const program = join(directory, 'tools', file.replace(/\.ts$/, '.js'));
      // Made once, also for two that start at once.
      const made = tools.get(file) ?? bundleProgram(join('ops', 'bench', file), program, instead);
      tools.set(file, made);
      await made;
      const started = await start(file.replace(/\.ts$/, ''), ['--max-old-space-size=8192', program, ...args], plainEnvironment(), true);
      const ask = conversation(started);
      return { ...started, ask };
    },
    async stop() {
      await Promise.all([...running].map((one) => one.stop()));
      await Promise.all(databases.map((database) => database.end()));
      await Promise.all([redis.stop(), postgres.stop()]);
      await removeCluster(cluster);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Makes the database that all others are copies of; its name. */
async function migratedDatabase(serverUrl: string): Promise<string> {
  const name = 'sluice_bench_template';
  const database = connect(await ensureDatabase(serverUrl, name), { name: 'sluice-bench', max: 1 });
  await migrate(database.sql, 'shared/schema');
  await database.end();
  return name;
}

async function copyOf(serverUrl: string, template: string): Promise<string> {
  const name = `sluice_bench_${randomUUID().replaceAll('-', '')}`;
  const admin = connect(serverUrl, { name: 'sluice-bench', max: 1 });
  try {
    await admin.sql`create database ${admin.sql(name)} template ${admin.sql(template)}`;
  } finally {
    await admin.end();
  }
  return databaseUrl(serverUrl, name);
}

interface Started extends Process {
  child: ChildProcess;
}

/** One line each way; answers come in the order of the questions. */
function conversation({ child, exited, logFile }: Started): <T>(question: object) => Promise<T> {
  const waiting: { resolve(answer: unknown): void; reject(error: Error): void }[] = [];
  let rest = '';
  child.stdout?.setEncoding('utf8').on('data', (part: string) => {
    const lines = (rest + part).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) waiting.shift()?.resolve(JSON.parse(line));
  });
  void exited.then(async () => {
    if (waiting.length === 0) return;
    const last = (await readFile(logFile, 'utf8').catch(() => '')).split('\n').slice(-12).join('\n');
    for (const { reject } of waiting.splice(0)) reject(new Error(`a tool of the bench ended early:\n${last}`));
  });
  return <T>(question: object) =>
    new Promise<T>((resolve, reject) => {
      waiting.push({ resolve: resolve as (answer: unknown) => void, reject });
      child.stdin?.write(`${JSON.stringify(question)}\n`);
    });
}

/** Has Postgres log every statement of connections opened from now on, or no more. */
export async function setLogging(url: string, on: boolean): Promise<void> {
  const database = connect(url, { name: 'sluice-bench', max: 1 });
  const name = new URL(url).pathname.slice(1);
  await database.sql.unsafe(`alter database "${name}" set log_min_duration_statement = ${on ? 0 : -1}`);
  await database.end();
}
