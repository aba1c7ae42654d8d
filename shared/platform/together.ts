/** Reads that may be on their way at the same time; what is asked for meanwhile waits for the next one. */
const AT_ONCE = 2;

/**
 * Reads single keys by few statements: what is asked for in the same moment, or while others are being read, is read together.
 * Whoever asks gets what a read found that began after the question; a read that fails, fails for all who wait for it.
 */
export function together<V>(read: (keys: string[]) => Promise<ReadonlyMap<string, V>>): (key: string) => Promise<V | undefined> {
  let waiting: Set<string> | undefined;
  let coming: Promise<ReadonlyMap<string, V>> | undefined;
  let running = 0;
  const queue: (() => void)[] = [];

  const next = async (keys: Set<string>): Promise<ReadonlyMap<string, V>> => {
    // Even with nothing in the way it waits for whoever asks in the same moment.
    if (running >= AT_ONCE) await new Promise<void>((resolve) => queue.push(resolve));
    else await Promise.resolve();
    running += 1;
    waiting = undefined;
    coming = undefined;
    try {
      return await read([...keys]);
    } finally {
      running -= 1;
      queue.shift()?.();
    }
  };

  return async (key) => {
    waiting ??= new Set();
    waiting.add(key);
    coming ??= next(waiting);
    return (await coming).get(key);
  };
}
