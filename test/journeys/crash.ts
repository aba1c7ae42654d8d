import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { waitFor } from '#ops/dev/services/wait.ts';
import { DIED_AT } from '#shared/platform/crash-points.ts';
import { forgetTheDead } from '#test/harness/forget-the-dead.ts';
import type { Part, Scene } from './scene.ts';

/** A process, and the point at which it dies (SIGKILL) while the money moves. */
export type Crash = [part: Part, point: string];

/** Runs of the work at most: what one run did not come past, because recovery went another way, another one does. */
const RUNS = 3;
/** How much later than the work the news of a death may come, when the point is just after the effect that the work waits for. */
const NEWS_MS = 5_000;

/** What is done while processes die; made anew for each run. */
export interface Deed<P, T> {
  /** What must be there before; nothing is armed yet in the first run. */
  prepare(): Promise<P>;
  work(prepared: P): Promise<T>;
}

/**
 * The processes die (SIGKILL) at every one of the points while the work goes on, each point once, in whatever order they come past
 * them: each start has all that are left of its process armed. What a dead process held ends at once (`forgetTheDead`), because
 * waiting for that is what `dieTwice` shows. As long as points are left there is another run. Answers what each run came to.
 * @throws naming the points that nobody died at in three runs
 */
export async function dieAtEach<P, T>(scene: Scene, points: readonly Crash[], { prepare, work }: Deed<P, T>): Promise<T[]> {
  const left = new Map<Part, Set<string>>();
  for (const [part, point] of points) left.set(part, (left.get(part) ?? new Set()).add(point));
  const unmet = (): string[] => [...left].flatMap(([part, names]) => [...names].map((name) => `${part} ${name}`));
  let prepared = await prepare();
  for (const [part, names] of left) await scene.arm(part, armedWith(names));
  const over = new AbortController();
  const dying = Promise.all([...left].map(([part, names]) => dieAndReturn(scene, part, names, over.signal)));
  // Rejects when a process dies of something else, or cannot be started again.
  const failed = dying.then(() => new Promise<never>(() => undefined));
  const results: T[] = [];
  try {
    for (;;) {
      results.push(await Promise.race([work(prepared), failed]));
      await waitFor(() => unmet().length === 0, { what: 'news of deaths', timeoutMs: NEWS_MS, everyMs: 100 }).catch(() => undefined);
      if (unmet().length === 0 || results.length === RUNS) break;
      prepared = await Promise.race([prepare(), failed]);
    }
    expect(unmet(), 'points that nobody died at').toEqual([]);
    over.abort();
    // The next test is to meet processes that live: what kept one from coming back is said here and now.
    await dying;
    return results;
  } finally {
    over.abort();
    await dying.catch(() => undefined);
    for (const [part, names] of left) if (names.size > 0) await scene.arm(part, undefined);
  }
}

const armedWith = (names: ReadonlySet<string>): string | undefined => (names.size === 0 ? undefined : [...names].join(','));

/** As often as the process dies: notes at which point, forgets what it held, and starts it again with the points that are left. */
async function dieAndReturn(scene: Scene, part: Part, names: Set<string>, signal: AbortSignal): Promise<void> {
  const over = new Promise<undefined>((resolve) => signal.addEventListener('abort', () => resolve(undefined), { once: true }));
  while (!signal.aborted) {
    const ended = await Promise.race([scene[part].exited, over]);
    if (ended === undefined) return;
    expect(ended.signal, `${part} was to die by SIGKILL`).toBe('SIGKILL');
    const point = scene[part].lines.findLast((line) => line.startsWith(DIED_AT))?.slice(DIED_AT.length) ?? '';
    expect(names.delete(point), `${part} died at «${point}»`).toBe(true);
    await forgetTheDead(scene.world, part);
    const crashAt = armedWith(names);
    await scene.restart(part, crashAt === undefined ? {} : { crashAt, untilReady: false });
  }
}

/**
 * The process dies at the point while `work` goes on, is started with the same point armed, and is left alone the third
 * time. Answers what the work came to.
 */
export async function dieTwice<T>(scene: Scene, [part, point]: Crash, work: () => Promise<T>): Promise<T> {
  let armed = true;
  try {
    await scene.arm(part, point);
    const working = work();
    const done = working.then(() => undefined);
    // A point just after the effect that the work waits for: the news of the death may come second.
    const first = await Promise.race([scene[part].exited, done.then(() => exitWithin(scene[part].exited, NEWS_MS))]);
    expect(first?.signal, `${part} was to die at ${point}`).toBe('SIGKILL');
    await scene.restart(part, { crashAt: point, untilReady: false });
    // Whether it comes past the point again depends on what had been committed: either it dies once more, or the work gets done.
    const second = await Promise.race([scene[part].exited, done]);
    if (second !== undefined) {
      await scene.restart(part);
      armed = false;
    }
    return await working;
  } finally {
    // Whatever came of it: the next test must meet a process that lives.
    if (armed) await scene.arm(part, undefined);
  }
}

type Exited = Scene[Part]['exited'];

async function exitWithin(exited: Exited, milliseconds: number): Promise<Awaited<Exited> | undefined> {
  const patience = new AbortController();
  const late = pause(milliseconds, undefined, { signal: patience.signal }).catch(() => undefined);
  const first = await Promise.race([exited, late]);
  patience.abort();
  return first;
}
