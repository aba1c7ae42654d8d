import { join } from 'node:path';
import { inject } from 'vitest';
import { startService } from '#ops/dev/services/child.ts';
import { freePort, waitFor } from '#ops/dev/services/wait.ts';
import { DEFAULT_ROLES, type Role } from '#shared/platform/config.ts';
import { redisUrlFor, urlFor } from './logins.ts';

/** A running deployable: the same file and command that production runs. */
export interface Deployable {
  pid: number;
  /** Everything it has logged, in order. */
  lines: string[];
  /** Origin of /healthz, /readyz and /metrics. */
  opsUrl: string;
  running(): boolean;
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** SIGTERM, and SIGKILL after 10 s. */
  stop(): Promise<void>;
  /** SIGKILL, at once. */
  kill(): Promise<void>;
}

export interface RunningApi extends Deployable {
  origin: string;
  /** Ends in /api/v1. */
  baseUrl: string;
  /** Ends in /operator/v1. */
  operatorUrl: string;
  checkoutOrigin: string;
}

export interface DeployableOptions {
  /** Added to (or, when undefined, taken from) the environment. */
  env?: Record<string, string | undefined>;
  /** Named crash point, `name` or `name#n`: the process SIGKILLs itself there. */
  crashAt?: string;
  /** Port the api listens on; any free one when absent. */
  port?: number;
  /** Folder of another build to run instead of this one. */
  directory?: string;
  /** The working folder of the process, when it is another one than that of the build. */
  startedIn?: string;
  /** True lets the process in as the owner of the tables; others get a login that may do what their roles need, and nothing else. */
  asOwner?: boolean;
  /** False returns as soon as the process exists; for processes that are meant to die while starting. */
  untilReady?: boolean;
}

/** Starts `node dist/api.js` and waits until it is ready. */
export async function startApi(environment: Record<string, string | undefined>, options: DeployableOptions = {}): Promise<RunningApi> {
  const [port, checkoutPort] = [options.port ?? (await freePort()), await freePort()];
  const deployable = await startDeployable('api', { SLUICE_PORT: String(port), SLUICE_CHECKOUT_PORT: String(checkoutPort), ...environment }, options);
  const origin = `http://127.0.0.1:${port}`;
  return { ...deployable, origin, baseUrl: `${origin}/api/v1`, operatorUrl: `${origin}/operator/v1`, checkoutOrigin: `http://127.0.0.1:${checkoutPort}` };
}

/** Starts `node dist/indexer.js` and waits until it is ready. */
export async function startIndexer(environment: Record<string, string | undefined>, options: DeployableOptions = {}): Promise<Deployable> {
  return startDeployable('indexer', environment, options);
}

async function startDeployable(name: 'api' | 'indexer', environment: Record<string, string | undefined>, options: DeployableOptions): Promise<Deployable> {
  const opsPort = await freePort();
  const lines: string[] = [];
  const env = { ...environment, ...options.env };
  const service = await startService({
    name,
    command: process.execPath,
    args: ['--enable-source-maps', join(options.directory ?? process.cwd(), 'dist', `${name}.js`)],
    cwd: options.startedIn ?? options.directory ?? process.cwd(),
    env: {
      PATH: process.env.PATH,
      SLUICE_METRICS_PORT: String(opsPort),
      SLUICE_SCHEMA_DIR: inject('services').schemaDirectory,
      ...(options.crashAt === undefined ? {} : { SLUICE_CRASH_AT: options.crashAt }),
      ...env,
      ...(options.asOwner !== true && leastRights(name, env)),
    },
    onLine: (line) => {
      lines.push(line);
      if (process.env.SLUICE_TEST_LOGS) process.stderr.write(`${name} ${service?.pid ?? ''} ${line}\n`);
    },
  });
  const deployable: Deployable = {
    pid: service.pid,
    lines,
    opsUrl: `http://127.0.0.1:${opsPort}`,
    running: service.running,
    exited: service.exited,
    stop: () => service.stop(),
    kill: () => service.kill(),
  };
  if (options.untilReady !== false) await untilReady(name, deployable);
  return deployable;
}

/** Postgres and Redis as this process is to reach them. A URL with another login than the run's own was chosen by the test. */
function leastRights(name: 'api' | 'indexer', env: Record<string, string | undefined>): Record<string, string> {
  const { DATABASE_URL: database, REDIS_URL: redis } = env;
  const roles = name === 'indexer' ? ['indexer' as const] : (env.SLUICE_ROLES ?? DEFAULT_ROLES.join(',')).split(',').map((role) => role.trim() as Role);
  const owned = database !== undefined && new URL(database).username === new URL(inject('services').postgresUrl).username;
  return {
    ...(owned && { DATABASE_URL: urlFor(database, roles) }),
    // A server that was given to the tests has none of their users.
    ...(redis !== undefined && !process.env.REDIS_URL && new URL(redis).username === '' && { REDIS_URL: redisUrlFor(redis, roles) }),
  };
}

/** Waits for /readyz to answer 200. @throws with the process's last lines when it dies or never does */
export async function untilReady(name: string, deployable: Deployable): Promise<void> {
  try {
    const state = await waitFor(
      async () => {
        if (!deployable.running()) return 'gone';
        return (await fetch(`${deployable.opsUrl}/readyz`)).ok && 'ready';
      },
      { what: `${name} to be ready`, timeoutMs: 45_000 },
    );
    if (state === 'gone') throw new Error(`${name} stopped while starting`);
  } catch (error) {
    const reasons = await fetch(`${deployable.opsUrl}/readyz`).then(
      (response) => response.text(),
      () => '',
    );
    await deployable.kill();
    throw new Error(`${(error as Error).message} ${reasons}\n${deployable.lines.slice(-25).join('\n')}`, { cause: error });
  }
}
