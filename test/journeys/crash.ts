import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Part, Scene } from './scene.ts';

/** A process, and the point at which it dies (SIGKILL) while the money moves. */
export type Crash = [part: Part, point: string];

/**
 * The process dies at the point while `work` goes on, is started with the same point armed, and is left alone the third
 * time. Answers what the work came to.
 */
export async function dieTwice<T>(scene: Scene, [part, point]: Crash, work: () => Promise<T>): Promise<T> {
  await scene.arm(part, point);
  const working = work();
  const done = working.then(() => undefined);
  // A point just after the effect that the work waits for: the news of the death may come second.
  const first = await Promise.race([scene[part].exited, done.then(() => exitWithin(scene[part].exited, 10_000))]);
  expect(first?.signal, `${part} was to die at ${point}`).toBe('SIGKILL');
  await scene.restart(part, { crashAt: point, untilReady: false });
  // Whether it comes past the point again depends on what had been committed: either it dies once more, or the work gets done.
  const second = await Promise.race([scene[part].exited, done]);
  if (second !== undefined) await scene.restart(part);
  const result = await working;
  // It may still be armed: the next test must meet a process that lives.
  if (second === undefined) await scene.arm(part, undefined);
  return result;
}

type Exited = Scene[Part]['exited'];

async function exitWithin(exited: Exited, milliseconds: number): Promise<Awaited<Exited> | undefined> {
  const patience = new AbortController();
  const late = pause(milliseconds, undefined, { signal: patience.signal }).catch(() => undefined);
  const first = await Promise.race([exited, late]);
  patience.abort();
  return first;
}
