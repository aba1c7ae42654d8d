import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Chain, Deps } from '#api/deps.ts';
import { consolidatePools } from '#api/treasury/consolidate-pools.ts';
import { explainBalances } from '#api/treasury/explain-balances.ts';
import { moveExcess } from '#api/treasury/move-excess.ts';
import { planSweeps } from '#api/treasury/plan-sweeps.ts';
import { reportFunding } from '#api/treasury/report-funding.ts';
import { watchIssuers } from '#api/treasury/watch-issuers.ts';
import { type Books, someBooks } from '#test/fixtures/books.ts';

describe('a network of which nobody foresaw what is wrong with it', () => {
  let books: Books;
  beforeAll(async () => {
    books = await someBooks();
    await books.chain.mine();
    await books.otherChain.mine();
  });
  afterAll(() => books.drop());

  it.each<[string, (deps: Deps) => Promise<number>]>([
    ['swept', planSweeps],
    ['relieved of its excess', moveExcess],
    ['joined', consolidatePools],
    ['explained', explainBalances],
    ['told of when it runs low', reportFunding],
    ['tried with its tokens', watchIssuers],
  ])('keeps no other one from being %s', async (_, work) => {
    const asked = new Set<string>();
    const odd = (name: string): Chain => {
      const refuse = (): never => {
        asked.add(name);
        throw new Error(`${name} is odd`);
      };
      const config = new Proxy({}, { get: (_target, key) => (key === 'name' ? name : refuse()) });
      return new Proxy({}, { get: (_target, key) => (key === 'config' ? config : refuse()) }) as Chain;
    };
    const names = [books.network.name, books.otherNetwork.name];
    await expect(work({ ...books.deps, chains: new Map(names.map((name) => [name, odd(name)])) })).rejects.toThrow(/ is odd$/);
    expect([...asked].sort()).toEqual([...names].sort());
  });
});
