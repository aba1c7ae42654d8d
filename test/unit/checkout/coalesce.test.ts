import { expect, it } from 'vitest';
import { coalesce } from '#api/checkout/coalesce.ts';

/** A read whose end the test decides. */
function controlled() {
  const begun: { key: string; end(result: string): void; fail(): void }[] = [];
  const read = (key: string) => new Promise<string>((resolve, reject) => begun.push({ key, end: resolve, fail: () => reject(new Error(key)) }));
  const keys = (): string => begun.map((one) => one.key).join('');
  return { begun, read, keys };
}

/** Lets everything that waits for nothing else happen. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it('reads once for all who ask before a read began, and once more for all who ask while it runs', async () => {
  const { begun, read, keys } = controlled();
  const ask = coalesce(read, 9);
  const early = [ask('a'), ask('a'), ask('a')];
  await settle();
  expect(keys()).toBe('a');
  const late = [ask('a'), ask('a')];
  await settle();
  expect(keys()).toBe('a');
  begun[0]?.end('old');
  expect(await Promise.all(early)).toEqual(['old', 'old', 'old']);
  await settle();
  expect(keys()).toBe('aa');
  begun[1]?.end('new');
  expect(await Promise.all(late)).toEqual(['new', 'new']);
});

it('runs no more than so many at a time, the others in their order', async () => {
  const { begun, read, keys } = controlled();
  const ask = coalesce(read, 2);
  const asked = ['a', 'b', 'c', 'd'].map(ask);
  await settle();
  expect(keys()).toBe('ab');
  begun[1]?.end('');
  await settle();
  expect(keys()).toBe('abc');
  for (const one of begun) one.end('');
  await settle();
  expect(keys()).toBe('abcd');
  begun[3]?.end('');
  await Promise.all(asked);
});

it('gives the place of a read that failed to the next one, and tells only those who asked for it', async () => {
  const { begun, read } = controlled();
  const ask = coalesce(read, 1);
  const [failing, other] = [ask('a'), ask('b')];
  await settle();
  begun[0]?.fail();
  await expect(failing).rejects.toThrow('a');
  const again = ask('a');
  await settle();
  begun[1]?.end('well');
  await settle();
  begun[2]?.end('well again');
  expect(await Promise.all([other, again])).toEqual(['well', 'well again']);
});
