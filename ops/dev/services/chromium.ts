import { plainEnvironment, run } from './child.ts';
import { isExecutable, onPath } from './on-path.ts';

/** The package of Debian without windows: the same engine, where a launch and each tab take a third of the CPU. */
const SHELL = 'chromium-headless-shell';
const NAMES = [SHELL, 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
/** Where macOS keeps what Linux has on PATH. */
const MAC_APPS = ['/Applications/Chromium.app/Contents/MacOS/Chromium', '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'];

/**
 * The path of a Chromium that runs: one on PATH, one of macOS's applications, else (as root on Debian) the distribution's
 * package, installed now; null when there is none to be had. What merely has its name, such as a stub that asks for another
 * installer, does not count.
 */
export async function findChromium(say: (line: string) => void): Promise<string | null> {
  const present = await presentChromium();
  if (present !== null) return present;
  if (process.getuid?.() !== 0 || (await onPath(['apt-get'])) === undefined) return null;
  say('no Chromium: installing the distribution package (about a minute)');
  try {
    await apt(['update']);
    // Not every release that has the one has the other.
    await installed(SHELL).catch(() => installed('chromium'));
  } catch (error) {
    say(`Chromium could not be installed: ${(error as Error).message}`);
  }
  return running(await onPath(NAMES));
}

/** The path of a Chromium that this machine has already; null without one that runs. */
export async function presentChromium(): Promise<string | null> {
  const command = await onPath(NAMES);
  if (command !== undefined) return running(command);
  for (const app of MAC_APPS) if (await isExecutable(app)) return running(app);
  return null;
}

async function running(command: string | undefined): Promise<string | null> {
  if (command === undefined) return null;
  const works = run({ name: command, command, args: ['--version'], cwd: '/', env: plainEnvironment() });
  return works.then(
    () => command,
    () => null,
  );
}

async function installed(name: string): Promise<void> {
  await apt(['install', '--no-install-recommends', name]);
}

async function apt(args: string[]): Promise<string> {
  const env = { ...plainEnvironment(), DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };
  return run({ name: `apt-get ${args.join(' ')}`, command: 'apt-get', args: ['-y', '-q', ...args], cwd: '/', env });
}
