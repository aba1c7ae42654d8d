import { join } from 'node:path';
import { CannotStart } from './cannot-start.ts';
import { DEMO_SEED } from '#shared/platform/config.ts';
import { publicHalf } from '#shared/platform/statements.ts';
import type { DemoSecrets } from './demo-secrets.ts';
import type { LocalNetworks } from './local-networks.ts';
import { rememberChild } from './runner-lock.ts';
import { LONGEST_START_MS, NODE_FLAGS, plainEnvironment } from './services/child.ts';
import { logFile } from './services/redis.ts';
import { type HeldPort, freePort, holdExactly, holdPort, waitFor } from './services/wait.ts';
import { type Supervised, supervise } from './supervisor.ts';

export interface Ports {
  api: number;
  checkout: number;
  console: number;
  receiver: number;
  apiMetrics: number;
  signerMetrics: number;
  signer: number;
  /** Where the console asks the api who somebody is. */
  internal: number;
  consoleMetrics: number;
  indexerMetrics: Map<string, number>;
}

/** The ports of a run, listened on until their services come. */
export interface ChosenPorts {
  ports: Ports;
  /** Lets the services have them, or one of them; once is enough. */
  release(only?: number): Promise<void>;
}

/**
 * The ports that SLUICE_PORT, SLUICE_CHECKOUT_PORT, SLUICE_CONSOLE_PORT and SLUICE_METRICS_PORT name; else the usual ones, or the next free ones, and says
 * which were taken. Each is listened on before it is spoken of, and until it is let go.
 * @throws CannotStart when one that was named cannot be had
 */
export async function choosePorts(env: Record<string, string | undefined>, say: (line: string) => void): Promise<ChosenPorts> {
  const held: HeldPort[] = [];
  const hold = (port: HeldPort): number => {
    held.push(port);
    return port.port;
  };
  const usual = async (name: string, preferred: number): Promise<number> => {
    const port = hold(await holdPort(preferred));
    if (port !== preferred) say(`port ${preferred} is taken; ${name} uses ${port}`);
    return port;
  };
  const named = async (name: string, variable: string, preferred: number): Promise<number> => {
    const given = env[variable];
    if (given === undefined || given === '') return usual(name, preferred);
    const answer = /^\d{1,5}$/.test(given) && Number(given) >= 1 && Number(given) <= 65_535 ? await holdExactly(Number(given)) : 'not a port';
    if (typeof answer !== 'string') return hold(answer);
    const why = answer === 'EADDRINUSE' ? 'somebody else listens on it' : answer;
    throw new CannotStart(`${name} cannot have port ${given}, which ${variable} names: ${why}. Free it, name another one, or leave ${variable} out.`);
  };
  const release = async (only?: number): Promise<void> => {
    await Promise.all(held.filter(({ port }) => only === undefined || port === only).map((port) => port.release()));
  };
  try {
    const ports = {
      api: await named('the api', 'SLUICE_PORT', 3000),
      checkout: await named('the checkout', 'SLUICE_CHECKOUT_PORT', 3001),
      console: await named('the console', 'SLUICE_CONSOLE_PORT', 3002),
      receiver: await usual('the webhook receiver', 4242),
      apiMetrics: await named('metrics of the api', 'SLUICE_METRICS_PORT', 9464),
      signerMetrics: await usual('metrics of the signer', 9465),
      signer: hold(await holdPort()),
      internal: hold(await holdPort()),
      consoleMetrics: hold(await holdPort()),
      indexerMetrics: new Map<string, number>(),
    };
    return { ports, release };
  } catch (error) {
    await release();
    throw error;
  }
}

/** Where the API key of the canary's gateway is kept. */
export function canaryKeyFile(directory: string): string {
  return join(directory, 'canary.key');
}

/** Where people sign in: passkeys work at a name alone, and without a certificate at this one. */
export function consoleUrl({ console }: Pick<Ports, 'console'>): string {
  return `http://localhost:${console}`;
}

