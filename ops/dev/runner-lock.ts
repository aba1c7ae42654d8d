import { execFile } from 'node:child_process';
import { appendFile, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isAlive } from './services/child.ts';
import { waitFor } from './services/wait.ts';

const execute = promisify(execFile);

/** The process that already runs on this data, if one does. */
export async function otherRunner(directory: string): Promise<number | undefined> {
  const pid = Number(await readFile(join(directory, 'runner.pid'), 'utf8').catch(() => ''));
  return pid && pid !== process.pid && (await looksLike(pid, ['start.js', 'demo.js'])) ? pid : undefined;
}

/** Marks the data as ours. */
export async function takeRunnerLock(directory: string): Promise<() => Promise<void>> {
  const path = join(directory, 'runner.pid');
  await writeFile(path, String(process.pid));
  return () => rm(path, { force: true });
}

/** Remembers a child, so that the next start can stop it should this process be killed. */
export async function rememberChild(directory: string, pid: number): Promise<void> {
  await appendFile(join(directory, 'children'), `${pid}\n`);
}

/** Forgets all children; for when they were stopped in order. */
export async function forgetChildren(directory: string): Promise<void> {
  await rm(join(directory, 'children'), { force: true });
}

/** Stops what a runner that was killed left behind: the deployables, then the servers they used. Returns how many. */
export async function stopLeftovers(directory: string): Promise<number> {
  const pids = (await readFile(join(directory, 'children'), 'utf8').catch(() => '')).split('\n').map(Number).filter(Boolean);
  // A deployable may be killed at any moment; a chain must be let finish writing itself down.
  const stopped = [
    await stopAll(pids, ['api.js', 'indexer.js'], 3_000),
    await stopAll(pids, ['anvil', 'tron-node.js', 'bitcoin-node.js', 'bitcoind', 'redis', 'valkey'], 30_000),
  ];
  await forgetChildren(directory);
  return stopped.reduce((sum, count) => sum + count, 0);
}

async function stopAll(pids: number[], programs: string[], patienceMs: number): Promise<number> {
  const matches = await Promise.all(pids.map((pid) => looksLike(pid, programs)));
  const chosen = pids.filter((_, index) => matches[index]);
  await Promise.all(
    chosen.map(async (pid) => {
      process.kill(-pid, 'SIGTERM');
      await waitFor(() => !isAlive(pid), { what: `process ${pid} to stop`, timeoutMs: patienceMs }).catch(() => process.kill(-pid, 'SIGKILL'));
    }),
  );
  return chosen.length;
}

/** Process ids are used again: only a process whose command line names one of `programs` is the one remembered. */
async function looksLike(pid: number, programs: string[]): Promise<boolean> {
  if (!isAlive(pid)) return false;
  const { stdout } = await execute('ps', ['-o', 'command=', '-p', String(pid)]).catch(() => ({ stdout: '' }));
  return programs.some((program) => stdout.includes(program));
}
