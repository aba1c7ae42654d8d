import { setTimeout as pause } from 'node:timers/promises';
import { type Service, startService, type ServiceOptions } from './services/child.ts';

export interface Supervised {
  name: string;
  pid(): number;
  /** How often it died by itself. */
  deaths(): number;
  /** The last lines it wrote, across restarts. */
  lastLines(): string[];
  /** Stops it for good. */
  stop(): Promise<void>;
}

export interface SupervisedOptions extends ServiceOptions {
  /** Called with the new process id after every restart. */
  onRestart(pid: number): void;
  say(line: string): void;
  /** From its abort on nothing is started again: whoever asked this process to stop may have asked them all. */
  signal: AbortSignal;
}

/** Keeps one process running: one that dies is started again, at once the first time, then with growing pauses. */
export async function supervise(given: SupervisedOptions): Promise<Supervised> {
  const lines: string[] = [];
  const options: SupervisedOptions = {
    ...given,
    onLine: (line) => {
      lines.push(line);
      if (lines.length > 20) lines.shift();
      given.onLine(line);
    },
  };
  let current: Service = await startService(options);
  const stopping = new AbortController();
  const over = AbortSignal.any([stopping.signal, given.signal]);
  let deaths = 0;
  const watch = async (): Promise<void> => {
    let pauseMs = 100;
    while (!over.aborted) {
      const began = performance.now();
      const { code, signal } = await current.exited;
      if (over.aborted) return;
      deaths += 1;
      if (performance.now() - began > 30_000) pauseMs = 100;
      options.say(`${options.name} stopped (${signal ?? `exit ${code}`}); starting it again`);
      await pause(pauseMs, undefined, { signal: over }).catch(() => undefined);
      pauseMs = Math.min(pauseMs * 2, 10_000);
      if (over.aborted) return;
      current = await startService(options);
      options.onRestart(current.pid);
    }
  };
  const watching = watch();
  return {
    name: options.name,
    pid: () => current.pid,
    deaths: () => deaths,
    lastLines: () => lines,
    async stop() {
      stopping.abort();
      await current.stop();
      await watching;
      // One more may have been started between the flag and its check.
      await current.stop();
    },
  };
}
