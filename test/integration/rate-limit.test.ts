import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import fc from 'fast-check';
import { pino } from 'pino';
import { createClient } from 'redis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { waitFor } from '#ops/dev/services/wait.ts';
import { type Bucket, limitOf, REQUEST_UNITS, take } from '#shared/core/token-bucket.ts';
import { type Demand, createLimiter, type Limiter } from '#shared/platform/limiter.ts';
import { openSharedBuckets, type SharedBuckets } from '#shared/platform/redis-buckets.ts';
import { type OwnRedis, ownRedis } from '#test/harness/redis.ts';

const log = pino({ level: 'silent' });
const START = 1_700_000_000_000;

let redis: OwnRedis;
let opened: SharedBuckets[];
let clock: number;
beforeEach(async () => {
  redis = await ownRedis();
  opened = [];
  clock = START;
});
afterEach(async () => {
  await Promise.all(opened.map((one) => one.close()));
  await redis.stop();
});

/** A whole minute lasts longer than a test, so nothing drains behind its back. */
const demand = (over: Partial<Demand> = {}): Demand => ({
  client: '203.0.113.7',
  operation: 'op',
  small: limitOf(5),
  large: limitOf(50),
  credential: undefined,
  ...over,
});

/** Patient with a busy machine, except where impatience is what is tested. */
async function buckets(options: { url?: string; now?(): number; answerMs?: number } = {}): Promise<SharedBuckets> {
  const one = openSharedBuckets({ url: redis.url, name: 'test', log, now: () => clock, answerMs: 30_000, ...options });
  opened.push(one);
  return one;
}

/** One http process; it is connected when this returns. */
async function aProcess(options: { url?: string; now?(): number; answerMs?: number } = {}): Promise<Limiter> {
  const shared = await buckets(options);
  await answering(shared);
  return createLimiter({ now: () => clock, shared });
}

const answering = (shared: SharedBuckets): Promise<unknown> =>
  waitFor(() => shared.take({ small: 'probe', large: 'probe', mark: undefined }, demand(), false), { what: 'redis to answer' });

const newClient = () => createClient({ url: redis.url }).on('error', () => undefined);

/** Looks at Redis behind everybody's back. */
async function inRedis(look: (client: ReturnType<typeof newClient>) => Promise<unknown>): Promise<void> {
  const client = newClient();
  await client.connect();
  try {
    await look(client);
  } finally {
    client.destroy();
  }
}

async function passing(processes: Limiter[], over: Partial<Demand> = {}): Promise<number> {
  for (let passed = 0; ; passed++) {
    const limiter = processes[passed % processes.length] as Limiter;
    if ((await limiter.take(demand(over))).waitMs > 0) return passed;
  }
}

describe('two processes', () => {
  it('let pass together what one would, and say the same about when to come back', async () => {
    const [a, b] = [await aProcess(), await aProcess()];
    expect(await passing([a, b])).toBe(5);
    for (const one of [a, b]) expect((await one.take(demand())).waitMs).toBe(12_000);
    clock += 11_999;
    for (const one of [a, b]) expect((await one.take(demand())).waitMs).toBe(1);
    clock += 1;
    expect((await b.take(demand())).waitMs).toBe(0);
    expect((await a.take(demand())).waitMs).toBe(12_000);
  });

  it('let pass together no more than the limit when hundreds of calls arrive at once', async () => {
    const [a, b] = [await aProcess(), await aProcess()];
    const verdicts = await Promise.all(Array.from({ length: 400 }, (_, call) => (call % 2 === 0 ? a : b).take(demand())));
    expect(verdicts.filter((verdict) => verdict.waitMs === 0)).toHaveLength(5);
  });

  it('share what a credential proved, and nothing it did not', async () => {
    const [a, b] = [await aProcess(), await aProcess()];
    (await a.take(demand({ credential: 'good' }))).prove();
    await inRedis((client) => waitFor(async () => (await client.keys('sluice:proof:*')).length === 1, { what: 'the proof to arrive' }));
    expect(await passing([b, a], { credential: 'good' })).toBe(49);
    expect(await passing([b, a], { credential: 'guess' })).toBe(5);
    expect(await passing([b], { credential: 'good', client: '203.0.113.8' })).toBe(5);
  });

  it('measure time by the clock of Redis, one for both, when they are given none', async () => {
    const [a, b] = ['a', 'b'].map((name) => openSharedBuckets({ url: redis.url, name, log, answerMs: 30_000 })) as [SharedBuckets, SharedBuckets];
    opened.push(a, b);
    await Promise.all([answering(a), answering(b)]);
    const keys = { small: 's', large: 'l', mark: undefined };
    const slow = { small: limitOf(1), large: limitOf(1) };
    expect(await a.take(keys, slow, false)).toEqual({ from: 'small', waitMs: 0, calls: 1 });
    const refused = await b.take(keys, slow, false);
    expect(refused?.waitMs).toBeGreaterThan(50_000);
    expect(refused?.waitMs).toBeLessThanOrEqual(60_000);
  });
});

