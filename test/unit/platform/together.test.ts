import { describe, expect, it } from 'vitest';
import { together } from '#shared/platform/together.ts';

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
});
