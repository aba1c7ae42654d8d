import { Worker } from 'node:worker_threads';
import { ServiceError } from '#shared/core/errors.ts';
import type { Drawn, DrawnFrom } from './draw.ts';

/** What the thread is asked: the text at an address, or what was found for a question. */
export interface Asked {
  id: number;
  path: string;
  question?: string;
}

/** What the thread says: once where anything is, then an answer to each question. */
export type Told = { addresses: string[] } | { id: number; drawn?: Drawn | null; problem?: string };

/** A page is some hundred kilobytes; grammars are most of it. */
const MEMORY_MB = 256;

/** How the thread is looked after; milliseconds. */
interface Care {
  /** After so long without a question it ends, and gives its memory back. */
  idleMs: number;
  /** After so long without an answer, while somebody waits for one, it is not believed to answer any more. */
  stuckMs: number;
  /** The same for its first answer, before which it reads its grammars: on a machine with nothing to spare that takes longer than any page. */
  beginMs: number;
  /** One that broke is followed by another one after so long: what breaks each of them starts few. */
  restMs: number;
  /** Questions that wait at once. */
  most: number;
}

const CARE: Care = { idleMs: 30_000, stuckMs: 30_000, beginMs: 180_000, restMs: 1_000, most: 200 };

interface Reader {
  resolve(drawn: Drawn | null): void;
  reject(error: Error): void;
}

/** Draws documentation in a thread that lives while it is needed (decision 0077). */
export interface Drawing {
  /** Null where nothing is. @throws service_unavailable when the thread broke, is stuck, or has too much to do; Error when this cannot be drawn */
  ask(path: string, question?: string): Promise<Drawn | null>;
}

/** Opens nothing yet: the thread begins with the first page that is asked for. Where nothing is, it is asked no more once it told where anything is. */
export function openDrawing(program: string | URL, from: DrawnFrom | null, care: Partial<Care> = {}): Drawing {
  const { idleMs, stuckMs, beginMs, restMs, most } = { ...CARE, ...care };
  let worker: Worker | undefined;
  /** The one that has answered. */
  let begun: Worker | undefined;
  let timer: NodeJS.Timeout | undefined;
  let restsUntil = 0;
  let addresses: ReadonlySet<string> | undefined;
  let asked = 0;
  const waiting = new Map<number, Reader>();
  /** Pages that are being drawn: however many ask for one, it is drawn once. */
  const underway = new Map<string, Promise<Drawn | null>>();

  const end = (one: Worker, error: Error): void => {
    if (worker !== one) return;
    worker = undefined;
    clearTimeout(timer);
    restsUntil = performance.now() + restMs;
    for (const { reject } of waiting.values()) reject(unavailable(error));
    waiting.clear();
    void one.terminate();
  };
  /** Ends the thread where it says nothing for too long: while somebody waits because it is stuck, else because nobody needs it. */
  const watch = (one: Worker): void => {
    clearTimeout(timer);
    timer =
      waiting.size > 0
        ? setTimeout(() => end(one, new Error('the thread that draws the documentation is stuck')), begun === one ? stuckMs : beginMs).unref()
        : setTimeout(() => stop(one), idleMs).unref();
  };
  const stop = (one: Worker): void => {
    if (worker === one) worker = undefined;
    void one.terminate();
  };
  const hear = (one: Worker, told: Told): void => {
    if ('addresses' in told) addresses = new Set(told.addresses);
    else {
      begun = one;
      const reader = waiting.get(told.id);
      waiting.delete(told.id);
      if (told.problem === undefined) reader?.resolve(told.drawn ?? null);
      else reader?.reject(new Error(told.problem));
    }
    watch(one);
  };
  const start = (): Worker => {
    const one = new Worker(program, { workerData: from, resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB } });
    // A process that is told to stop does not wait for it.
    one.unref();
    one.on('error', (error) => end(one, error));
    one.on('exit', () => end(one, new Error('the thread that draws the documentation ended')));
    one.on('message', (told: Told) => worker === one && hear(one, told));
    return one;
  };
  const put = (path: string, question?: string): Promise<Drawn | null> => {
    if (waiting.size >= most || (worker === undefined && performance.now() < restsUntil)) return Promise.reject(unavailable());
    worker ??= start();
    asked += 1;
    const id = asked;
    const answer = new Promise<Drawn | null>((resolve, reject) => waiting.set(id, { resolve, reject }));
    if (waiting.size === 1) watch(worker);
    worker.postMessage({ id, path, ...(question !== undefined && { question }) } satisfies Asked);
    return answer;
  };
  return {
    ask(path, question) {
      if (question !== undefined) return put(path, question);
      if (addresses?.has(path) === false) return Promise.resolve(null);
      const drawn = underway.get(path) ?? put(path).finally(() => underway.delete(path));
      underway.set(path, drawn);
      return drawn;
    },
  };
}

function unavailable(cause?: Error): ServiceError {
  return new ServiceError('service_unavailable', { retryAfterSeconds: 1, ...(cause !== undefined && { cause }) });
}
