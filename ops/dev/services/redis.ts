import { createWriteStream } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { connect as connectSocket } from 'node:net';
import { delimiter, join } from 'node:path';
import { plainEnvironment, startService, untilUp } from './child.ts';
import { hasPackages, unpackPackage } from './debian-package.ts';
import { onPath } from './on-path.ts';
import { seconds } from './postgres.ts';
import { freePort } from './wait.ts';

export interface RedisOptions {
  root: string;
  /** Folder for this server's data. */
  directory: string;
  databases?: number;
  port?: number;
  /** What its users may do (redisAclFile); everybody may do everything without it. A server that is external has its own. */
  acl?: string;
  log(line: string): void;
  /** Hears what is waited for; `log` does without it. */
  tell?: ((line: string) => void) | undefined;
  signal?: AbortSignal | undefined;
  /** Hears the process id of a server of our own before it is ready. */
  onStart?: ((pid: number) => Promise<void>) | undefined;
}

export interface Redis {
  url: string;
  external: boolean;
  /** Process id of a server of our own. */
  pid?: number;
  /** Resolves when a server of our own is gone, however that came about. */
  exited?: Promise<unknown>;
  stop(): Promise<void>;
  /** SIGKILL, for tests of what a lost Redis loses. */
  kill(): Promise<void>;
}

/**
 * A Redis to use: `REDIS_URL` when set, else a server of our own from a `redis-server` or `valkey-server` on PATH, else
 * one from the distribution's package, downloaded and unpacked below `.sluice` without touching the system.
 */
export async function startRedis(options: RedisOptions): Promise<Redis> {
  const given = process.env.REDIS_URL;
  if (given) return { url: given, external: true, stop: async () => undefined, kill: async () => undefined };
  const installed = await onPath(PROGRAMS);
  const program = installed === undefined ? await unpackedPackage(options) : { command: installed };
  await mkdir(options.directory, { recursive: true });
  const aclFile = join(options.directory, 'users.acl');
  if (options.acl !== undefined) await writeFile(aclFile, options.acl, { mode: 0o600 });
  const port = options.port ?? (await freePort());
  const server = await startService({
    name: 'redis',
    command: program.command,
    // BullMQ must never lose a key to eviction. Snapshots only spare a restart some re-reading: Postgres is the truth.
    args: [
      '--bind',
      '127.0.0.1',
      '--port',
      String(port),
      '--dir',
      options.directory,
      '--save',
      '60 1',
      '--appendonly',
      'no',
      '--maxmemory-policy',
      'noeviction',
      '--databases',
      String(options.databases ?? 16),
      ...(options.acl === undefined ? [] : ['--aclfile', aclFile]),
    ],
    cwd: options.directory,
    env: { ...plainEnvironment(), ...(program.libraries === undefined ? {} : { LD_LIBRARY_PATH: program.libraries }) },
    onLine: options.log,
    onStart: options.onStart,
  });
  await untilUp(server, () => pong(port), { what: 'Redis to answer', tell: options.tell ?? options.log, signal: options.signal });
  return { url: `redis://127.0.0.1:${port}`, external: false, pid: server.pid, exited: server.exited, stop: () => server.stop(), kill: () => server.kill() };
}

const PROGRAMS = ['redis-server', 'valkey-server'];

interface Program {
  command: string;
  /** Folders for LD_LIBRARY_PATH. */
  libraries?: string;
}

/** Makes sure that `startRedis` finds a program, before anything else is started: fetching one takes longest, and may be impossible. */
export async function fetchRedis(options: Pick<RedisOptions, 'root' | 'log'>): Promise<void> {
  if (process.env.REDIS_URL || (await onPath(PROGRAMS)) !== undefined) return;
  await unpackedPackage(options);
}

/** Brings the distribution's Redis below `.sluice` with what it needs and this machine has not. */
async function unpackedPackage(options: Pick<RedisOptions, 'root' | 'log'>): Promise<Program> {
  const home = join(options.root, '.sluice', 'redis-package');
  const found = await programIn(home);
  if (found) return found;
  if (!(await hasPackages())) throw new Error('no Redis: install redis-server or valkey-server (macOS: brew install valkey), or set REDIS_URL');
  const began = performance.now();
  options.log('no redis-server on PATH: fetching the distribution package (about 20 s, nothing is installed)');
  await unpackPackage({ name: 'redis-server', home, dependencies: true }).catch((cause: Error) => {
    throw new Error(`no Redis: the distribution package could not be fetched (${cause.message}); install redis-server, or set REDIS_URL`, { cause });
  });
  const program = await programIn(home);
  if (program === undefined) throw new Error('no Redis: the distribution package holds no redis-server; install redis-server, or set REDIS_URL');
  options.log(`Redis unpacked below .sluice in ${seconds(began)}`);
  return program;
}

async function programIn(home: string): Promise<Program | undefined> {
  const folders = await readdir(home, { recursive: true, withFileTypes: true }).catch(() => []);
  const server = folders.find((entry) => ['redis-check-rdb', 'redis-server'].includes(entry.name) && !entry.isDirectory());
  if (server === undefined) return undefined;
  const libraries = new Set(folders.filter((entry) => /\.so(\.|$)/.test(entry.name)).map((entry) => entry.parentPath));
  return { command: join(server.parentPath, 'redis-server'), libraries: [...libraries].join(delimiter) };
}

async function pong(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectSocket(port, '127.0.0.1');
    socket.once('error', () => resolve(false));
    socket.once('connect', () => socket.write('PING\r\n'));
    socket.once('data', (bytes) => {
      socket.destroy();
      // One that asks for a password answers, too.
      resolve(/^(\+PONG|-NOAUTH)/.test(bytes.toString()));
    });
  });
}

/** A file that collects what a child writes. */
export function logFile(path: string): (line: string) => void {
  const stream = createWriteStream(path, { flags: 'a' });
  return (line) => {
    stream.write(`${line}\n`);
  };
}
