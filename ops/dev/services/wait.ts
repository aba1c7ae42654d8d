import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

export interface WaitOptions {
  timeoutMs?: number;
  /** The same pause every time, instead of one that grows from 25 ms to 150 ms. */
  everyMs?: number;
  /** What is waited for, for the message when it never comes. */
  what: string;
}

const PAUSE_MS = { first: 25, longest: 150, growth: 1.25 };

/**
 * Polls until `condition` answers something other than undefined, null or false, and returns it.
 * A condition that throws counts as not yet; its last error is part of the message when time runs out.
 */
export async function waitFor<T>(condition: () => T | Promise<T>, options: WaitOptions): Promise<NonNullable<Exclude<T, false>>> {
  const deadline = performance.now() + (options.timeoutMs ?? 15_000);
  let last: unknown;
  let pauseMs = options.everyMs ?? PAUSE_MS.first;
  for (;;) {
    try {
      const answer = await condition();
      if (answer !== undefined && answer !== null && answer !== false) return answer as NonNullable<Exclude<T, false>>;
      last = undefined;
    } catch (error) {
      last = error;
    }
    if (performance.now() >= deadline)
      throw new Error(`waited ${options.timeoutMs ?? 15_000} ms for ${options.what}${last instanceof Error ? `: ${last.message}` : ''}`, { cause: last });
    await pause(pauseMs);
    if (options.everyMs === undefined) pauseMs = Math.min(pauseMs * PAUSE_MS.growth, PAUSE_MS.longest);
  }
}

/** Ports promised to somebody in this process who may not listen yet. */
const promised = new Set<number>();

/** Below the ports that systems give to outgoing connections (from 32768 on Linux): one of those may be in use before its service starts. */
const ANY_PORT = { from: 10_000, to: 32_000 };

/** A port nobody listens on and nobody was promised: `preferred`, or the next free one above it; any one when no preference is given. */
export async function freePort(preferred = randomInt(ANY_PORT.from, ANY_PORT.to)): Promise<number> {
  for (let port = preferred; port < preferred + 200; port++) {
    if (promised.has(port)) continue;
    promised.add(port);
    if (await isFree(port)) return port;
    promised.delete(port);
  }
  throw new Error(`no free port between ${preferred} and ${preferred + 199}`);
}

async function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
