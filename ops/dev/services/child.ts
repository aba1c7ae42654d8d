import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { waitFor } from './wait.ts';

export interface ServiceOptions {
  /** How it is called in what is printed. */
  name: string;
  command: string;
  args: string[];
  /** The whole environment; nothing is inherited, so that a secret reaches only the process meant to have it. */
  env: Record<string, string | undefined>;
  cwd: string;
  /** What asks it to stop; SIGTERM unless it needs another. */
  stopSignal?: NodeJS.Signals;
  uid?: number;
  gid?: number;
  /** Gets every line the process writes, of either stream. */
  onLine(line: string): void;
  /** Hears the process id before anything is waited for, to write it down. */
  onStart?: ((pid: number) => Promise<void>) | undefined;
}

/** A child in its own process group, so that Ctrl+C in a terminal reaches only whoever stops children in order. */
export interface Service {
  name: string;
  pid: number;
  /** Resolves when it is gone, however that came about. */
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  running(): boolean;
  /** The last lines it wrote. */
  lastLines(): string[];
  /** Asks with its stop signal, insists with SIGKILL after `patienceMs` (10 s). */
  stop(patienceMs?: number): Promise<void>;
  /** SIGKILL to the whole group, at once. */
  kill(): Promise<void>;
}

process.setMaxListeners(200);

/** How much of what a process wrote is shown when it dies. */
const LAST_LINES = 10;

/** Starts a child process; rejects when the program cannot be executed at all. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const child: ChildProcess = spawn(options.command, options.args, {
    cwd: options.cwd,
    env: options.env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(options.uid === undefined ? {} : { uid: options.uid }),
    ...(options.gid === undefined ? {} : { gid: options.gid }),
  });
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  const lines: string[] = [];
  const hear = (line: string): void => {
    lines.push(line);
    if (lines.length > LAST_LINES) lines.shift();
    options.onLine(line);
  };
  for (const stream of [child.stdout, child.stderr]) if (stream) createInterface({ input: stream }).on('line', hear);
  const pid = child.pid as number;
  const stopSignal = options.stopSignal ?? 'SIGTERM';
  const running = (): boolean => child.exitCode === null && child.signalCode === null;
  const send = (signal: NodeJS.Signals): void => {
    try {
      process.kill(-pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  };
  // Whatever ends this process, a thrown error included, must not leave children behind.
  const last = (): void => send(stopSignal);
  if (child.pid !== undefined) process.once('exit', last);
  void exited.then(() => process.off('exit', last));
  await once(child, 'spawn');
  const service: Service = {
    name: options.name,
    pid,
    exited,
    running,
    lastLines: () => lines,
    async stop(patienceMs = 10_000) {
      if (!running()) return;
      send(stopSignal);
      const insist = setTimeout(() => send('SIGKILL'), patienceMs);
      await exited;
      clearTimeout(insist);
    },
    async kill() {
      if (running()) send('SIGKILL');
      await exited;
    },
  };
  return orStop(service, async () => {
    await options.onStart?.(pid);
    return service;
  });
}

/** Does what belongs to a start; when it fails, the service is stopped first, so that a failed start leaves nothing running. */
export async function orStop<T>(service: Pick<Service, 'stop'>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await service.stop();
    throw error;
  }
}

/**
 * What Node is told of a program beside its file; the manifests of compose, Kubernetes and systemd say the same. What an indexer makes dies young whatever
 * the room for it: with 2 MiB instead of 16 it holds 14 to 35 MiB less, and takes no more CPU.
 */
export const NODE_FLAGS: Readonly<Record<string, readonly string[]>> = { 'indexer.js': ['--max-semi-space-size=2'] };

/** A start that takes longer than this does not end by waiting. */
export const LONGEST_START_MS = 10 * 60_000;

export interface UpOptions {
  /** What it has to do, such as `the TRON node to answer`. */
  what: string;
  /** Hears every few seconds what is still waited for. */
  tell?: ((line: string) => void) | undefined;
  /** Ends the waiting, and the service, with its reason. */
  signal?: AbortSignal | undefined;
}

/**
 * Waits until `condition` holds for a service that was started: for as long as the service lives, up to ten minutes, since a starved
 * machine is slow and not broken. A service that does not get there is stopped.
 * @throws with the service's last lines when it stopped by itself
 */
export async function untilUp(service: Service, condition: () => Promise<unknown>, options: UpOptions): Promise<void> {
  await orStop(service, async () => {
    const answer = await waitFor(async () => (service.running() ? (await condition()) && 'up' : 'gone'), { ...options, timeoutMs: LONGEST_START_MS });
    if (answer === 'gone')
      throw new Error(
        `${service.name} stopped while starting${service
          .lastLines()
          .map((line) => `\n  ${line}`)
          .join('')}`,
      );
  });
}

/** Runs a program to its end and returns what it printed. @throws with its last lines when it fails */
export async function run(options: Omit<ServiceOptions, 'onLine'>): Promise<string> {
  const lines: string[] = [];
  const service = await startService({ ...options, onLine: (line) => lines.push(line) });
  const { code, signal } = await service.exited;
  if (code !== 0) throw new Error(`${options.name} failed (${signal ?? `exit ${code}`}):\n${lines.slice(-15).join('\n')}`);
  return lines.join('\n');
}

/** True while a process with this id exists. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

const execute = promisify(execFile);

/** What `ps` says of one process; empty when it is gone. */
async function askPs(pid: number, column: 'command' | 'lstart'): Promise<string> {
  const { stdout } = await execute('ps', ['-o', `${column}=`, '-p', String(pid)]).catch(() => ({ stdout: '' }));
  return stdout.trim();
}

/** The command line of a process, with its arguments; empty when it is gone. */
export function commandOf(pid: number): Promise<string> {
  return askPs(pid, 'command');
}

/** When a process began, in the system's own words, which never change while it lives: with its id it names one process and no later one. Undefined when it is gone. */
export async function startOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  // Field 22, ticks since the machine began; the name before it is in brackets, and may hold anything.
  const ticks = stat
    ?.slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .at(19);
  return ticks ?? ((await askPs(pid, 'lstart')) || undefined);
}

/** The parts of this process's environment that a program needs to run and that hold nothing of ours. */
export function plainEnvironment(): Record<string, string | undefined> {
  const names = ['PATH', 'HOME', 'LANG', 'TZ', 'TMPDIR', 'http_proxy', 'https_proxy', 'no_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'];
  return Object.fromEntries(names.filter((name) => process.env[name] !== undefined).map((name) => [name, process.env[name]]));
}