export interface Processes {
  api: Supervised;
  signer: Supervised;
  console: Supervised;
  indexers: Map<string, Supervised>;
}

export interface ProcessOptions {
  root: string;
  directory: string;
  ports: Ports;
  /** Postgres as a process reaches it: `api`, `signer`, `console`, `indexer-<network>`. */
  databaseUrl(process: string): string;
  /** Redis, the same way. */
  redisUrl(process: string): string;
  local: LocalNetworks;
  /** Folder of the signer's journal. */
  journal: string;
  secrets: DemoSecrets;
  say(line: string): void;
  signal: AbortSignal;
  /** Publishes the process ids of this moment; never called twice at once. */
  onPids(): Promise<void>;
}

/**
 * The deployables as production runs them: http and worker, the signer apart, with the seed and no other secret, the
 * console apart, with none at all, one indexer per network.
 */
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
    SLUICE_CONSOLE_URL: consoleUrl(ports),
    SLUICE_INTERNAL_PORT: String(ports.internal),
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
  const started: Supervised[] = [];
  const start = async (name: string, program: string, env: Record<string, string | undefined>): Promise<Supervised> => {
    const supervised = await supervise({
      name,
      command: process.execPath,
      args: ['--enable-source-maps', ...(NODE_FLAGS[program] ?? []), join(options.root, 'dist', program)],
      cwd: options.root,
      env,
      onLine: logFile(join(options.directory, 'logs', `${name.replaceAll(' ', '-')}.log`)),
      onRestart: note,
      say: options.say,
      signal: options.signal,
    });
    started.push(supervised);
    await rememberChild(options.directory, supervised.pid());
    return supervised;
  };
  for (const [index, network] of options.local.networks.entries()) ports.indexerMetrics.set(network.name, await freePort(9466 + index));
  const starts = [
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
    start('console', 'api.js', {
      ...common,
      ...reached('console'),
      SLUICE_ROLES: 'console',
      SLUICE_CONSOLE_PORT: String(ports.console),
      SLUICE_CONSOLE_URL: consoleUrl(ports),
      SLUICE_INTERNAL_URL: `http://127.0.0.1:${ports.internal}`,
      SLUICE_INTERNAL_KEY: secrets.SLUICE_INTERNAL_KEY,
      SLUICE_METRICS_PORT: String(ports.consoleMetrics),
      SLUICE_RATE_LIMIT_SCALE: api.SLUICE_RATE_LIMIT_SCALE,
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
  ] as const;
  const failed = (await Promise.allSettled(starts)).find((result) => result.status === 'rejected');
  if (failed !== undefined) {
    await Promise.all(started.map((process) => process.stop()));
    throw failed.reason;
  }
  const [http, signer, console, ...indexers] = await Promise.all(starts);
  return { api: http, signer, console, indexers: new Map(options.local.networks.map((network, index) => [network.name, indexers[index] as Supervised])) };
}

/** A process that keeps dying will not get ready by waiting. */
const HOPELESS_DEATHS = 3;

/**
 * Waits for a process's /readyz, for as long as the process lives, and says every few seconds what the process waits for.
 * @throws CannotStart with what is wrong with it
 */
export async function untilReady(port: number, process: Supervised, { say, signal }: { say(line: string): void; signal: AbortSignal }): Promise<void> {
  let reasons = 'it does not answer yet';
  const problem = await waitFor(
    async () => {
      if (process.deaths() >= HOPELESS_DEATHS) return `it keeps stopping:\n${process.lastLines().join('\n')}\n`;
      const response = await fetch(`http://127.0.0.1:${port}/readyz`);
      reasons = await response.text();
      return response.ok ? 'none' : undefined;
    },
    { what: `${process.name} to be ready`, timeoutMs: LONGEST_START_MS, everyMs: 50, signal, tell: (line) => say(`${line}: ${reasons}`) },
  ).catch(() => {
    signal.throwIfAborted();
    return reasons;
  });
  if (problem !== 'none') throw new CannotStart(`${process.name} does not get ready: ${problem}; its log is in the folder logs beside the data`);
}
