import { isPassing } from './database-problems.ts';

/** Reads that may be on their way at the same time; what is asked for meanwhile waits for the next one. */
const AT_ONCE = 2;

/**
 * Reads single keys by few statements: what is asked for in the same moment, or while others are being read, is read together.
 * Whoever asks gets what a read found that began after the question. A read that fails because the database is away or busy fails for all who
 * wait for it; after any other failure each key is read by itself, so that what is wrong about one fails for nobody else.
 */
export function together<V>(read: (keys: string[]) => Promise<ReadonlyMap<string, V>>): (key: string) => Promise<V | undefined> {
  let waiting: Set<string> | undefined;
  let coming: Promise<(key: string) => Promise<V | undefined>> | undefined;
  let running = 0;
  const queue: (() => void)[] = [];

  const alone = async (key: string): Promise<V | undefined> => (await read([key])).get(key);

  const next = async (keys: Set<string>): Promise<(key: string) => Promise<V | undefined>> => {
    // Even with nothing in the way it waits for whoever asks in the same moment: for all that this turn of the event loop has read from sockets.
    await new Promise<void>((resolve) => (running >= AT_ONCE ? queue.push(resolve) : setImmediate(resolve)));
    running += 1;
    waiting = undefined;
    coming = undefined;
    try {
      const found = await read([...keys]);
      return async (key) => found.get(key);
    } catch (error) {
      if (keys.size === 1 || isPassing(error)) throw error;
      return alone;
    } finally {
      running -= 1;
      queue.shift()?.();
    }
  };

  return async (key) => {
    waiting ??= new Set();
    waiting.add(key);
    coming ??= next(waiting);
    return (await coming)(key);
  };
}
