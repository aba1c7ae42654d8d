import { expect, it } from 'vitest';
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
