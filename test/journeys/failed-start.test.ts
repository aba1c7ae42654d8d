import { randomUUID } from 'node:crypto';
import { appendFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { otherRunner, rememberChild, stopLeftovers } from '#ops/dev/runner-lock.ts';
import { isAlive, type Service, startService } from '#ops/dev/services/child.ts';
import { freePort, waitFor } from '#ops/dev/services/wait.ts';

/** What a start that fails, or is asked to stop, leaves behind: nothing. */
/** Asks a process to end; one that the runner ended a moment ago is gone. */
function tell(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

describe('npm start that does not get ready', () => {
  let directory: string;
  let runner: Service | undefined;
  beforeEach(() => {
    directory = join(inject('services').directory, `failed-${randomUUID()}`);
  });
  afterEach(() => runner?.stop(60_000));

  const launch = async (env: Record<string, string> = {}): Promise<string[]> => {
    const lines: string[] = [];
    runner = await startService({
      name: 'start',
      command: process.execPath,
      args: [resolve('dist/start.js')],
      // From anywhere: it finds its own files.
      cwd: tmpdir(),
      env: { PATH: process.env.PATH, HOME: process.env.HOME, SLUICE_DATA_DIR: directory, ...env },
      onLine: (line) => lines.push(line),
    });
    return lines;
  };

  /** Launches it and waits until it is ready. */
  const up = async (): Promise<string[]> => {
    const lines = await launch();
    await waitFor(() => runner?.running() === false || lines.some((line) => line.startsWith('ready in')), {
      what: 'npm start to be ready',
      timeoutMs: 240_000,
    });
    expect(lines.join('\n')).toContain('ready in');
    return lines;
  };

  /** What the start wrote down of its children. */
  const children = async (): Promise<number[]> =>
    [...(await readFile(join(directory, 'children'), 'utf8')).matchAll(/^\d+/gm)].map(([pid]) => Number(pid)).filter(isAlive);

  /** Process ids of everything whose command line names the data folder, and of everything the start wrote down. */
  const running = async (): Promise<number[]> => {
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && Number(name) !== runner?.pid);
    const commands = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
    return pids.filter((_, at) => commands[at]?.includes(directory)).map(Number);
  };

  it('since one chain cannot be opened stops the nodes of the others, the database and Redis, and says which and why', async () => {
    await mkdir(join(directory, 'chains'), { recursive: true });
    await writeFile(join(directory, 'chains', 'ethereum.json'), 'not a chain');
    const lines = await launch();
    expect((await runner?.exited)?.code, lines.join('\n')).toBe(1);
    expect(lines.join('\n')).toContain('anvil stopped while starting');
    expect(lines.join('\n')).not.toContain('ready in');
    expect(await running()).toEqual([]);
    await expect(readFile(join(directory, 'children'))).rejects.toThrow('ENOENT');
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('since it is sent %s meanwhile stops what it began, at once', async (signal) => {
    const lines = await launch();
    await waitFor(async () => (await running()).length >= 3, { what: 'some of it to run', timeoutMs: 60_000, everyMs: 10 });
    process.kill(runner?.pid as number, signal);
    expect((await runner?.exited)?.code, lines.join('\n')).toBe(0);
    expect(lines.at(-1)).toBe('stopped');
    expect(lines.join('\n')).not.toContain('ready in');
    expect(await running()).toEqual([]);
  });

  it('since the port that SLUICE_PORT names is taken begins nothing', async () => {
    const port = await freePort();
    const server = createServer();
    await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
    try {
      const lines = await launch({ SLUICE_PORT: String(port) });
      expect((await runner?.exited)?.code, lines.join('\n')).toBe(1);
      expect(lines.join('\n')).toContain(`the api cannot have port ${port}, which SLUICE_PORT names`);
      expect(await running()).toEqual([]);
    } finally {
      server.close();
    }
  });

  it('and was killed leaves nothing that the next one does not stop or use again, which then stops with all its children at once', async () => {
    await up();
    const left = await children();
    const [postgres] = (await readFile(join(directory, 'postgres', 'data', 'postmaster.pid'), 'utf8')).split('\n').map(Number);
    expect(left.length).toBe(10);
    process.kill(runner?.pid as number, 'SIGKILL');
    await runner?.exited;
    const lines = await up();
    expect(left.filter(isAlive)).toEqual([]);
    expect(isAlive(postgres as number)).toBe(true);
    // As a terminal that closes, a container or systemd does.
    for (const pid of [runner?.pid as number, ...(await children())]) tell(pid);
    expect((await runner?.exited)?.code, lines.join('\n')).toBe(0);
    expect(lines.at(-1)).toBe('stopped');
    expect(lines.filter((line) => /starting it again|stopped by itself/.test(line))).toEqual([]);
    expect(await running()).toEqual([]);
    expect(isAlive(postgres as number)).toBe(false);
  });

  it('or does, stops no process of somebody else that has the id of one of its own', async () => {
    await mkdir(directory, { recursive: true });
    const idle = (): Promise<Service> =>
      startService({
        name: 'redis',
        command: process.execPath,
        args: ['-e', 'setInterval(() => {}, 1000) // redis'],
        cwd: '/',
        env: {},
        onLine: () => undefined,
      });
    const [ours, other] = [await idle(), await idle()];
    await rememberChild(directory, ours.pid);
    const [[, startedAt = ''] = []] = [...(await readFile(join(directory, 'children'), 'utf8')).matchAll(/^\d+ (.+)$/gm)];
    await appendFile(join(directory, 'children'), `${other.pid} ${startedAt === '1' ? '2' : '1'}\n${other.pid}\n`);
    await writeFile(join(directory, 'runner.pid'), `${other.pid} 1\n`);
    expect(await otherRunner(directory)).toBeUndefined();
    expect(await stopLeftovers(directory)).toBe(1);
    expect([ours.running(), other.running()]).toEqual([false, true]);
    await other.stop();
  });
});
