/** One request in the units a bucket is filled with: thousandths of a request per minute, per millisecond, so that all sums are whole. */
export const REQUEST_UNITS = 60_000_000;

/** Beyond a hundred million requests a minute the sums would no longer be whole numbers. */
const MOST_PER_MINUTE = 100_000_000;

/** How much may pass: `drain` units leave the bucket each millisecond, and it holds `capacity` units. */
export interface Limit {
  drain: number;
  capacity: number;
}

/** How full a bucket was at a moment, in units and wall-clock milliseconds; a missing bucket is an empty one. */
export interface Bucket {
  level: number;
  at: number;
}

/** What a bucket says to one request: the bucket as it is then, and how long to wait for one that passes; 0 when it passed. */
export interface Take {
  bucket: Bucket;
  waitMs: number;
}

/** The limit of so many requests a minute, with a burst of the whole minute and never of less than one request (decisions 8). */
export function limitOf(perMinute: number): Limit {
  const drain = Math.max(1, Math.round(Math.min(perMinute, MOST_PER_MINUTE) * 1_000));
  return { drain, capacity: Math.max(REQUEST_UNITS, drain * 60_000) };
}

/** What is in the bucket at `now`. A clock that went back drains nothing and makes nobody wait for it to catch up. */
export function levelAt(bucket: Bucket | undefined, now: number, { drain }: Limit): number {
  return bucket === undefined ? 0 : Math.max(0, bucket.level - Math.max(0, now - bucket.at) * drain);
}

/** Milliseconds until one request fits; 0 when it fits now. Exact: not a millisecond earlier. */
export function waitFor(level: number, { drain, capacity }: Limit): number {
  return Math.max(0, Math.ceil((level + REQUEST_UNITS - capacity) / drain));
}

/**
 * Lets one request through the token bucket or says how long to wait; a refused request costs nothing. In any span of
 * t minutes at most burst + limit × t requests pass. `drip` of shared/platform/redis-buckets.ts is the same in Lua.
 */
export function take(bucket: Bucket | undefined, now: number, limit: Limit): Take {
  const level = levelAt(bucket, now, limit);
  const waitMs = waitFor(level, limit);
  return { bucket: { level: waitMs === 0 ? level + REQUEST_UNITS : level, at: now }, waitMs };
}

/** Gives one request back. */
export function give(bucket: Bucket | undefined, now: number, limit: Limit): Bucket {
  return { level: Math.max(0, levelAt(bucket, now, limit) - REQUEST_UNITS), at: now };
}
