import { describe, expect, it } from 'vitest';
import { limitOf } from '#shared/core/token-bucket.ts';
import { type Demand, createLimiter } from '#shared/platform/limiter.ts';
import type { SharedBuckets } from '#shared/platform/redis-buckets.ts';

/** Three a minute for anybody, thirty for a proven server. */
const demand = (over: Partial<Demand> = {}): Demand => ({
  client: '203.0.113.7',
  operation: 'op',
  small: limitOf(3),
  large: limitOf(30),
  credential: undefined,
  ...over,
});

function aLimiter(shared?: Partial<SharedBuckets>, remembered?: number) {
  let clock = 1_000_000;
  const limiter = createLimiter({
    now: () => clock,
    ...(shared === undefined ? {} : { shared: { take: async () => undefined, prove: () => undefined, close: async () => undefined, ...shared } }),
    ...(remembered === undefined ? {} : { remembered }),
  });
  return {
    limiter,
    advance: (milliseconds: number) => {
      clock += milliseconds;
    },
    /** How many of the next `most` calls pass. */
    async passing(over: Partial<Demand> = {}, most = 100): Promise<number> {
      for (let passed = 0; passed < most; passed++) if ((await limiter.take(demand(over))).waitMs > 0) return passed;
      return most;
    },
  };
}

describe('the limiter', () => {
  it('counts each client and operation apart', async () => {
    const { passing } = aLimiter();
    expect(await passing()).toBe(3);
    expect(await passing({ client: '203.0.113.8' })).toBe(3);
    expect(await passing({ operation: 'other' })).toBe(3);
    expect(await passing()).toBe(0);
  });

  it('gives no more to a credential nobody proved, whatever it is', async () => {
    const { passing } = aLimiter();
    expect(await passing({ credential: 'a' })).toBe(3);
    for (const credential of ['b', 'c', undefined]) expect(await passing({ credential })).toBe(0);
  });

  it('gives a proven credential ten times as much, and pays for the proving call from there', async () => {
    const { limiter, passing } = aLimiter();
    (await limiter.take(demand({ credential: 'good' }))).prove();
    expect(await passing({ credential: 'good' })).toBe(29);
    expect(await passing({ credential: 'guess' })).toBe(3);
  });

  it('believes a proof from the address that gave it, and from no other', async () => {
    const { limiter, passing } = aLimiter();
    (await limiter.take(demand({ credential: 'good' }))).prove();
    expect(await passing({ credential: 'good', client: '203.0.113.8' })).toBe(3);
  });

  it('keeps a proven server answered while somebody behind its address guesses', async () => {
    const { limiter, passing } = aLimiter();
    (await limiter.take(demand({ credential: 'good' }))).prove();
    expect(await passing({ credential: 'guess' })).toBe(3);
    expect(await passing({ credential: 'good' })).toBe(29);
  });

  it('moves each proving call once, so that many credentials share what one server has', async () => {
    const { limiter, passing } = aLimiter();
    for (let payment = 0; payment < 30; payment++) {
      const verdict = await limiter.take(demand({ credential: `payment ${payment}` }));
      expect([payment, verdict.waitMs]).toEqual([payment, 0]);
      verdict.prove();
      verdict.prove();
    }
    expect(await passing({ credential: 'payment 0' })).toBe(0);
    expect(await passing()).toBe(3);
  });

  it('forgets a proof that was not given again within ten minutes, and renews one in use', async () => {
    const { limiter, passing, advance } = aLimiter();
    (await limiter.take(demand({ credential: 'good' }))).prove();
    for (let minute = 0; minute < 30; minute++) {
      advance(60_000);
      (await limiter.take(demand({ credential: 'good' }))).prove();
    }
    advance(599_000);
    expect(await passing({ credential: 'good' })).toBe(30);
    advance(2_000_000);
    expect(await passing({ credential: 'good' })).toBe(3);
  });

  it('writes a proof down once, and again only when half of its time is over', async () => {
    let proofs = 0;
    const prove = (): void => {
      proofs += 1;
    };
    const { limiter, advance } = aLimiter({ prove });
    const call = async (over: Partial<Demand>): Promise<void> => (await limiter.take(demand({ large: limitOf(1_000), ...over }))).prove();
    await call({});
    expect(proofs).toBe(0);
    for (let made = 0; made < 3; made++) await call({ credential: 'good' });
    expect(proofs).toBe(1);
    advance(301_000);
    for (let made = 0; made < 3; made++) await call({ credential: 'good' });
    expect(proofs).toBe(2);
  });

  it('remembers a bounded number of clients, and forgets those that were quiet longest', async () => {
    const { passing } = aLimiter(undefined, 100);
    expect(await passing({ client: 'busy' })).toBe(3);
    for (let made = 0; made < 50; made++) await passing({ client: `made up ${made}` }, 1);
    expect(await passing({ client: 'busy' })).toBe(0);
    for (let made = 50; made < 200; made++) await passing({ client: `made up ${made}` }, 1);
    expect(await passing({ client: 'busy' })).toBe(3);
  });
});

describe('the limiter of several processes', () => {
  it('obeys what they counted together', async () => {
    const { limiter } = aLimiter({ take: async () => ({ from: 'small', waitMs: 1_234 }) });
    expect((await limiter.take(demand())).waitMs).toBe(1_234);
  });

  it('is not charged here for what was refused there', async () => {
    let waitMs = 5;
    const { limiter, passing } = aLimiter({ take: async () => ({ from: 'small', waitMs }) });
    for (let times = 0; times < 10; times++) await limiter.take(demand());
    waitMs = 0;
    expect(await passing()).toBe(3);
  });

  it('goes on with its own count, not with a fresh one, when the common one is gone or was emptied', async () => {
    let answer: Awaited<ReturnType<SharedBuckets['take']>> = { from: 'small', waitMs: 0 };
    const { passing } = aLimiter({ take: async () => answer });
    expect(await passing({}, 2)).toBe(2);
    answer = undefined;
    expect(await passing()).toBe(1);
    answer = { from: 'small', waitMs: 0 };
    expect(await passing()).toBe(0);
  });

  it('spares the common count a flood it can refuse by itself', async () => {
    let asked = 0;
    const { passing } = aLimiter({
      take: async () => {
        asked += 1;
        return { from: 'small', waitMs: 0 };
      },
    });
    for (let times = 0; times < 50; times++) await passing();
    expect(asked).toBe(3);
  });

  it('lets a server pass that proved itself to another process', async () => {
    const { passing } = aLimiter({ take: async () => ({ from: 'large', waitMs: 0 }) });
    expect(await passing({ credential: 'good' })).toBe(30);
  });

  it('keeps its own count too of those who name a credential that nobody proved to it', async () => {
    const { passing } = aLimiter({ take: async () => ({ from: 'small', waitMs: 0 }) });
    expect(await passing({ credential: 'guess' })).toBe(3);
    expect(await passing({ credential: 'another guess' })).toBe(0);
  });
});
