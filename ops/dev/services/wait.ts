import { randomInt } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

export interface WaitOptions {
  timeoutMs?: number;
  /** The same pause every time, instead of one that grows from 25 ms to 150 ms. */
  everyMs?: number;
  /** What is waited for, for the message when it never comes. */
  what: string;
  /** Hears what is still waited for, every `tellEveryMs` (5 s). */
  tell?: ((line: string) => void) | undefined;
  tellEveryMs?: number;
  /** Ends the waiting with its reason. */
  signal?: AbortSignal | undefined;
}

/** Long enough for a starved machine. */
const PATIENCE_MS = 30_000;
const PAUSE_MS = { first: 25, longest: 150, growth: 1.25 };
const TELL_EVERY_MS = 5_000;

/**
 * Polls until `condition` answers something other than undefined, null or false, and returns it.
 * A condition that throws counts as not yet; its last error is part of the message when time runs out.
 */
export async function waitFor<T>(condition: () => T | Promise<T>, options: WaitOptions): Promise<NonNullable<Exclude<T, false>>> {
  const began = performance.now();
  const deadline = began + (options.timeoutMs ?? PATIENCE_MS);
  const tellEveryMs = options.tellEveryMs ?? TELL_EVERY_MS;
  let tellAt = began + tellEveryMs;
  let last: unknown;
  let pauseMs = options.everyMs ?? PAUSE_MS.first;
  for (;;) {
    options.signal?.throwIfAborted();
    try {
      const answer = await unlessAborted(options.signal, condition);
      if (answer !== undefined && answer !== null && answer !== false) return answer as NonNullable<Exclude<T, false>>;
      last = undefined;
    } catch (error) {
      last = error;
    }
    if (performance.now() >= deadline)
      throw new Error([`waited ${options.timeoutMs ?? PATIENCE_MS} ms for ${options.what}`, ...whyOf(last)].join(': '), { cause: last });
    if (performance.now() >= tellAt) {
      tellAt = performance.now() + tellEveryMs;
      options.tell?.(`waiting for ${options.what}, ${Math.round((performance.now() - began) / 1_000)} s so far`);
    }
    await pause(pauseMs);
    if (options.everyMs === undefined) pauseMs = Math.min(pauseMs * PAUSE_MS.growth, PAUSE_MS.longest);
  }
}

/** Why something failed, down to the last cause: `fetch failed` alone tells nobody whether a server was gone, silent or hung up. */
function whyOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const { code } = error as NodeJS.ErrnoException;
  return [error.message || (code ?? error.name), ...whyOf(error.cause)];
}

/** What `work` answers, or the reason of `signal` as soon as it aborts: what was asked for by then goes on alone, and nobody waits for it. */
export async function unlessAborted<T>(signal: AbortSignal | undefined, work: () => T | Promise<T>): Promise<T> {
  if (signal === undefined) return work();
  signal.throwIfAborted();
  const done = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true, signal: done.signal });
  });
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    done.abort();
  }
}

/** Ports promised to somebody of this process who may not listen yet. */
const promised = new Map<number, Socket>();

/**
 * Promises a port to this process until it ends; false where another has it, or somebody of this one. Several runs start beside each other, each with a
 * moment between its look at a port and the service that listens. The promise is the UDP socket of the same number, which no service here uses: the
 * system gives it to one process at a time, and takes it back however that ends.
 */
function promise(port: number): Promise<boolean> {
  if (promised.has(port)) return Promise.resolve(false);
  return new Promise((resolve) => {
    const socket = createSocket('udp4');
    promised.set(port, socket);
    socket.once('error', (error: NodeJS.ErrnoException) => {
      const taken = error.code === 'EADDRINUSE';
      if (taken) takeBack(port);
      resolve(!taken);
    });
    socket.bind({ address: '127.0.0.1', port, exclusive: true }, () => resolve(true));
    socket.unref();
  });
}

function takeBack(port: number): void {
  promised.get(port)?.close();
  promised.delete(port);
}

/** Below the ports that systems give to outgoing connections (from 32768 on Linux): one of those may be in use before its service starts. */
const ANY_PORT = { from: 10_000, to: 32_000 };

/** A port nobody listens on and nobody was promised: `preferred`, or the next free one above it; any one when no preference is given. */
export async function freePort(preferred = randomInt(ANY_PORT.from, ANY_PORT.to)): Promise<number> {
  for (let port = preferred; port < preferred + 200; port++) {
    if (!(await promise(port))) continue;
    if (await isFree(port)) return port;
    takeBack(port);
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

/** A port that is listened on, so that nobody else gets it, until its service is about to. */
export interface HeldPort {
  port: number;
  /** Lets the service have it; once is enough. */
  release(): Promise<void>;
}

/** Holds `preferred`, or the next free port above it; any one when no preference is given. */
export async function holdPort(preferred?: number): Promise<HeldPort> {
  const port = await freePort(preferred);
  const held = await holdExactly(port);
  // Taken between the look and the hold: the next one.
  return typeof held === 'string' ? holdPort(port + 1) : held;
}

/** Holds this port and no other; the system's code, such as EADDRINUSE, where it cannot be had. */
export async function holdExactly(port: number): Promise<HeldPort | string> {
  const server = createServer((socket) => socket.destroy());
  const code = await new Promise<string | undefined>((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, '127.0.0.1', () => resolve(undefined));
  });
  if (code !== undefined) return code;
  await promise(port);
  return { port, release: () => new Promise((resolve) => void server.close(() => resolve())) };
}
