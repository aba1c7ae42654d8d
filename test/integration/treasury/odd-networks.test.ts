import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Chain, Deps } from '#api/deps.ts';
import { bookOpeningBalances } from '#api/treasury/book-opening-balances.ts';
import { consolidatePools } from '#api/treasury/consolidate-pools.ts';
import { explainBalances } from '#api/treasury/explain-balances.ts';
import { moveExcess } from '#api/treasury/move-excess.ts';
import { planSweeps } from '#api/treasury/plan-sweeps.ts';
import { reportFunding } from '#api/treasury/report-funding.ts';
import { watchIssuers } from '#api/treasury/watch-issuers.ts';
import { reconcile } from '#api/audit/reconcile.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { ChainUnavailable } from '#shared/chains/chain.ts';
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

describe('a network whose nodes do not answer', () => {
  let books: Books;
  let silence: PromiseWithResolvers;
  beforeAll(async () => {
    books = await someBooks();
    for (const [chain, { id }] of [
      [books.chain, books.network],
      [books.otherChain, books.otherNetwork],
    ] as const) {
      await chain.mine();
      await books.db.sql`
        insert into watches (network_id, address, acked_epoch, watched_from) select network_id, address, 1, ${chain.height + 1} from wallets where network_id = ${id}`;
      await chain.mine();
      await chain.mine();
    }
  });
  beforeEach(() => {
    silence = withResolvers();
  });
  afterAll(() => books.drop());

  /** The first network's nodes hang until the silence ends; `asked` hears of each question to the second one's. */
  const beside = (asked: (about: string) => void): Deps => {
    const [hung, well] = [...books.deps.chains] as [[string, Chain], [string, Chain]];
    const node = (answer: (about: string) => Promise<unknown>) =>
      new Proxy({}, { get: (_target, about) => (about === 'outputs' ? undefined : () => answer(String(about))) });
    const having = ([name, chain]: [string, Chain], answer: (about: string) => Promise<unknown>): [string, Chain] => {
      const wallets = {
        hot: { address: books.hotWallet, path: '' },
        funding: { address: books.hotWallet, path: '' },
        held: { address: books.hotWallet, path: '' },
      };
      return [name, { ...chain, config: { ...chain.config, wallets }, reader: node(answer) as Chain['reader'], payer: node(answer) as Chain['payer'] }];
    };
    const away = (): Promise<never> => Promise.reject(new ChainUnavailable('it is away'));
    const chains = new Map([
      having(hung, () => silence.promise.then(away)),
      having(well, (about) => {
        asked(about);
        return away();
      }),
    ]);
    return { ...books.deps, chains };
  };

  it.each<[string, (deps: Deps) => Promise<number>]>([
    ['told of when it runs low', reportFunding],
    ['tried with its tokens', watchIssuers],
    ['opened', bookOpeningBalances],
    // What was never opened is not compared.
    ['compared with its chain', (deps) => bookOpeningBalances(books.deps).then(() => reconcile(deps))],
  ])('keeps no other one from being %s', async (_, work) => {
    const asked: string[] = [];
    const pass = work(beside((about) => asked.push(about))).catch(() => 0);
    try {
      await waitFor(() => asked.length > 0, { what: 'the other network to be asked' });
    } finally {
      silence.resolve();
      await pass;
    }
  });
});

interface PromiseWithResolvers {
  promise: Promise<void>;
  resolve(): void;
}

function withResolvers(): PromiseWithResolvers {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
