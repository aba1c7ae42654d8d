import { join } from 'node:path';
import { CannotStart } from './cannot-start.ts';
import { DEMO_SEED } from '#shared/platform/config.ts';
import { publicHalf } from '#shared/platform/statements.ts';
import type { DemoSecrets } from './demo-secrets.ts';
import type { LocalNetworks } from './local-networks.ts';
import { rememberChild } from './runner-lock.ts';
import { plainEnvironment } from './services/child.ts';
import { logFile } from './services/redis.ts';
import { freePort, waitFor } from './services/wait.ts';
import { type Supervised, supervise } from './supervisor.ts';

export interface Ports {
  api: number;
  checkout: number;
  receiver: number;
  apiMetrics: number;
  signerMetrics: number;
  signer: number;
  indexerMetrics: Map<string, number>;
}

/** The usual ports, or the next free ones; says which were taken. */
export async function choosePorts(say: (line: string) => void): Promise<Ports> {
  const choose = async (name: string, preferred: number): Promise<number> => {
    const port = await freePort(preferred);
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

/** Where the API key of the canary's gateway is kept. */
export function canaryKeyFile(directory: string): string {
  return join(directory, 'canary.key');
}

export interface Processes {
  api: Supervised;
  signer: Supervised;
  indexers: Map<string, Supervised>;
}

export interface ProcessOptions {
  root: string;
  directory: string;
  ports: Ports;
  /** Postgres as a process reaches it: `api`, `signer`, `indexer-<network>`. */
  databaseUrl(process: string): string;
  /** Redis, the same way. */
  redisUrl(process: string): string;
  local: LocalNetworks;
  /** Folder of the signer's journal. */
  journal: string;
  secrets: DemoSecrets;
  say(line: string): void;
  /** Publishes the process ids of this moment; never called twice at once. */
  onPids(): Promise<void>;
}

/** The deployables as production runs them: http and worker, the signer apart, with the seed and no other secret, one indexer per network. */
export async function startProcesses(options: ProcessOptions): Promise<Processes> {
  const { ports, secrets } = options;
  const passed = Object.keys(process.env).filter((name) => name === 'SLUICE_LOG_LEVEL' || name.startsWith('OTEL_'));
  const common = {
    ...plainEnvironment(),
    ...Object.fromEntries(passed.map((name) => [name, process.env[name]])),
    NODE_ENV: 'development',
    SLUICE_NETWORKS: options.local.file,
  };
  const streamKey = { SLUICE_STREAM_KEY: secrets.SLUICE_STREAM_KEY };
  const reached = (name: string) => ({ DATABASE_URL: options.databaseUrl(name), REDIS_URL: options.redisUrl(name) });
  const api = {
    ...common,
    ...secrets,
    SLUICE_CHECKOUT_PORT: String(ports.checkout),
    SLUICE_PUBLIC_URL: `http://127.0.0.1:${ports.api}`,
    SLUICE_CHECKOUT_URL: `http://127.0.0.1:${ports.checkout}`,
    SLUICE_MAIL_DIR: join(options.directory, 'mail'),
    SLUICE_RATE_LIMIT_SCALE: process.env.SLUICE_RATE_LIMIT_SCALE ?? '1000',
  };
  // Several may die at once: each is written down after the other, and a file that cannot be written stops nobody.
  let noted = Promise.resolve();
  const note = (pid: number): void => {
    noted = noted
      .then(() => rememberChild(options.directory, pid))
      .then(() => options.onPids())
      .catch((error: unknown) => options.say(`cannot write down process ${pid}: ${error instanceof Error ? error.message : String(error)}`));
  };
  const start = async (name: string, program: string, env: Record<string, string | undefined>): Promise<Supervised> => {
    const supervised = await supervise({
      name,
      command: process.execPath,
      args: ['--enable-source-maps', join(options.root, 'dist', program)],
      cwd: options.root,
      env,
      onLine: logFile(join(options.directory, 'logs', `${name.replaceAll(' ', '-')}.log`)),
      onRestart: note,
      say: options.say,
    });
    await rememberChild(options.directory, supervised.pid());
    return supervised;
  };
  for (const [index, network] of options.local.networks.entries()) ports.indexerMetrics.set(network.name, await freePort(9466 + index));
  const [http, signer, ...indexers] = await Promise.all([
    start('api', 'api.js', {
      ...api,
      ...reached('api'),
      SLUICE_ROLES: 'http,worker',
      SLUICE_PORT: String(ports.api),
      SLUICE_METRICS_PORT: String(ports.apiMetrics),
      SLUICE_CANARY_URL: `http://127.0.0.1:${ports.api}/api/v1`,
      SLUICE_CANARY_KEY_FILE: canaryKeyFile(options.directory),
    }),
    start('signer', 'api.js', {
      ...common,
      ...reached('signer'),
      SLUICE_ROLES: 'signer',
      SLUICE_INTENT_PUBLIC_KEYS: publicHalf(secrets.SLUICE_INTENT_KEY),
      SLUICE_SIGNER_SEED: process.env.SLUICE_SIGNER_SEED ?? DEMO_SEED,
      SLUICE_SIGNER_JOURNAL: options.journal,
      SLUICE_PORT: String(ports.signer),
      SLUICE_METRICS_PORT: String(ports.signerMetrics),
    }),
    ...options.local.networks.map(({ name }) =>
      start(`indexer ${name}`, 'indexer.js', {
        ...common,
        ...streamKey,
        ...reached(`indexer-${name}`),
        SLUICE_INDEXER_NETWORKS: name,
        SLUICE_METRICS_PORT: String(ports.indexerMetrics.get(name)),
      }),
    ),
  ]);
  return { api: http, signer, indexers: new Map(options.local.networks.map((network, index) => [network.name, indexers[index] as Supervised])) };
}

/** How long anything may take to get ready on a slow machine. */
export const READY_WITHIN_MS = 60_000;
/** A process that keeps dying will not get ready by waiting. */
const HOPELESS_DEATHS = 3;

/** Waits for a process's /readyz. @throws CannotStart with what is wrong with it */
export async function untilReady(port: number, process: Supervised): Promise<void> {
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