describe('processes that take calls ahead', () => {
  /** With a bucket that is half full: in Redis it would be gone by the time on the wall once it is empty, and then the clock of the test stands still. */
  const often = (room: number): Partial<Demand> => ({ large: limitOf(2 * room), credential: 'good', ahead: true });

  /** Processes that each know the client, who has so many calls left, and how many questions they asked since; their clocks are off by `skews`. */
  async function proven(count: number, room: number, skews: readonly number[] = []): Promise<{ processes: Limiter[]; questions(): number; refuse(): void }> {
    let [questions, refusing] = [0, false];
    const processes: Limiter[] = [];
    for (let made = 0; made < count; made++) {
      const shared = await buckets();
      await answering(shared);
      const take: SharedBuckets['take'] = (...asked) => {
        questions += 1;
        return refusing ? Promise.resolve(undefined) : shared.take(...asked);
      };
      const limiter = createLimiter({ now: () => clock + (skews[made] ?? 0), shared: { ...shared, take } });
      (await limiter.take(demand(often(room)))).prove();
      await inRedis((client) => waitFor(async () => (await client.keys('sluice:proof:*')).length === 1, { what: 'the proof to arrive' }));
      processes.push(limiter);
    }
    await inRedis((client) => client.set('sluice:limit:{203.0.113.7}:op:proven', `${room * REQUEST_UNITS}:${clock}`));
    questions = 0;
    const refuse = (): void => {
      refusing = true;
    };
    return { processes, questions: () => questions, refuse };
  }

  it('let pass together what one would, however their calls are spread, and ask about few of them', async () => {
    const { processes, questions } = await proven(3, 3_000);
    expect(await passing(processes, often(3_000))).toBe(3_000);
    expect(questions()).toBeLessThan(3_000 / 5);
  });

  it('never let pass more than the limit when thousands of calls arrive at once, and as much as it once all are asked', async () => {
    const { processes } = await proven(4, 1_000);
    const calls = Array.from({ length: 4_000 }, (_, call) => (processes[(call * 7 + (call % 3)) % 4] as Limiter).take(demand(often(1_000))));
    const passed = (await Promise.all(calls)).filter(({ waitMs }) => waitMs === 0).length;
    let rest = 0;
    for (const one of processes) rest += await passing([one], often(1_000));
    expect(passed + rest).toBe(1_000);
  });

  it('hold at most a sixteenth of what is left, so that a process that is asked no more keeps little from the others', async () => {
    const { processes } = await proven(2, 320);
    const [busy, other] = processes as [Limiter, Limiter];
    for (let call = 0; call < 126 + 1; call++) expect((await busy.take(demand(often(320)))).waitMs).toBe(0);
    // It asked for fifteen, an eighth of what it spent, and was given a sixteenth of the 194 that were left.
    expect(await passing([other], often(320))).toBe(194 - 12);
    expect(await passing([busy], often(320))).toBe(11);
    expect(await passing(processes, often(320))).toBe(0);
  });

  it('never let pass more than the limit, and hardly less, while their clocks differ and step', async () => {
    const skews = [0, -600_000, 400_000];
    const { processes } = await proven(3, 1_000, skews);
    let passed = 0;
    for (let call = 0; call < 3_000; call++) {
      // Most steps let what is held go to waste; the smallest do not.
      if (call % 40 === 0) skews[call % 3] = (skews[call % 3] as number) + ([-300_000, 999, -1_000, -1, 1_000][(call / 40) % 5] as number);
      const calling = processes[Math.floor(call / 100) % 3] as Limiter;
      if ((await calling.take(demand(often(1_000)))).waitMs === 0) passed += 1;
    }
    expect(passed).toBeLessThanOrEqual(1_000);
    expect(passed).toBeGreaterThanOrEqual((1_000 * 8) / 9);
  });

  it('get nothing back for what they did not spend within a second', async () => {
    const { processes } = await proven(2, 1_500);
    const [quiet, other] = processes as [Limiter, Limiter];
    for (let call = 0; call < 518 + 1; call++) await quiet.take(demand(often(1_500)));
    expect(await passing([other], often(1_500))).toBe(1_500 - 518 - 61);
    clock += 1_000;
    // What drained in that second, and none of the 60 that were left.
    expect(await passing([quiet], often(1_500))).toBe(50);
  });

  it('spend what they have while Redis is away, and are then within their own count', async () => {
    const { processes, refuse } = await proven(1, 500);
    for (let call = 0; call < 100; call++) await (processes[0] as Limiter).take(demand(often(500)));
    refuse();
    expect(await passing(processes, often(500))).toBe(2 * 500 - 1 - 100);
  });
});

