import { createHash } from 'node:crypto';
import { type Limit, REQUEST_UNITS } from '#shared/core/token-bucket.ts';
import type { Logger } from './logger.ts';
import { redisConnection } from './redis-connection.ts';

/** How long a proof counts, and at most twice that in a process that gave it. */
export const PROOF_MS = 600_000;

/** Longer than any healthy Redis takes, and short enough that nobody notices an unhealthy one. */
const ANSWER_MS = 250;
/** After a failure one request per second finds out whether Redis is back; the others do not wait for it. */
const PAUSE_MS = 1_000;

/** What is taken ahead of time is this part of what is left, at most. */
const SHARE = 16;

/** Names of a client's two buckets for one operation, and of the proof that its credential was genuine. */
export interface BucketKeys {
  small: string;
  large: string;
  mark: string | undefined;
}

export interface BucketLimits {
  small: Limit;
  large: Limit;
}

/** What became of a request: the bucket it is for, how long to wait for one that passes, and how many were taken; 0 when it did not pass. */
export interface Taken {
  from: 'small' | 'large';
  waitMs: number;
  calls: number;
}

/** Buckets in Redis, so that several processes count together. Everything in it may be lost at any moment. */
export interface SharedBuckets {
  /**
   * Takes one request: from the large bucket when `proven` or when the mark is there, else from the small one. With `calls` more of them are taken, as far
   * as they fit into a sixteenth of what is left, so that near its end nobody holds what another process may give. Says how many were taken; undefined
   * when Redis does not answer within a quarter of a second; never rejects.
   */
  take(keys: BucketKeys, limits: BucketLimits, proven: boolean, calls?: number): Promise<Taken | undefined>;
  /** Leaves the mark, and moves one request paid for from the small bucket to the large one if that has room. Never rejects, waits for nothing. */
  prove(keys: BucketKeys & { mark: string }, limits: BucketLimits, paid: 'small' | 'large'): void;
  close(): Promise<void>;
}

/**
 * A bucket is `level:milliseconds`, and lives no longer than it takes to drain: a flood of made-up clients leaves keys
 * that are gone within the time one request takes to drain. The clock is Redis' own, one for all processes, unless given.
 */
const COMMON = `
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local one = tonumber(ARGV[2])
local function limit(n) return { drain = tonumber(ARGV[n]), capacity = tonumber(ARGV[n + 1]) } end
local small, large = limit(3), limit(5)
local function level(key, of)
  local was, at = string.match(redis.call('GET', key) or '', '^(%d+):(%d+)$')
  if not was then return 0 end
  return math.max(0, tonumber(was) - math.max(0, now - tonumber(at)) * of.drain)
end
local function put(key, of, filled)
  if filled <= 0 then redis.call('DEL', key) return end
  redis.call('SET', key, string.format('%.0f:%.0f', filled, now), 'PX', string.format('%.0f', math.ceil(filled / of.drain) + 1))
end
local function drip(key, of, calls)
  local filled = level(key, of)
  local room = math.floor((of.capacity - filled) / one)
  if room < 1 then return math.ceil((filled + one - of.capacity) / of.drain), 0 end
  local taken = math.max(1, math.min(calls, math.floor(room / ${SHARE})))
  put(key, of, filled + taken * one)
  return 0, taken
end
`;

/** KEYS: small, large, mark. ARGV[7]: 'proven', 'ask' or 'no'. ARGV[8]: how many calls. Answers 1 for the large bucket, the milliseconds to wait, and how many were taken. */
const TAKE = script(`${COMMON}
local calls = tonumber(ARGV[8])
if ARGV[7] == 'proven' or (ARGV[7] == 'ask' and redis.call('EXISTS', KEYS[3]) == 1) then return { 1, drip(KEYS[2], large, calls) } end
return { 0, drip(KEYS[1], small, calls) }
`);

/** KEYS: small, large, mark. ARGV[7]: which bucket paid. ARGV[8]: how long the mark lasts. */
const PROVE = script(`${COMMON}
redis.call('SET', KEYS[3], '1', 'PX', ARGV[8])
if ARGV[7] == 'small' and drip(KEYS[2], large, 1) == 0 then put(KEYS[1], small, level(KEYS[1], small) - one) end
return 0
`);

/** Opens the connection; returns at once. `now` replaces Redis' clock and `answerMs` the patience with it in tests. */
export function openSharedBuckets(options: { url: string; name: string; log: Logger; now?(): number; answerMs?: number }): SharedBuckets {
  const { client: connected, close } = redisConnection(options.url, options.name, options.log);
  // Each command would have a timer and a signal of its own, for the time before it is written: there is none, and whoever waits has a deadline below.
  const client = connected.withCommandOptions({ timeout: 0 });
  // A Redis that is new or was wiped does not know the scripts; `run` copes, this spares a burst of calls the detour.
  connected.on('ready', () => void Promise.all([client.scriptLoad(TAKE.text), client.scriptLoad(PROVE.text)]).catch(() => undefined));
  let failing = false;
  let nextTry = 0;

  const run = async ({ sha, text }: Script, keys: BucketKeys, limits: BucketLimits, rest: string[]): Promise<unknown> => {
    const { small, large } = limits;
    const numbers = [options.now?.() ?? '', REQUEST_UNITS, small.drain, small.capacity, large.drain, large.capacity];
    const call = { keys: [keys.small, keys.large, keys.mark ?? keys.small], arguments: [...numbers.map(String), ...rest] };
    try {
      return await client.evalSha(sha, call);
    } catch (error) {
      if (error instanceof Error && error.message.startsWith('NOSCRIPT')) return client.eval(text, call);
      throw error;
    }
  };
  const guarded = async (work: () => Promise<unknown>): Promise<unknown> => {
    const at = performance.now();
    if (!connected.isReady || (failing && at < nextTry)) return undefined;
    nextTry = at + PAUSE_MS;
    try {
      const answer = await within(options.answerMs ?? ANSWER_MS, work());
      failing = false;
      return answer;
    } catch (error) {
      if (!failing) options.log.warn({ err: error }, 'rate limits are kept by this process alone until redis answers');
      failing = true;
      return undefined;
    }
  };

  return {
    async take(keys, limits, proven, calls = 1) {
      const answer = await guarded(() => run(TAKE, keys, limits, [proven ? 'proven' : keys.mark === undefined ? 'no' : 'ask', String(calls)]));
      if (answer === undefined) return undefined;
      const [large, waitMs, taken] = answer as [number, number, number];
      return { from: large === 1 ? 'large' : 'small', waitMs, calls: taken };
    },
    prove(keys, limits, paid) {
      void guarded(() => run(PROVE, keys, limits, [paid, String(PROOF_MS)]));
    },
    close,
  };
}

interface Script {
  sha: string;
  text: string;
}

function script(text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

/** @throws Error when the work takes longer; what it settles to later is nobody's concern */
async function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  work.catch(() => undefined);
  try {
    return await Promise.race([
      work,
      new Promise<never>((_, reject) => {
        // An answer that arrived while this process was busy is read before the immediate runs, and counts.
        timer = setTimeout(() => setImmediate(() => reject(new Error(`redis did not answer within ${milliseconds} ms`))), milliseconds);
      }),
    ]);
  } finally {
    clearTimeout(timer);
  }
}
