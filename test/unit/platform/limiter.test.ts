import fc from 'fast-check';
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
    const { limiter } = aLimiter({ take: async () => ({ from: 'small', waitMs: 1_234, calls: 0 }) });
    expect((await limiter.take(demand())).waitMs).toBe(1_234);
  });

  it('is not charged here for what was refused there', async () => {
    let waitMs = 5;
    const { limiter, passing } = aLimiter({ take: async () => ({ from: 'small', waitMs, calls: waitMs === 0 ? 1 : 0 }) });
    for (let times = 0; times < 10; times++) await limiter.take(demand());
    waitMs = 0;
    expect(await passing()).toBe(3);
  });

  it('goes on with its own count, not with a fresh one, when the common one is gone or was emptied', async () => {
    let answer: Awaited<ReturnType<SharedBuckets['take']>> = { from: 'small', waitMs: 0, calls: 1 };
    const { passing } = aLimiter({ take: async () => answer });
    expect(await passing({}, 2)).toBe(2);
    answer = undefined;
    expect(await passing()).toBe(1);
    answer = { from: 'small', waitMs: 0, calls: 1 };
    expect(await passing()).toBe(0);
  });

  it('spares the common count a flood it can refuse by itself', async () => {
    let asked = 0;
    const { passing } = aLimiter({
      take: async () => {
        asked += 1;
        return { from: 'small', waitMs: 0, calls: 1 };
      },
    });
    for (let times = 0; times < 50; times++) await passing();
    expect(asked).toBe(3);
  });

  it('lets a server pass that proved itself to another process', async () => {
    const { passing } = aLimiter({ take: async () => ({ from: 'large', waitMs: 0, calls: 1 }) });
    expect(await passing({ credential: 'good' })).toBe(30);
  });

  it('keeps its own count too of those who name a credential that nobody proved to it', async () => {
    const { passing } = aLimiter({ take: async () => ({ from: 'small', waitMs: 0, calls: 1 }) });
    expect(await passing({ credential: 'guess' })).toBe(3);
    expect(await passing({ credential: 'another guess' })).toBe(0);
  });
});

describe('calls taken ahead', () => {
  /** Redis with room for everything; what each question was for. */
  function roomy() {
    const asked: number[] = [];
    const take: SharedBuckets['take'] = async (_keys, _limits, proven, calls = 1) => {
      asked.push(calls);
      return { from: proven ? 'large' : 'small', waitMs: 0, calls };
    };
    return { asked, ...aLimiter({ take }) };
  }
  const often = (over: Partial<Demand> = {}): Demand => demand({ large: limitOf(10_000), credential: 'good', ahead: true, ...over });
  const call = async ({ limiter }: ReturnType<typeof roomy>, times: number, over: Partial<Demand> = {}): Promise<void> => {
    for (let time = 0; time < times; time++) (await limiter.take(often(over))).prove();
  };

  it('are an eighth of what was spent, up to 64, while they are spent within a second', async () => {
    const stage = roomy();
    await call(stage, 1);
    stage.asked.length = 0;
    await call(stage, 1_000);
    let spent = 0;
    for (const calls of stage.asked) {
      expect(calls).toBe(Math.max(1, Math.min(64, Math.floor(spent / 8))));
      spent += calls;
    }
    expect(stage.asked.at(-1)).toBe(64);
    expect(stage.asked.length).toBeLessThan(1_000 / 15);
  });

  it('cost a client an eighth more than it spends at most, whatever its rhythm', async () => {
    const rhythm = fc.array(fc.record({ calls: fc.integer({ min: 1, max: 200 }), pause: fc.integer({ min: 0, max: 1_500 }) }), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(rhythm, async (bursts) => {
        const stage = roomy();
        let spent = 0;
        for (const { calls, pause } of bursts) {
          await call(stage, calls, { large: limitOf(1_000_000) });
          spent += calls;
          stage.advance(pause);
        }
        const taken = stage.asked.reduce((sum, calls) => sum + calls, 0);
        expect(taken).toBeLessThanOrEqual((spent * 9) / 8);
      }),
    );
  });

  it('are none for a client that calls less often than once a second', async () => {
    const stage = roomy();
    for (let time = 0; time < 20; time++) {
      await call(stage, 1);
      stage.advance(1_000);
    }
    expect(stage.asked).toEqual(Array.from({ length: 20 }, () => 1));
  });

  it('are lost after a second, and asked for again from one on', async () => {
    const stage = roomy();
    await call(stage, 1);
    stage.asked.length = 0;
    await call(stage, 16 + 4 * 2 + 1);
    stage.advance(1_000);
    await call(stage, 2);
    expect(stage.asked).toEqual([...Array.from({ length: 16 }, () => 1), 2, 2, 2, 2, 3, 1, 1]);
  });

  it('are for one bucket: of one client and one operation, whose credential was proven here', async () => {
    const stage = roomy();
    await call(stage, 20);
    stage.asked.length = 0;
    await stage.limiter.take(often({ client: '203.0.113.8' }));
    await stage.limiter.take(often({ operation: 'other' }));
    await stage.limiter.take(often({ credential: 'guess' }));
    await stage.limiter.take(often({ credential: undefined }));
    expect(stage.asked).toEqual([1, 1, 1, 1]);
  });

  it('are never taken where every call is to be asked about', async () => {
    const stage = roomy();
    await call(stage, 50, { ahead: false });
    expect(stage.asked).toEqual(Array.from({ length: 50 }, () => 1));
  });

  it('are asked for by one question at a time; calls beside it ask for themselves', async () => {
    const stage = roomy();
    await call(stage, 1 + 16 + 4 * 2);
    stage.asked.length = 0;
    await Promise.all(Array.from({ length: 5 }, () => stage.limiter.take(often())));
    expect(stage.asked).toEqual([3, 1, 1, 1, 1]);
  });

  it('are asked for again after a question that Redis did not answer', async () => {
    let away = true;
    const asked: number[] = [];
    const { limiter } = aLimiter({
      take: async (_keys, _limits, _proven, calls = 1) => {
        asked.push(calls);
        return away ? undefined : { from: 'large', waitMs: 0, calls };
      },
    });
    (await limiter.take(often())).prove();
    for (let time = 0; time < 3; time++) expect((await limiter.take(often())).waitMs).toBe(0);
    away = false;
    asked.length = 0;
    for (let time = 0; time < 16 + 1; time++) await limiter.take(often());
    expect(asked).toEqual([...Array.from({ length: 16 }, () => 1), 2]);
  });

  it('still have to fit into what this process counts by itself', async () => {
    const stage = roomy();
    (await stage.limiter.take(often({ large: limitOf(40) }))).prove();
    expect(await stage.passing({ credential: 'good', ahead: true, large: limitOf(40) })).toBe(39);
  });
});