describe('a bucket in Redis', () => {
  it('decides exactly as the one in this process', async () => {
    const shared = await buckets();
    await answering(shared);
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(0.1, 0.5, 1, 3, 6), fc.array(fc.oneof(fc.constant(0), fc.nat(90_000)), { maxLength: 25 }), async (perMinute, steps) => {
        run += 1;
        const limit = limitOf(perMinute);
        let bucket: Bucket | undefined;
        for (const step of steps) {
          clock += step;
          const expected = take(bucket, clock, limit);
          bucket = expected.bucket;
          expect(await shared.take({ small: `bucket ${run}`, large: '', mark: undefined }, { small: limit, large: limit }, false)).toEqual({
            from: 'small',
            waitMs: expected.waitMs,
            calls: expected.waitMs === 0 ? 1 : 0,
          });
        }
      }),
      { numRuns: 60 },
    );
  });

  it('counts exactly up to the largest numbers there are', async () => {
    const shared = await buckets();
    await answering(shared);
    const limit = { drain: 1, capacity: limitOf(Number.POSITIVE_INFINITY).capacity };
    const full = limit.capacity - REQUEST_UNITS;
    await inRedis(async (client) => {
      await client.set('huge', `${full - 1}:${START}`);
      const taken = await shared.take({ small: 'huge', large: '', mark: undefined }, { small: limit, large: limit }, false);
      expect([taken?.waitMs, await client.get('huge')]).toEqual([0, `${limit.capacity - 1}:${START}`]);
      expect((await shared.take({ small: 'huge', large: '', mark: undefined }, { small: limit, large: limit }, false))?.waitMs).toBe(REQUEST_UNITS - 1);
    });
  });

  it('leaves nothing behind once it is empty again, however many clients are made up', async () => {
    const shared = await buckets();
    await answering(shared);
    const fast = { small: limitOf(60_000), large: limitOf(60_000) };
    await Promise.all(Array.from({ length: 2_000 }, (_, made) => shared.take({ small: `made up ${made}`, large: '', mark: undefined }, fast, false)));
    await inRedis((client) => waitFor(async () => (await client.keys('made up*')).length === 0, { what: 'the buckets to be gone' }));
  });
});

describe('without Redis', () => {
  it('each process goes on with its own count at once, and counts together again afterwards', async () => {
    const [a, b] = [await aProcess(), await aProcess()];
    expect((await a.take(demand())).waitMs).toBe(0);
    expect((await a.take(demand())).waitMs).toBe(0);
    await redis.kill();
    expect(await passing([a])).toBe(3);
    expect(await passing([b])).toBe(5);
    await redis.revive();
    await Promise.all(opened.map(answering));
    expect(await passing([a, b])).toBe(0);
    expect(await passing([a, b], { operation: 'another' })).toBe(5);
  });

  it('a Redis that was wiped, its scripts too, gives nobody a fresh budget at this process', async () => {
    const a = await aProcess();
    expect(await passing([a])).toBe(5);
    await redis.kill();
    await redis.revive();
    await Promise.all(opened.map(answering));
    expect(await passing([a])).toBe(0);
    expect(await passing([a], { client: '203.0.113.8' })).toBe(5);
  });

  it('a Redis that accepts connections and never answers delays one call a second by a moment, and no other', async () => {
    const hung = await aHangingProxy(redis.url);
    const limiter = await aProcess({ url: hung.url, answerMs: 100 });
    hung.hang();
    expect(await passing([limiter], { small: limitOf(200) })).toBe(200);
    // Of two hundred that each asked; once a second one may, however slow this machine is.
    expect(hung.asked()).toBeLessThan(100);
    await hung.stop();
  });

  it('a process that never reached it protects all the same', async () => {
    const shared = await buckets({ url: 'redis://127.0.0.1:1' });
    expect(await passing([createLimiter({ now: () => clock, shared })])).toBe(5);
  });
});

/** A TCP proxy in front of Redis that stops carrying anything when told to. */
async function aHangingProxy(target: string): Promise<{ url: string; hang(): void; asked(): number; stop(): Promise<void> }> {
  const { hostname, port } = new URL(target);
  let hanging = false;
  let asked = 0;
  const sockets = new Set<{ destroy(): void }>();
  const server: Server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
    }
    client.on('data', (chunk) => {
      if (hanging) asked += 1;
      else upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      if (!hanging) client.write(chunk);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hang: () => {
      hanging = true;
    },
    asked: () => asked,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
