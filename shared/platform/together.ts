import { isPassing } from './database-problems.ts';

/** Reads that may be on their way at the same time; what is asked for meanwhile waits for the next one. */
const AT_ONCE = 2;

/**
 * Does by few calls of `work` what is asked for in the same moment, or while others are being worked on: at most `atOnce` calls at a time, each of
 * at most `most` askers. All askers of a call get what it answers, or its error; none is told of work that began before they asked.
 */
export function gather<T, R>(work: (asked: T[]) => Promise<R>, { atOnce, most = Infinity }: { atOnce: number; most?: number }): (one: T) => Promise<R> {
  let open: { asked: T[]; done: Promise<R> } | undefined;
  let running = 0;
  const queue: (() => void)[] = [];

  const turn = async (): Promise<void> => {
    if (running >= atOnce) return new Promise((resolve) => queue.push(resolve));
    running += 1;
    // Even with nothing in the way it waits for whoever asks in the same moment: for all that this turn of the event loop has read from sockets.
    return new Promise((resolve) => setImmediate(resolve));
  };

  const next = async (asked: T[]): Promise<R> => {
    await turn();
    if (open?.asked === asked) open = undefined;
    try {
      return await work(asked);
    } finally {
      const waiting = queue.shift();
      if (waiting === undefined) running -= 1;
      else waiting();
    }
  };

  const opened = (): { asked: T[]; done: Promise<R> } => {
    const asked: T[] = [];
    return { asked, done: next(asked) };
  };

  return (one) => {
    open ??= opened();
    const { asked, done } = open;
    asked.push(one);
    if (asked.length >= most) open = undefined;
    return done;
  };
}

/**
 * Reads single keys by few statements: what is asked for in the same moment, or while others are being read, is read together.
 * Whoever asks gets what a read found that began after the question. A read that fails because the database is away or busy fails for all who
 * wait for it; after any other failure each key is read by itself, so that what is wrong about one fails for nobody else.
 */
export function together<V>(read: (keys: string[]) => Promise<ReadonlyMap<string, V>>): (key: string) => Promise<V | undefined> {
  const alone = async (key: string): Promise<V | undefined> => (await read([key])).get(key);
  const shared = gather(
    async (asked: string[]) => {
      const keys = [...new Set(asked)];
      try {
        const found = await read(keys);
        return async (key: string): Promise<V | undefined> => found.get(key);
      } catch (error) {
        if (keys.length === 1 || isPassing(error)) throw error;
        return alone;
      }
    },
    { atOnce: AT_ONCE },
  );
  return async (key) => (await shared(key))(key);
}
