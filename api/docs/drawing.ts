import { Worker } from 'node:worker_threads';
import type { Drawn, DrawnFrom } from './draw.ts';

/** What the thread is asked: the text at an address, or what was found for a question. */
export interface Asked {
  id: number;
  path: string;
  question?: string;
}

interface Answer {
  id: number;
  drawn?: Drawn | null;
  problem?: string;
}

/** After so long without a question the thread ends, and gives its memory back. */
const IDLE_MS = 30_000;
/** A page is some hundred kilobytes; grammars are most of it. */
const MEMORY_MB = 256;

/** Draws documentation in a thread that lives while it is needed (decision 0077). */
export interface Drawing {
  /** Null where nothing is. @throws Error when it cannot be drawn */
  ask(path: string, question?: string): Promise<Drawn | null>;
}

/** Opens nothing yet: the thread begins with the first page that is asked for. */
export function openDrawing(program: string, from: DrawnFrom): Drawing {
  let worker: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  let asked = 0;
  const waiting = new Map<number, { resolve(drawn: Drawn | null): void; reject(error: Error): void }>();

  const start = (): Worker => {
    const one = new Worker(program, { workerData: from, resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB } });
    // A process that is told to stop does not wait for it.
    one.unref();
    const end = (error: Error): void => {
      if (worker !== one) return;
      worker = undefined;
      for (const { reject } of waiting.values()) reject(error);
      waiting.clear();
    };
    one.on('error', end);
    one.on('exit', () => end(new Error('the thread that draws the documentation ended')));
    one.on('message', ({ id, drawn, problem }: Answer) => {
      const reader = waiting.get(id);
      waiting.delete(id);
      if (problem === undefined) reader?.resolve(drawn ?? null);
      else reader?.reject(new Error(problem));
      if (waiting.size === 0) idle = setTimeout(() => void stop(one), IDLE_MS).unref();
    });
    return one;
  };
  const stop = async (one: Worker): Promise<void> => {
    if (worker === one) worker = undefined;
    await one.terminate();
  };
  return {
    ask(path, question) {
      clearTimeout(idle);
      worker ??= start();
      asked += 1;
      const id = asked;
      const answer = new Promise<Drawn | null>((resolve, reject) => waiting.set(id, { resolve, reject }));
      worker.postMessage({ id, path, ...(question !== undefined && { question }) } satisfies Asked);
      return answer;
    },
  };
}
