/**
 * Reads of the same key that are asked for while one has not begun yet become one, and of one key one runs at a time: whoever
 * asks gets what a read found that began after the question. At most `atOnce` run together; the others wait in their order.
 */
export function coalesce<T>(read: (key: string) => Promise<T>, atOnce: number): (key: string) => Promise<T> {
  const running = new Map<string, Promise<unknown>>();
  const coming = new Map<string, Promise<T>>();
  const queue: (() => void)[] = [];
  let free = atOnce;

  const slot = async (): Promise<void> => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => queue.push(resolve));
  };
  const release = (): void => {
    const next = queue.shift();
    if (next === undefined) free += 1;
    else next();
  };
  const run = async (key: string): Promise<T> => {
    await running.get(key);
    await slot();
    coming.delete(key);
    const reading = read(key);
    const settled = reading.then(release, release).then(() => {
      if (running.get(key) === settled) running.delete(key);
    });
    running.set(key, settled);
    return reading;
  };

  return (key) => {
    const waiting = coming.get(key);
    if (waiting !== undefined) return waiting;
    const next = run(key);
    coming.set(key, next);
    return next;
  };
}
