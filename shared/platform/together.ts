import { isPassing } from './database-problems.ts';

/** Reads that may be on their way at the same time; what is asked for meanwhile waits for the next one. */
const AT_ONCE = 2;
/** Askers of one read: a flood is many statements, and not one that nothing can answer in time. */
export const MOST_ASKERS = 250;
/** A call that takes longer holds up no other: then only connections are short, and the pool says how long anybody waits for one. */
const SLOW_MS = 250;

/** A call that still takes askers. */
interface Coming<T, R> {
  asked: T[];
  /** Whether it waits for another one to end, and not only for the end of this turn. */
  held: boolean;
  begin(): void;
  done: Promise<R>;
}

/**
 * Does by few calls of `work` what is asked for in the same moment, or while others are being worked on. There are `atOnce` calls at a time, and a call
 * has `most` askers; one that is full, or comes behind calls that take long, waits no longer. All askers of a call get what it answers, or its error;
 * none is told of work that began before they asked.
 */
export function gather<T, R>(work: (asked: T[]) => Promise<R>, { atOnce, most }: { atOnce: number; most: number }): (one: T) => Promise<R> {
  let coming: Coming<T, R> | undefined;
  let running = 0;

  const run = async (asked: T[]): Promise<R> => {
    running += 1;
    let counted = true;
    const release = (): void => {
      if (!counted) return;
      counted = false;
      running -= 1;
      if (running < atOnce && coming?.held === true) coming.begin();
    };
    const slow = setTimeout(release, SLOW_MS);
    try {
      return await work(asked);
    } finally {
      clearTimeout(slow);
      release();
    }
  };

  const prepare = (): Coming<T, R> => {
    const asked: T[] = [];
    const held = running >= atOnce;
    let begin = (): void => undefined;
    const done = new Promise<R>((resolve) => {
      begin = () => {
        if (coming !== next) return;
        coming = undefined;
        resolve(run(asked));
      };
    });
    const next: Coming<T, R> = { asked, held, begin, done };
    // Even with nothing in the way it waits for whoever asks in the same moment: for all that this turn of the event loop has read from sockets.
    if (!held) setImmediate(begin);
    return next;
  };

  return (one) => {
    coming ??= prepare();
    const { asked, begin, done } = coming;
    asked.push(one);
    if (asked.length >= most) begin();
    return done;
  };
}

/**
 * Does single pieces of work by few calls of `work`, which does all it is given or nothing and answers in the order it was given: what is asked for in the
 * same moment, or while others are being worked on, is done together. A call that fails because the database is away or busy fails for all who wait for it; after
 * any other failure each piece is done by itself, so that what is wrong about one fails for nobody else.
 */
export function doneTogether<T extends object, R>(work: (asked: readonly T[]) => Promise<readonly R[]>, { most }: { most: number }): (one: T) => Promise<R> {
  const doAll = async (asked: T[]): Promise<(one: T) => Promise<R>> => {
    try {
      const results = await work(asked);
      const of = new Map(asked.map((one, at) => [one, results[at] as R]));
      return async (one) => of.get(one) as R;
    } catch (error) {
      if (asked.length === 1 || isPassing(error)) throw error;
      return async (one) => (await work([one]))[0] as R;
    }
  };
  const shared = gather(doAll, { atOnce: AT_ONCE, most });
  return async (one) => (await shared(one))(one);
}

type Find<V> = (key: string) => Promise<V | undefined>;

/**
 * Reads single keys by few statements: what is asked for in the same moment, or while others are being read, is read together.
 * Whoever asks gets what a read found that began after the question. A read that fails because the database is away or busy fails for all who
 * wait for it; after any other failure each key is read by itself, so that what is wrong about one fails for nobody else.
 */
export function together<V>(read: (keys: string[]) => Promise<ReadonlyMap<string, V>>): Find<V> {
  const readAll = async (asked: string[]): Promise<Find<V>> => {
    const keys = [...new Set(asked)];
    try {
      const found = await read(keys);
      return async (key) => found.get(key);
    } catch (error) {
      if (keys.length === 1 || isPassing(error)) throw error;
      return oneByOne(read);
    }
  };
  const shared = gather(readAll, { atOnce: AT_ONCE, most: MOST_ASKERS });
  return async (key) => (await shared(key))(key);
}

/** Reads each key by itself, once for all who ask for it. */
function oneByOne<V>(read: (keys: string[]) => Promise<ReadonlyMap<string, V>>): Find<V> {
  const reading = new Map<string, Promise<V | undefined>>();
  return (key) => {
    const known = reading.get(key) ?? read([key]).then((found) => found.get(key));
    reading.set(key, known);
    return known;
  };
}
