import { appendFile, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { commandOf, isAlive, startOf } from './services/child.ts';
import { waitFor } from './services/wait.ts';

/** The process that already runs on this data, if one does. */
export async function otherRunner(directory: string): Promise<number | undefined> {
  const [runner] = parse(await readFile(join(directory, 'runner.pid'), 'utf8').catch(() => ''));
  return runner !== undefined && runner.pid !== process.pid && (await isTheSame(runner)) ? runner.pid : undefined;
}

/** Marks the data as ours. */
export async function takeRunnerLock(directory: string): Promise<() => Promise<void>> {
  const path = join(directory, 'runner.pid');
  await writeFile(path, await lineOf(process.pid));
  return () => rm(path, { force: true });
}

/** Remembers a child, so that the next start can stop it should this process be killed. */
export async function rememberChild(directory: string, pid: number): Promise<void> {
  await appendFile(join(directory, 'children'), await lineOf(pid));
}

/** Forgets all children; for when they were stopped in order. */
export async function forgetChildren(directory: string): Promise<void> {
  await rm(join(directory, 'children'), { force: true });
}

/** Stops what a runner that was killed left behind: the deployables, then the servers they used. Returns how many. */
export async function stopLeftovers(directory: string): Promise<number> {
  const children = parse(await readFile(join(directory, 'children'), 'utf8').catch(() => ''));
  const ours = await Promise.all(children.map(isTheSame));
  const left = await Promise.all(children.filter((_, at) => ours[at]).map(async (child) => ({ ...child, command: await commandOf(child.pid) })));
  // A deployable may be killed at any moment; a chain must be let finish writing itself down.
  const deployables = left.filter(({ command }) => DEPLOYABLES.some((program) => command.includes(program)));
  await stopAll(deployables, 3_000);
  await stopAll(
    left.filter((child) => !deployables.includes(child)),
    30_000,
  );
  await forgetChildren(directory);
  return left.length;
}

const DEPLOYABLES = ['api.js', 'indexer.js'];

/** A process as it is written down: its id alone may be another one's by now. */
interface Remembered {
  pid: number;
  startedAt: string;
}

async function lineOf(pid: number): Promise<string> {
  return `${pid} ${(await startOf(pid)) ?? ''}\n`;
}

function parse(text: string): Remembered[] {
  return [...text.matchAll(/^(\d+) (.+)$/gm)].map(([, pid, startedAt]) => ({ pid: Number(pid), startedAt: startedAt as string }));
}

/** Process ids are used again: only a process that began when the one that was written down began is that one. */
async function isTheSame({ pid, startedAt }: Remembered): Promise<boolean> {
  return isAlive(pid) && (await startOf(pid)) === startedAt;
}

async function stopAll(chosen: readonly Remembered[], patienceMs: number): Promise<void> {
  await Promise.all(
    chosen.map(async ({ pid }) => {
      signalGroup(pid, 'SIGTERM');
      await waitFor(() => !isAlive(pid), { what: `process ${pid} to stop`, timeoutMs: patienceMs }).catch(() => signalGroup(pid, 'SIGKILL'));
    }),
  );
}

/** Every child leads a group of its own. One that is gone meanwhile needs no signal. */
function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
