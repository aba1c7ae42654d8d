import { type Bucket, give, type Limit, levelAt, REQUEST_UNITS, take, waitFor } from '#shared/core/token-bucket.ts';
import { createCallsAhead } from './calls-ahead.ts';
import { type BucketKeys, PROOF_MS, type SharedBuckets } from './redis-buckets.ts';

/** Buckets and proofs this process remembers; the least recently used are forgotten first, which are those nearly empty anyway. */
const REMEMBERED = 20_000;

/** One request, as the limiter sees it. */
export interface Demand {
  /** Whose budget it is: an address, or the /64 of an IPv6 one. */
  client: string;
  operation: string;
  /** What anybody gets. */
  small: Limit;
  /** What a client gets whose credential was proven. */
  large: Limit;
  /** Digest of whatever the request names itself by; worth nothing until `prove` was called for it from the same client. */
  credential: string | undefined;
  /** Whether a client whose credential was proven may be given several calls by one question to Redis. */
  ahead?: boolean;
}

/** What became of a demand. */
export interface Verdict {
  /** 0 when it passed, else the milliseconds after which one will. */
  waitMs: number;
  /**
   * Says that the credential turned out to be genuine: from now on this client has its large budget when it sends it, and
   * this request is paid for from there too. Does nothing while the proof is fresh; never rejects and never waits.
   */
  prove(): void;
}

/** What keys in Redis begin with: the console's are its own, so that whoever holds it reaches nobody else's limits. */
export type LimitNames = 'sluice' | 'sluice:console';

/** Decides who may call how often. */
export interface Limiter {
  /** Takes one request from its bucket; never rejects, and waits for Redis for a quarter of a second at most. */
  take(demand: Demand): Promise<Verdict>;
}

/**
 * Token buckets that all processes share through `shared`, and that each process also keeps for itself: while Redis is
 * away or was wiped, its own hold on, so an outage costs accuracy between processes and neither protection nor answers.
 * Each request must fit in both. Of a client that is proven and calls often, several calls are taken from Redis by one question. Memory is bounded whatever addresses and keys are made up.
 */
export function createLimiter(options: { now(): number; shared?: SharedBuckets; remembered?: number; names?: LimitNames }): Limiter {
  const { now, shared, names = 'sluice' } = options;
  const buckets = lru<Bucket>(options.remembered ?? REMEMBERED);
  const proofs = lru<number>(options.remembered ?? REMEMBERED);
  const callsAhead = createCallsAhead(now, lru(options.remembered ?? REMEMBERED));

  const charge = (key: string, limit: Limit): void => {
    const at = now();
    buckets.set(key, { level: Math.min(limit.capacity, levelAt(buckets.get(key), at, limit) + REQUEST_UNITS), at });
  };
  const waitHere = (demand: Demand, keys: BucketKeys, from: 'small' | 'large'): number =>
    waitFor(levelAt(buckets.get(keys[from]), now(), demand[from]), demand[from]);
  const verdict = (demand: Demand, keys: BucketKeys, paid: 'small' | 'large', waitMs: number): Verdict => {
    const { mark } = keys;
    let needed = mark !== undefined && (paid === 'small' || (proofs.get(mark) ?? 0) - now() < PROOF_MS / 2);
    const prove = (): void => {
      if (!needed || mark === undefined) return;
      needed = false;
      const at = now();
      proofs.set(mark, at + PROOF_MS);
      if (paid === 'small' && waitHere(demand, keys, 'large') === 0) {
        charge(keys.large, demand.large);
        buckets.set(keys.small, give(buckets.get(keys.small), at, demand.small));
      }
      shared?.prove({ ...keys, mark }, demand, paid);
    };
    return { waitMs, prove };
  };

  return {
    async take(demand) {
      const keys = keysOf(names, demand);
      const proven = keys.mark !== undefined && (proofs.get(keys.mark) ?? 0) > now();
      const guess = proven ? 'large' : 'small';
      // Whether another process was given the proof is known to Redis only.
      if (proven || keys.mark === undefined || shared === undefined) {
        const waitMs = waitHere(demand, keys, guess);
        if (waitMs > 0) return verdict(demand, keys, guess, waitMs);
      }
      const ahead = proven && demand.ahead === true;
      if (ahead && callsAhead.spend(keys.large)) {
        charge(keys.large, demand.large);
        return verdict(demand, keys, 'large', 0);
      }
      const ask = async (calls = 1) => shared?.take(keys, demand, proven, calls);
      const answer = await (ahead ? callsAhead.ask(keys.large, ask) : ask());
      if (answer === undefined) {
        const taken = take(buckets.get(keys[guess]), now(), demand[guess]);
        buckets.set(keys[guess], taken.bucket);
        return verdict(demand, keys, guess, taken.waitMs);
      }
      const waitMs = Math.max(answer.waitMs, waitHere(demand, keys, answer.from));
      if (waitMs === 0) charge(keys[answer.from], demand[answer.from]);
      return verdict(demand, keys, answer.from, waitMs);
    },
  };
}

function keysOf(names: LimitNames, { client, operation, credential }: Demand): BucketKeys {
  return {
    small: `${names}:limit:{${client}}:${operation}`,
    large: `${names}:limit:{${client}}:${operation}:proven`,
    mark: credential === undefined ? undefined : `${names}:proof:{${client}}:${credential}`,
  };
}

/** A map that forgets what was not touched for the longest time once it holds `most` entries. */
function lru<V>(most: number): { get(key: string): V | undefined; set(key: string, value: V): void } {
  const entries = new Map<string, V>();
  return {
    get: (key) => entries.get(key),
    set(key, value) {
      entries.delete(key);
      entries.set(key, value);
      if (entries.size > most) entries.delete(entries.keys().next().value as string);
    },
  };
}
