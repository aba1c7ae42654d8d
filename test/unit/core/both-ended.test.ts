import { describe, expect, it } from 'vitest';
import { bothEnded } from '#shared/core/both-ended.ts';

describe('two things begun together', () => {
  it('give both answers', async () => {
    expect(await bothEnded(Promise.resolve(1), Promise.resolve('two'))).toEqual([1, 'two']);
  });

  it('fail only when neither runs any more, and as the first of them did', async () => {
    let ended = false;
    let end = (): void => undefined;
    const slow = new Promise<void>((resolve) => {
      end = () => {
        ended = true;
        resolve();
      };
    });
    const failing = bothEnded(Promise.reject(new Error('first')), slow).catch((error: Error) => [error.message, ended]);
    setImmediate(() => end());
    expect(await failing).toEqual(['first', true]);
    await expect(bothEnded(Promise.resolve(), Promise.reject(new Error('second')))).rejects.toThrow('second');
    await expect(bothEnded(Promise.reject(new Error('first')), Promise.reject(new Error('second')))).rejects.toThrow('first');
  });
});
