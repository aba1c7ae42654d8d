import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { plainEnvironment, run } from './child.ts';
import { onPath } from './on-path.ts';

export interface PackageOptions {
  name: string;
  /** Folder the package's files come to, in one piece or not at all. */
  home: string;
  /** Whether to bring what it depends on and this machine has not unpacked. */
  dependencies: boolean;
}

/** True where `unpackPackage` can work. */
export async function hasPackages(): Promise<boolean> {
  return (await onPath(['apt-get'])) !== undefined && (await onPath(['dpkg-deb'])) !== undefined;
}

/**
 * Brings a package of the distribution into a folder without touching the system: nothing is installed, and apt's lists, cache
 * and state are of our own, since a fresh machine's are empty and the system's are not ours to change.
 * @throws when apt cannot fetch it
 */
export async function unpackPackage({ name, home, dependencies }: PackageOptions): Promise<void> {
  const work = `${home}.${process.pid}`;
  try {
    for (const folder of ['lists/partial', 'cache/archives/partial', 'state', 'root']) await mkdir(join(work, folder), { recursive: true });
    await writeFile(join(work, 'state', 'extended_states'), '');
    const archives = join(work, 'cache', 'archives');
    await apt(work, work, ['update']);
    const wanted = dependencies ? await missingWith(work, name) : [name];
    await apt(work, archives, ['download', ...wanted]);
    for (const archive of (await readdir(archives)).filter((file) => file.endsWith('.deb')))
      await run({
        name: `dpkg-deb ${archive}`,
        command: 'dpkg-deb',
        args: ['-x', join(archives, archive), join(work, 'root')],
        cwd: work,
        env: plainEnvironment(),
      });
    await rm(join(work, 'lists'), { recursive: true, force: true });
    await rm(join(work, 'cache'), { recursive: true, force: true });
    await rename(work, home).catch(async (error: NodeJS.ErrnoException) => {
      // Another run was faster; its copy is as good.
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/**
 * The package and what it depends on that this machine has not. apt is asked as if nothing at all were installed, so that a system whose
 * packages contradict each other, or are half installed, is no reason to refuse; what is there is then told by the list of files.
 */
async function missingWith(work: string, name: string): Promise<string[]> {
  const nothing = join(work, 'state', 'status');
  await writeFile(nothing, '');
  const plan = await apt(work, work, ['-s', '-o', `Dir::State::status=${nothing}`, 'install', name]);
  const needed = [...plan.matchAll(/^Inst (\S+)/gm)].map(([, found]) => found as string);
  const present = await Promise.all(needed.map((one) => one !== name && hasFilesOf(one)));
  return needed.filter((_, at) => !present[at]);
}

/** True when dpkg unpacked this package here, configured or not. */
async function hasFilesOf(name: string): Promise<boolean> {
  const asked = run({
    name: 'dpkg-query',
    command: 'dpkg-query',
    args: ['-s', name],
    cwd: '/',
    env: { ...plainEnvironment(), LC_ALL: 'C' },
  });
  return asked.then(
    (states) => /^Status: \S+ \S+ (installed|unpacked|half-configured|triggers-awaited|triggers-pending)$/m.test(states),
    () => false,
  );
}

async function apt(work: string, cwd: string, args: string[]): Promise<string> {
  const settings = [
    `Dir::State::lists=${work}/lists`,
    `Dir::Cache=${work}/cache`,
    `Dir::State::extended_states=${work}/state/extended_states`,
    `Dir::Log=${work}/state`,
    'Debug::NoLocking=1',
    'APT::Sandbox::User=',
    'Dpkg::Use-Pty=0',
  ];
  return run({
    name: `apt-get ${args.join(' ')}`,
    command: 'apt-get',
    args: [...settings.flatMap((setting) => ['-o', setting]), '-y', '-q', '--no-install-recommends', ...args],
    cwd,
    env: { ...plainEnvironment(), DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' },
  });
}
