import { setTimeout as pause } from 'node:timers/promises';
import { type Redis, type RedisOptions, startRedis } from './services/redis.ts';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
/** Whoever ran for this long did not die of its start. */
const HEALTHY_MS = 30_000;

export interface LastingRedisOptions extends RedisOptions {
  say(line: string): void;
}

/** A Redis that is started again, at the same address, whenever it dies: what it forgot by that is all in Postgres. */
export async function lastingRedis(options: LastingRedisOptions): Promise<Pick<Redis, 'url' | 'external' | 'stop'>> {
  let current = await startRedis(options);
  if (current.pid === undefined) return current;
  const port = Number(new URL(current.url).port);
  const stopping = new AbortController();
  const over = AbortSignal.any([stopping.signal, ...(options.signal === undefined ? [] : [options.signal])]);
  const watch = async (): Promise<void> => {
    let pauseMs = FIRST_PAUSE_MS;
    while (!over.aborted) {
      const began = performance.now();
      await current.exited;
      if (over.aborted) return;
      options.say('redis stopped; starting it again');
      pauseMs = performance.now() - began > HEALTHY_MS ? FIRST_PAUSE_MS : Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      await pause(pauseMs, undefined, { signal: over }).catch(() => undefined);
      if (over.aborted) return;
      try {
        current = await startRedis({ ...options, port });
      } catch (error) {
        options.say(`redis does not start: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  };
  const watching = watch();
  return {
    url: current.url,
    external: false,
    async stop() {
      stopping.abort();
      await current.stop();
      await watching;
      // One more may have been started between the flag and its check.
      await current.stop();
    },
  };
}
