import { afterEach, describe, expect, it, vi } from 'vitest';
import { doneTogether, together } from '#shared/platform/together.ts';

/** A read that answers when told to, and what it was asked for. */
function aStore(): { asked: string[][]; answer(values?: Record<string, number>): void; fail(): void; find: (key: string) => Promise<number | undefined> } {
  const asked: string[][] = [];
  const waiting: { resolve(found: Map<string, number>): void; reject(error: Error): void }[] = [];
  const find = together<number>((keys) => {
    asked.push(keys);
    return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
  });
  return {
    asked,
    find,
    answer: (values = {}) => waiting.shift()?.resolve(new Map(Object.entries(values))),
    fail: () => waiting.shift()?.reject(new Error('away')),
  };
}

const moment = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

afterEach(() => {
  vi.useRealTimers();
});

describe('reads together', () => {
  it('reads by one statement what is asked for in one moment, each key once', async () => {
    const { asked, find, answer } = aStore();
    const answers = Promise.all([find('ETH'), find('USDT'), find('ETH'), find('none')]);
    await moment();
    answer({ ETH: 2_000, USDT: 1 });
    expect(await answers).toEqual([2_000, 1, 2_000, undefined]);
    expect(asked).toEqual([['ETH', 'USDT', 'none']]);
  });

  it('answers nobody with what was read before the question, and has no more than two reads on their way', async () => {
    const { asked, find, answer } = aStore();
    const first = find('ETH');
    await moment();
    const second = find('ETH');
    await moment();
    const third = find('ETH');
    const fourth = find('USDT');
    await moment();
    expect(asked).toEqual([['ETH'], ['ETH']]);
    answer({ ETH: 1 });
    await moment();
    expect(asked).toEqual([['ETH'], ['ETH'], ['ETH', 'USDT']]);
    answer({ ETH: 2 });
    answer({ ETH: 3, USDT: 4 });
    expect(await Promise.all([first, second, third, fourth])).toEqual([1, 2, 3, 4]);
  });

  it('fails for those who waited for the read that failed, and for nobody after', async () => {
    const { find, fail, answer } = aStore();
    const first = find('ETH');
    first.catch(() => undefined);
    await moment();
    fail();
    await expect(first).rejects.toThrow('away');
    const second = find('ETH');
    await moment();
    answer({ ETH: 5 });
    expect(await second).toBe(5);
  });

  it('reads each key by itself after a failure that says something about one of them, and not while the database is away', async () => {
    const asked: string[][] = [];
    const find = together<number>(async (keys) => {
      asked.push(keys);
      if (keys.includes('away')) throw Object.assign(new Error('lost'), { code: 'CONNECTION_CLOSED' });
      if (keys.includes('broken')) throw new RangeError('no such number');
      return new Map(keys.map((key) => [key, key.length]));
    });
    const answers = await Promise.allSettled([find('ETH'), find('broken'), find('USDT')]);
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(asked).toEqual([['ETH', 'broken', 'USDT'], ['ETH'], ['broken'], ['USDT']]);
    await expect(Promise.all([find('ETH'), find('away')])).rejects.toThrow('lost');
    expect(asked.slice(4)).toEqual([['ETH', 'away']]);
  });

  it('reads a key by itself once for all who asked for it', async () => {
    const asked: string[][] = [];
    const find = together<number>(async (keys) => {
      asked.push(keys);
      if (keys.includes('broken')) throw new RangeError('no such number');
      return new Map(keys.map((key) => [key, key.length]));
    });
    await Promise.allSettled([find('ETH'), find('broken'), find('ETH'), find('broken'), find('ETH')]);
    expect(asked).toEqual([['ETH', 'broken'], ['ETH'], ['broken']]);
  });

  it('keeps nobody waiting behind reads that do not answer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { asked, find, answer } = aStore();
    const stuck = [find('one')];
    await moment();
    stuck.push(find('two'));
    await moment();
    const third = find('ETH');
    await moment();
    expect(asked).toEqual([['one'], ['two']]);
    vi.advanceTimersByTime(250);
    expect(asked).toEqual([['one'], ['two'], ['ETH']]);
    // Those two end later, and make no room a second time.
    answer();
    answer();
    await Promise.all(stuck);
    const more = [find('BTC')];
    await moment();
    more.push(find('TRX'));
    await moment();
    expect(asked.slice(3)).toEqual([['BTC']]);
    answer({ ETH: 1 });
    expect(await third).toBe(1);
    expect(asked.slice(3)).toEqual([['BTC'], ['TRX']]);
    answer();
    answer();
    await Promise.all(more);
  });

  it('makes several statements of a flood of keys, none with more than 250', async () => {
    const asked: string[][] = [];
    const find = together<string>(async (keys) => {
      asked.push(keys);
      return new Map(keys.map((key) => [key, key]));
    });
    const keys = Array.from({ length: 1_100 }, (_, number) => String(number));
    expect(await Promise.all(keys.map(find))).toEqual(keys);
    expect(asked.map(({ length }) => length)).toEqual([250, 250, 250, 250, 100]);
    expect(asked.flat()).toEqual(keys);
  });
});

describe('pieces of work that are done together', () => {
  it('are each answered for in the order they were asked, however alike they are', async () => {
    const done = doneTogether(async (asked: readonly { name: string }[]) => asked.map(({ name }, at) => `${name} ${at}`), { most: 3 });
    expect(await Promise.all([done({ name: 'a' }), done({ name: 'a' }), done({ name: 'b' }), done({ name: 'c' })])).toEqual(['a 0', 'a 1', 'b 2', 'c 0']);
  });

  it('are done one by one once one of them failed all, but not where the database is away', async () => {
    const calls: string[][] = [];
    let code = '23505';
    const done = doneTogether(
      async (asked: readonly { name: string }[]) => {
        calls.push(asked.map(({ name }) => name));
        if (asked.some(({ name }) => name === 'bad')) throw Object.assign(new Error('no'), { code });
        return asked.map(({ name }) => name);
      },
      { most: 10 },
    );
    const ask = () => Promise.allSettled(['good', 'bad', 'fine'].map((name) => done({ name })));
    expect((await ask()).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(calls).toEqual([['good', 'bad', 'fine'], ['good'], ['bad'], ['fine']]);
    calls.length = 0;
    code = 'CONNECTION_CLOSED';
    expect((await ask()).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(calls).toEqual([['good', 'bad', 'fine']]);
  });
});
