import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Bucket, give, limitOf, REQUEST_UNITS, take } from '#shared/core/token-bucket.ts';

/** Requests a minute, from one a day to a hundred million. */
const perMinute = fc.oneof(fc.constantFrom(0.000_7, 0.01, 0.3, 1, 20, 60, 600, 1_200, 12_000_000, 1e12), fc.double({ min: 0.001, max: 100_000, noNaN: true }));
/** Milliseconds between requests: none, a few, about a minute, for ever. */
const pauses = fc.array(fc.oneof(fc.constant(0), fc.nat(50), fc.nat(90_000), fc.nat(10_000_000)), { minLength: 1, maxLength: 120 });

/** A bucket in exact fractions: tokens drip in at `rate` per millisecond, up to `burst`; all times REQUEST_UNITS. */
function reference(limit: { drain: number; capacity: number }) {
  const one = BigInt(REQUEST_UNITS);
  let tokens = BigInt(limit.capacity);
  return (elapsed: number): { passes: boolean; waitMs: bigint } => {
    tokens += BigInt(elapsed) * BigInt(limit.drain);
    if (tokens > BigInt(limit.capacity)) tokens = BigInt(limit.capacity);
    if (tokens >= one) {
      tokens -= one;
      return { passes: true, waitMs: 0n };
    }
    const missing = one - tokens;
    return { passes: false, waitMs: (missing + BigInt(limit.drain) - 1n) / BigInt(limit.drain) };
  };
}

describe('a token bucket', () => {
  it('decides as one kept in exact fractions', () =>
    fc.assert(
      fc.property(perMinute, pauses, (rate, steps) => {
        const limit = limitOf(rate);
        const expected = reference(limit);
        let bucket: Bucket | undefined;
        let now = 1_700_000_000_000;
        for (const step of steps) {
          now += step;
          const taken = take(bucket, now, limit);
          expect([taken.waitMs === 0, BigInt(taken.waitMs)]).toEqual(Object.values(expected(step)));
          bucket = taken.bucket;
        }
      }),
      { numRuns: 500 },
    ));

  it('lets at most burst + rate × t pass in any span of time t', () =>
    fc.assert(
      fc.property(perMinute, pauses, (rate, steps) => {
        const limit = limitOf(rate);
        const passed: number[] = [];
        let bucket: Bucket | undefined;
        let now = 0;
        for (const step of steps) {
          now += step;
          const taken = take(bucket, now, limit);
          if (taken.waitMs === 0) passed.push(now);
          bucket = taken.bucket;
        }
        for (let first = 0; first < passed.length; first++)
          for (let last = first; last < passed.length; last++) {
            const span = BigInt((passed[last] ?? 0) - (passed[first] ?? 0));
            const most = BigInt(limit.capacity) + span * BigInt(limit.drain);
            expect(BigInt(last - first + 1) * BigInt(REQUEST_UNITS) <= most).toBe(true);
          }
      }),
      { numRuns: 200 },
    ));

  it('says exactly how long to wait: not a millisecond earlier, and then one passes', () =>
    fc.assert(
      fc.property(perMinute, pauses, (rate, steps) => {
        const limit = limitOf(rate);
        let bucket: Bucket | undefined;
        let now = 0;
        for (const step of steps) {
          now += step;
          const { bucket: next, waitMs } = take(bucket, now, limit);
          bucket = next;
          if (waitMs === 0) continue;
          expect(take(bucket, now + waitMs - 1, limit).waitMs).toBe(1);
          expect(take(bucket, now + waitMs, limit).waitMs).toBe(0);
        }
      }),
    ));

  it('holds a burst of the whole minute, and of one request when the limit is less than that', () => {
    const burst = (rate: number): number => {
      let bucket: Bucket | undefined;
      for (let passed = 0; ; passed++) {
        const taken = take(bucket, 5, limitOf(rate));
        if (taken.waitMs > 0) return passed;
        bucket = taken.bucket;
      }
    };
    expect([0.001, 1, 20, 600].map(burst)).toEqual([1, 1, 20, 600]);
  });

  it('is not filled by requests it refused', () => {
    const limit = limitOf(1);
    let { bucket } = take(undefined, 0, limit);
    for (let at = 1; at < 60_000; at += 100) {
      const taken = take(bucket, at, limit);
      expect(taken.waitMs).toBe(60_000 - at);
      bucket = taken.bucket;
    }
    expect(take(bucket, 60_000, limit).waitMs).toBe(0);
  });

  it('neither drains nor locks anybody out when the clock goes back', () => {
    const limit = limitOf(2);
    let bucket: Bucket | undefined;
    for (let times = 0; times < 2; times++) ({ bucket } = take(bucket, 1_000_000, limit));
    expect(take(bucket, 1_000, limit).waitMs).toBe(30_000);
    expect(take(take(bucket, 1_000, limit).bucket, 31_000, limit).waitMs).toBe(0);
  });

  it('takes back one request and never more than was in it', () => {
    const limit = limitOf(1);
    const { bucket } = take(undefined, 0, limit);
    expect(take(give(bucket, 0, limit), 0, limit).waitMs).toBe(0);
    expect(give(undefined, 0, limit)).toEqual({ level: 0, at: 0 });
    expect(take(give(give(bucket, 0, limit), 0, limit), 0, limit).bucket.level).toBe(REQUEST_UNITS);
  });
});
