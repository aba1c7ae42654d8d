import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

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
}

/** A child in its own process group, so that Ctrl+C in a terminal reaches only whoever stops children in order. */
export interface Service {
  name: string;
  pid: number;
  /** Resolves when it is gone, however that came about. */
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  running(): boolean;
  /** Asks with its stop signal, insists with SIGKILL after `patienceMs` (10 s). */
  stop(patienceMs?: number): Promise<void>;
  /** SIGKILL to the whole group, at once. */
  kill(): Promise<void>;
}

process.setMaxListeners(200);

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
  for (const stream of [child.stdout, child.stderr]) if (stream) createInterface({ input: stream }).on('line', (line) => options.onLine(line));
  await once(child, 'spawn');
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
  process.once('exit', last);
  void exited.then(() => process.off('exit', last));
  return {
    name: options.name,
    pid,
    exited,
    running,
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

/** The parts of this process's environment that a program needs to run and that hold nothing of ours. */
export function plainEnvironment(): Record<string, string | undefined> {
  const names = ['PATH', 'HOME', 'LANG', 'TZ', 'TMPDIR', 'http_proxy', 'https_proxy', 'no_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'];
  return Object.fromEntries(names.filter((name) => process.env[name] !== undefined).map((name) => [name, process.env[name]]));
}
