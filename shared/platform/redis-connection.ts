import { setTimeout as pause } from 'node:timers/promises';
import { createClient } from 'redis';
import type { Logger } from './logger.ts';

const CONNECT_TIMEOUT_MS = 2_000;
const PING_MS = 5_000;
/** A connection that says nothing for this long, pings included, is dead. */
const SILENCE_MS = 15_000;
const LONGEST_BACKOFF_MS = 2_000;

type Options = NonNullable<Parameters<typeof createClient>[0]>;

/** A client that is not connected. Each made by itself would write out a method for every command of Redis, 50 ms of CPU; a duplicate shares them. */
function unconnected(options: Options) {
  original ??= createClient();
  return original.duplicate(options);
}

let original: ReturnType<typeof createClient> | undefined;

/** One connection that keeps reconnecting for ever; returned at once, so that a missing Redis never stops a process. */
export function redisConnection(url: string, name: string, log: Logger) {
  let closing = false;
  const client = unconnected({
    url,
    name: name.replace(/[^\w.:-]/g, '-'),
    // A command while Redis is away fails at once: every caller has its own way to wait, and nothing piles up in memory.
    disableOfflineQueue: true,
    // It would tell the server which library this is: more than users of ours may do.
    disableClientInfo: true,
    pingInterval: PING_MS,
    socket: { connectTimeout: CONNECT_TIMEOUT_MS, socketTimeout: SILENCE_MS, reconnectStrategy: (retries) => backoffMs(retries + 1) },
  });
  let down = false;
  client.on('error', (error: unknown) => {
    if (!down && !closing) log.warn({ reason: reasonOf(error), connection: name }, 'redis is away; reconnecting');
    down = true;
  });
  client.on('ready', () => {
    if (down) log.info({ connection: name }, 'redis is back');
    down = false;
  });
  client.connect().catch((error: unknown) => {
    if (!closing) log.error({ err: error, connection: name }, 'redis connection given up');
  });
  return {
    client,
    closing: () => closing,
    close: async () => {
      closing = true;
      client.destroy();
    },
  };
}

/** Asks a server something over one connection that is not kept, and answers in order. @throws why it could not be asked, or refused */
export async function askRedis(url: string, name: string, commands: readonly (readonly string[])[]): Promise<string[]> {
  const client = unconnected({
    url,
    name,
    disableClientInfo: true,
    disableOfflineQueue: true,
    socket: { connectTimeout: CONNECT_TIMEOUT_MS, socketTimeout: SILENCE_MS, reconnectStrategy: false },
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const answers: string[] = [];
    for (const command of commands) answers.push(String(await client.sendCommand([...command])));
    return answers;
  } catch (error) {
    throw new Error(reasonOf(error), { cause: error });
  } finally {
    client.destroy();
  }
}

/** A refused connection to several addresses has a code and no message. */
function reasonOf(error: unknown): string {
  const { message, code } = error as { message?: string; code?: unknown };
  return message || String(code);
}

/** Subscribes once the connection is up; the client renews subscriptions itself after a reconnection. */
export async function subscribe(to: ReturnType<typeof redisConnection>, channel: string, listener: (word: string) => void): Promise<void> {
  for (let failures = 1; !to.closing(); failures++) {
    try {
      await to.client.subscribe(channel, listener);
      return;
    } catch {
      await pause(backoffMs(failures));
    }
  }
}

/** How long to wait after so many failures in a row. */
export function backoffMs(failures: number): number {
  return Math.min(LONGEST_BACKOFF_MS, 50 * 2 ** Math.min(failures, 10));
}
