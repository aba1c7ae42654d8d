import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { ChainUnavailable, type Reader } from '#shared/chains/chain.ts';
import { joinReaders } from '#shared/chains/join-readers.ts';
import { type Endpoints, watchEndpoints } from '#shared/chains/watch-endpoints.ts';

const endpoints = (...providers: string[]): Endpoints =>
  watchEndpoints(
    { name: 'local', blockSeconds: 1 },
    providers.map((provider) => ({ provider, identify: () => Promise.resolve('0x0') })),
  );

it.each([new TypeError('answer.at is not a function'), new RangeError('Invalid array length'), new SyntaxError('Unexpected token')])(
  'an answer that breaks its reader is that endpoint’s failure, and the next one is asked: %s',
  async (broken) => {
    const two = endpoints('one', 'two');
    const { at, answer } = await two.first((asked) => (asked === 0 ? Promise.reject(broken) : Promise.resolve('well')));
    expect({ at, answer }).toEqual({ at: 1, answer: 'well' });
    expect(two.report()[0]).toMatchObject({ failures: 1, lastTrouble: 'untrusted' });
  },
);

it('and where no other endpoint is left, it says which could not be read, and keeps the error', async () => {
  const cause = new TypeError('answer.at is not a function\u0000');
  const asked = endpoints('one').first(() => Promise.reject(cause));
  await expect(asked).rejects.toThrow(ChainUnavailable);
  await expect(asked).rejects.toMatchObject({ message: 'one answered what cannot be read: answer.at is not a function\ufffd', cause });
});

it('an endpoint that fails is not taken for well by what is known without asking it', async () => {
  const one = endpoints('one');
  for (let asked = 0; asked < 3; asked++) await expect(one.ask(0, () => Promise.reject(new ChainUnavailable('no answer')))).rejects.toThrow('no answer');
  const own = { lacks: async () => [], seesInternal: async () => true } as unknown as Reader;
  const reader = joinReaders(one, [own], { blockSeconds: 1 });
  expect(await reader.findLacks()).toEqual([{ provider: 'one', lacks: [] }]);
  expect(await reader.seesInternal()).toBe(true);
  expect(one.report()[0]).toMatchObject({ state: 'failing', failures: 3 });
});

it('a refusal, and whatever else a question throws on purpose, is nobody’s failure', async () => {
  class Refused extends Error {}
  const two = endpoints('one', 'two');
  await expect(two.first(() => Promise.reject(new Refused('no')))).rejects.toThrow(Refused);
  expect(two.report()[0]).toMatchObject({ failures: 0 });
});

describe('a head', () => {
  /** Endpoints of a chain with a block each second, of which each tells the head that `heads` has for it; undefined is no answer. */
  const joined = (heads: (number | undefined)[]) => {
    const clock = { ms: 0 };
    const now = (): number => clock.ms;
    const providers = heads.map((_, at) => ({ provider: `node${at}`, identify: () => Promise.resolve('0x0') }));
    const watched = watchEndpoints({ name: 'local', blockSeconds: 1 }, providers, { now });
    const block = (height: number) => ({ height, hash: `0x${height}`, parentHash: `0x${height - 1}`, time: height });
    const readers = heads.map((_, at) => {
      const head = async () => {
        const height = heads[at];
        if (height === undefined) throw new ChainUnavailable('no answer');
        return { latest: block(height), safeHeight: null, finalizedHeight: null };
      };
      return { head, blockAt: async (height: number) => block(height) } as unknown as Reader;
    });
    const reader = joinReaders(watched, readers, { now, blockSeconds: 1 });
    /** What is followed some seconds later, once all were asked. */
    const later = async (seconds: number, next: (number | undefined)[]): Promise<number> => {
      clock.ms += seconds * 1_000;
      heads.splice(0, heads.length, ...next);
      await reader.head().catch(() => undefined);
      await setImmediate();
      return (await reader.head()).latest.height;
    };
    return { later, watched };
  };

  it.each([0, 1, 2])('that one endpoint alone tells, further than the chain can have come, makes none of the others lag (endpoint %i)', async (liar) => {
    const { later, watched } = joined([100, 100, 100]);
    expect(await later(0, [100, 100, 100])).toBe(100);
    const lying = (height: number): number[] => [0, 1, 2].map((at) => (at === liar ? 1_000_000 + height : height));
    for (const height of [116, 132, 148]) expect(await later(16, lying(height))).toBe(height);
    expect(watched.report().map(({ state }) => state)).toEqual([0, 1, 2].map((at) => (at === liar ? 'lagging' : 'well')));
    expect(await later(16, [164, 164, 164])).toBe(164);
    expect(await later(16, [180, 180, 180])).toBe(180);
    expect(watched.report().map(({ state }) => state)).toEqual(['well', 'well', 'well']);
  });

  it('that two tell is followed, however far it is, and so is that of the only one that goes on', async () => {
    const { later } = joined([100, 100, 100]);
    expect(await later(0, [100, 100, 100])).toBe(100);
    expect(await later(16, [100, 900, 900])).toBe(900);
    const two = joined([100, 100]);
    expect(await two.later(0, [100, 100])).toBe(100);
    for (const height of [116, 132, 300]) expect(await two.later(height === 300 ? 168 : 16, [100, height])).toBe(height);
    const last = joined([100, 100]);
    expect(await last.later(0, [100, 100])).toBe(100);
    expect(await last.later(61, [undefined, 5_000])).toBe(5_000);
  });
});
