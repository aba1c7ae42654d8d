import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { reconcile } from '#api/audit/reconcile.ts';
import type { Chain, Deps } from '#api/deps.ts';
import { runAuditNow } from '#api/operator/audit.ts';
import { freeze, showFreezes, unfreeze } from '#api/operator/freeze.ts';
import { creditFinalDeposits } from '#api/payments/credit-deposit.ts';
import { acceptShortages } from '#api/store/reconciliations.ts';
import { closedReason } from '#api/treasury/closed.ts';
import { bookOpeningBalances } from '#api/treasury/book-opening-balances.ts';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import type { ServiceError } from '#shared/core/errors.ts';
import { createApiMetrics } from '#shared/platform/metrics.ts';
import { aSentTransaction, type Books, type BooksAsset, holding, someBooks, type TestPayment } from '#test/fixtures/books.ts';
import { aTreasury } from '#test/fixtures/treasury.ts';

/** Watches the wallets from the next block on and books what they hold. */
async function openBooks(books: Books, deps: Deps): Promise<void> {
  await books.chain.mine();
  await books.db.sql`
    insert into watches (network_id, address, acked_epoch, watched_from) select network_id, address, 1, ${books.chain.height + 1} from wallets where network_id = ${books.network.id}`;
  await books.chain.mine();
  await books.chain.mine();
  expect(await bookOpeningBalances(deps)).toBeGreaterThan(0);
}

describe('the books are compared with the chain', () => {
  let books: Books;
  let payment: TestPayment;
  let deps: Deps;
  /** What the chain says before a test changes it. */
  let held: [string, bigint][];
  const metrics = createApiMetrics('test');
  beforeAll(async () => {
    books = await someBooks();
    payment = await books.aPayment();
    deps = { ...books.deps, metrics, wake: () => undefined };
    change(books.hotWallet, books.assets.ETH, 5n * 10n ** 18n);
    await openBooks(books, deps);
  });
  beforeEach(() => {
    held = [...books.onChain];
  });
  afterEach(async () => {
    books.onChain.clear();
    for (const [key, units] of held) books.onChain.set(key, units);
    await books.db.sql`delete from freezes`;
    await books.db.sql`delete from reconciliations`;
    await books.chain.mine();
  });
  afterAll(() => books.drop());

  const frozen = async () => (await books.db.sql<{ scope: string }[]>`select scope from freezes order by scope`).map((row) => row.scope);
  const change = (address: string, asset: BooksAsset, units: bigint): void => {
    const key = holding(address, asset.contract);
    books.onChain.set(key, (books.onChain.get(key) ?? 0n) + units);
  };
  /** Compares at the tip, then at the next block; answers how many scopes each froze. */
  async function twice(): Promise<number[]> {
    const first = await reconcile(deps);
    await books.chain.mine();
    return [first, await reconcile(deps)];
  }
  const call = (body: object) => ({ params: {}, query: {}, body });

  it('and nothing is frozen while they agree, deposits and fees on their way included', async () => {
    await books.chain.mine([books.chain.transfer(payment.address, books.assets.USDT, 100_000_000n)]);
    change(payment.address, books.assets.USDT, 100_000_000n);
    expect(await twice()).toEqual([0, 0]);
    await creditFinalDeposits(deps, books.network.id);
    expect([await twice(), await frozen()]).toEqual([[0, 0], []]);
    held = [...books.onChain];
    const { body } = await metrics.scrape();
    expect(body).toContain('sluice_treasury_onchain_balance{chain="ethereum",asset="USDT",wallet="deposit"} 100');
    expect(body).toContain('sluice_treasury_onchain_balance{chain="ethereum",asset="ETH",wallet="hot"} 5');
    expect(body).toContain('sluice_liabilities{chain="ethereum",asset="USDT",pool="green"} 99.5');
    expect(body).toMatch(/sluice_reconciliation_timestamp_seconds\{chain="ethereum"\} \d+/);
  });

  it('and a token whose coins are missing is frozen alone, once a later block says so too', async () => {
    change(books.hotWallet, books.assets.USDT, -1n);
    // The same block however often: a node that lags says the same.
    expect([await reconcile(deps), await reconcile(deps), await frozen()]).toEqual([0, 0, []]);
    await books.chain.mine();
    expect([await reconcile(deps), await frozen()]).toEqual([1, [`asset:${books.assets.USDT.id}`]]);
    const at = (assetId: string) => closedReason(books.deps.db.sql, { networkName: books.network.name, assetId });
    expect(await at(books.assets.USDT.id)).toContain('A14: our addresses hold 99.999999 USDT on ethereum');
    expect(await at(books.assets.USDC.id)).toBeNull();
  });

  it.each([
    ['the coin that fees are paid in', ['ETH']],
    ['several assets', ['USDT', 'USDC']],
  ] as const)('and the whole network is frozen where %s is missing', async (_name, symbols) => {
    for (const symbol of symbols) change(books.hotWallet, books.assets[symbol], -7n);
    expect([await twice(), await frozen()]).toEqual([[0, 1], [`network:${books.network.name}`]]);
    expect(await closedReason(books.deps.db.sql, { networkName: books.otherNetwork.name, assetId: books.otherUsdt.id })).toBeNull();
  });

  it('and what was missing at one block only freezes nothing, then or later', async () => {
    change(books.hotWallet, books.assets.USDT, -5n);
    expect(await reconcile(deps)).toBe(0);
    change(books.hotWallet, books.assets.USDT, 5n);
    await books.chain.mine();
    expect(await reconcile(deps)).toBe(0);
    change(books.hotWallet, books.assets.USDT, -5n);
    await books.chain.mine();
    expect([await reconcile(deps), await frozen()]).toEqual([0, []]);
  });

  it('and coins beyond the books freeze nothing, as anybody can send some', async () => {
    change(books.hotWallet, books.assets.ETH, 10n ** 18n);
    expect([await twice(), await frozen()]).toEqual([[0, 0], []]);
    expect((await metrics.scrape()).body).toContain('sluice_reconciliation_difference{chain="ethereum",asset="ETH"} 1');
  });

  it('and a chain that does not answer is neither good nor bad', async () => {
    change(books.hotWallet, books.assets.USDT, -5n);
    expect(await reconcile(deps)).toBe(0);
    await books.chain.mine();
    books.node.mute.add(books.assets.USDT.contract ?? '');
    expect([await reconcile(deps), await frozen()]).toEqual([0, []]);
    books.node.mute.clear();
    await books.chain.mine();
    expect([await reconcile(deps), await frozen()]).toEqual([1, [`asset:${books.assets.USDT.id}`]]);
  });

  it('and a token that is said to hold more than there can be is neither good nor bad, and keeps no other asset of its network from being compared', async () => {
    change(books.hotWallet, books.assets.USDC, 2n ** 256n - 1n - 100_000_000n);
    change(books.hotWallet, books.assets.ETH, -7n);
    expect([await twice(), await frozen()]).toEqual([[0, 1], [`network:${books.network.name}`]]);
    expect(await books.db.sql`select 1 from reconciliations where asset_id = ${books.assets.USDC.id}`).toEqual([]);
  });

  it('and nothing before the opening balances are booked, which the audit says by name', async () => {
    const [wallet] = await books.db.sql<{ address: string }[]>`select address from wallets where network_id = ${books.otherNetwork.id} and role = 'funding'`;
    change(wallet?.address as string, books.otherUsdt, -5n);
    await books.otherChain.mine();
    expect(await reconcile(deps)).toBe(0);
    await books.otherChain.mine();
    expect([await reconcile(deps), await frozen()]).toEqual([0, []]);
    const { data } = await runAuditNow(deps);
    const a14 = (data as { checks: { check: string; title: string; rows: object[] }[] }).checks.find((one) => one.check === 'A14');
    expect(a14?.title).toContain('USDT on sidechain: its opening balances are not booked yet');
    expect(a14?.rows).not.toContainEqual(expect.objectContaining({ network: 'sidechain' }));
  });

  it('and the audit that was asked for names what a second look shows, too: not what a node said between two blocks, nor what it does not say again', async () => {
    const chain = deps.chains.get('ethereum') as Chain;
    /** What the chain says of the hot wallet's USDT, look by look, instead of what it holds; null: no answer. */
    const audited = async (...said: (bigint | null)[]): Promise<object[] | undefined> => {
      const balance: Chain['reader']['balance'] = async (address, contract, height) => {
        if (address !== books.hotWallet || contract !== books.assets.USDT.contract) return chain.reader.balance(address, contract, height);
        const look = said.length > 1 ? said.shift() : said[0];
        if (look === null || look === undefined) throw new ChainUnavailable('no answer');
        return look;
      };
      const chains = new Map([...deps.chains, ['ethereum', { ...chain, reader: { ...chain.reader, balance } }]]);
      const { data } = await runAuditNow({ ...deps, chains });
      return (data as { checks: { check: string; rows: object[] }[] }).checks.find((one) => one.check === 'A14')?.rows;
    };
    const held = books.onChain.get(holding(books.hotWallet, books.assets.USDT.contract)) ?? 0n;
    expect(await audited(held - 7n, held)).toEqual([]);
    expect(await audited(held - 7n, held - 3n)).toMatchObject([{ symbol: 'USDT', difference: '-0.000003' }]);
    expect(await audited(held - 7n, null)).toMatchObject([{ symbol: 'USDT', difference: '-0.000007' }]);
  });

  it('and a freeze that was lifted comes back while coins are missing, unless they are accepted as lost by force', async () => {
    const scope = `asset:${books.assets.USDT.id}`;
    change(books.hotWallet, books.assets.USDT, -5n);
    expect([await twice(), await frozen()]).toEqual([[0, 1], [scope]]);
    await unfreeze(deps, call({ scope }));
    expect([await frozen(), await twice(), await frozen()]).toEqual([[], [1, 0], [scope]]);
    for (const [body, field] of [
      [{ scope, force: true }, 'reason'],
      [{ scope, force: 'yes', reason: 'x' }, 'force'],
    ] as const)
      expect(await unfreeze(deps, call(body)).catch((error: ServiceError) => error.field)).toBe(field);
    await unfreeze(deps, call({ scope, force: true, reason: 'burned by its issuer' }));
    expect([await twice(), await frozen()]).toEqual([[0, 0], []]);
    const [action] = await books.db.sql`select details from operator_actions where action = 'dispatch.unfreeze' order by id desc limit 1`;
    expect(action?.details).toEqual({
      lifted: { reason: expect.stringContaining('A14: our addresses hold 99.999995 USDT'), frozenAt: expect.any(String) },
      forced: true,
      accepted: [{ assetId: books.assets.USDT.id, shortage: '0.000005' }],
    });
    change(books.hotWallet, books.assets.USDT, -1n);
    expect([await twice(), await frozen()]).toEqual([[0, 1], [scope]]);
  });

  it('and what was accepted as lost is accepted no more once it is there again', async () => {
    const scope = `asset:${books.assets.USDT.id}`;
    change(books.hotWallet, books.assets.USDT, -5n);
    expect(await twice()).toEqual([0, 1]);
    await unfreeze(deps, call({ scope, force: true, reason: 'burned by its issuer' }));
    change(books.hotWallet, books.assets.USDT, 3n);
    expect([await twice(), await frozen()]).toEqual([[0, 0], []]);
    change(books.hotWallet, books.assets.USDT, -1n);
    expect([await twice(), await frozen()]).toEqual([[0, 1], [scope]]);
  });

  it('and a transaction of ours that nobody of us signed freezes its network, once', async () => {
    await books.chain.mine([aSentTransaction(books.hotWallet)]);
    expect([await reconcile(deps), await frozen()]).toEqual([1, [`network:${books.network.name}`]]);
    expect(await closedReason(books.deps.db.sql, { networkName: books.network.name, assetId: books.assets.USDC.id })).toContain('A15');
    expect((await showFreezes(deps)).data).toMatchObject({
      freezes: [{ scope: `network:${books.network.name}`, reason: expect.stringContaining('A15') }],
      haltedWallets: [{ network: books.network.name, role: 'hot', address: books.hotWallet, reason: expect.stringContaining('not one of ours') }],
      awaitingComparison: false,
      awaitingNetworks: [],
    });
    await unfreeze(deps, call({ scope: `network:${books.network.name}` }));
    expect([await twice(), await frozen()]).toEqual([[0, 0], []]);
    await books.chain.mine([aSentTransaction(books.hotWallet, { nonce: 1 })]);
    expect([await reconcile(deps), await frozen()]).toEqual([1, [`network:${books.network.name}`]]);
  });

  it('and a transaction that nobody of us signed is not forgotten because its network was frozen for something else', async () => {
    const scope = `network:${books.network.name}`;
    await freeze(deps, call({ scope, reason: 'maintenance' }));
    await books.chain.mine([aSentTransaction(books.hotWallet, { nonce: 2 })]);
    expect(await reconcile(deps)).toBe(0);
    await unfreeze(deps, call({ scope }));
    expect([await reconcile(deps), await frozen()]).toEqual([1, [scope]]);
    expect(await closedReason(books.deps.db.sql, { networkName: books.network.name, assetId: books.assets.USDC.id })).toContain('A15');
    await unfreeze(deps, call({ scope }));
    expect([await twice(), await frozen()]).toEqual([[0, 0], []]);
  });

  it('and a database with another history sends nothing until every chain was followed to its head since, and matches', async () => {
    const at = () => closedReason(books.deps.db.sql, { networkName: books.network.name, assetId: books.assets.USDC.id });
    const follow = (caughtUp: string) =>
      books.db.sql.unsafe(`
      insert into indexer_leases (network_id, holder, epoch, expires_at, published_height, caught_up_at)
      select network_id, 'test', 1, now() + interval '1 hour', height, sluice_now() ${caughtUp} from chain_tips
      on conflict (network_id) do update set published_height = excluded.published_height, caught_up_at = excluded.caught_up_at, expires_at = excluded.expires_at`);
    await books.otherChain.mine();
    expect(await at()).toBeNull();
    await books.db.sql`update database_epochs set history = 'another'`;
    expect(await at()).toContain('restored or taken over');
    // Nobody follows the chains; then they were followed, but before; then coins are missing.
    await reconcile(deps);
    await follow(`- interval '1 minute'`);
    await reconcile(deps);
    change(books.hotWallet, books.assets.USDT, -5n);
    await books.chain.mine();
    await follow('');
    await reconcile(deps);
    expect(await at()).toContain('restored or taken over');
    change(books.hotWallet, books.assets.USDT, 5n);
    expect([await reconcile(deps), await at()]).toEqual([0, null]);
    await books.db.sql`delete from indexer_leases`;
  });

  it('and what is frozen already keeps its first reason, and other scopes stay as they are', async () => {
    const scope = `asset:${books.assets.USDT.id}`;
    await freeze(deps, call({ scope, reason: 'by hand' }));
    await freeze(deps, call({ scope: `network:${books.otherNetwork.name}` }));
    change(books.hotWallet, books.assets.USDT, -5n);
    expect(await twice()).toEqual([0, 0]);
    expect(await books.db.sql`select scope, reason from freezes where scope = ${scope}`).toEqual([{ scope, reason: 'by hand' }]);
    await unfreeze(deps, call({ scope }));
    expect(await frozen()).toEqual([`network:${books.otherNetwork.name}`]);
    for (const unknown of ['network:nowhere', 'asset:x', `asset:${books.network.id}`, 'wallet:hot', 'network', `network:${books.network.name}:x`])
      expect([unknown, await freeze(deps, call({ scope: unknown })).catch((error: ServiceError) => error.field)]).toEqual([unknown, 'scope']);
  });

  it('and a chain that cannot be compared keeps no other one from being frozen', async () => {
    const [wallet] = await books.db.sql<{ address: string }[]>`select address from wallets where network_id = ${books.otherNetwork.id} and role = 'funding'`;
    await books.otherChain.mine([aSentTransaction(wallet?.address as string)]);
    const chain = deps.chains.get(books.network.name) as NonNullable<ReturnType<Deps['chains']['get']>>;
    const balance = () => Promise.reject(new Error('nobody foresaw this'));
    const broken = new Map([
      [books.network.name, { ...chain, reader: { ...chain.reader, balance } }],
      ...[...deps.chains].filter(([name]) => name !== books.network.name),
    ]);
    await expect(reconcile({ ...deps, chains: broken })).rejects.toThrow('nobody foresaw this');
    expect(await frozen()).toEqual([`network:${books.otherNetwork.name}`]);
    // Nor do very many transactions of one network that nobody signed hide that of another.
    await books.db.sql`delete from freezes`;
    await books.db.sql`update networks set outgoing_reviewed = 0`;
    const many = Array.from({ length: 120 }, (_, at) => aSentTransaction(books.hotWallet, { txid: `0x${String(at).padStart(64, '7')}`, nonce: 1_000 + at }));
    for (let from = 0; from < many.length; from += 40) await books.chain.mine(many.slice(from, from + 40));
    expect(await reconcile(deps)).toBe(2);
    expect(await frozen()).toEqual([books.network.name, books.otherNetwork.name].map((name) => `network:${name}`).sort());
    // A hundred of them were told of; the others are once that is lifted.
    await books.db.sql`delete from freezes`;
    expect([await reconcile(deps), await frozen()]).toEqual([1, [`network:${books.network.name}`]]);
  });

  it('and one of which nobody foresaw what its node says keeps no other from being compared', async () => {
    const chain = deps.chains.get(books.network.name) as NonNullable<ReturnType<Deps['chains']['get']>>;
    const asked = new Set<string>();
    const failing = (name: string) => {
      const balance = async () => {
        asked.add(name);
        throw new Error(`${name} is odd`);
      };
      return { ...chain, config: { ...chain.config, name }, reader: { ...chain.reader, balance } };
    };
    const chains = new Map(['one', 'other'].map((name) => [name, failing(name)]));
    await expect(reconcile({ ...deps, chains })).rejects.toThrow('one is odd');
    expect(asked).toEqual(new Set(['one', 'other']));
  });
});

describe('books that nobody paid into are compared', () => {
  let books: Books;
  let deps: Deps;
  /** What somebody else does once the node has been asked for the first balance. */
  let meanwhile: (() => Promise<void>) | undefined;
  let transactions = 0;
  beforeAll(async () => {
    books = await someBooks();
    const chains = [...books.deps.chains].map(([name, chain]) => {
      const balance: typeof chain.reader.balance = async (...of) => {
        const told = await chain.reader.balance(...of);
        const doing = meanwhile;
        meanwhile = undefined;
        await doing?.();
        return told;
      };
      return [name, { ...chain, reader: { ...chain.reader, balance } }] as const;
    });
    const transaction: Deps['db']['transaction'] = (work) => {
      transactions += 1;
      return books.db.transaction(work);
    };
    const snapshot: Deps['db']['snapshot'] = (work) => {
      transactions += 1;
      return books.db.snapshot(work);
    };
    const db: Deps['db'] = { ...books.db, transaction, snapshot };
    deps = { ...books.deps, db, chains: new Map(chains), metrics: createApiMetrics('test'), wake: () => undefined };
    hold(5n);
    await openBooks(books, deps);
    expect(await reconcile(deps)).toBe(0);
  });
  beforeEach(async () => {
    hold(5n);
    await books.db.sql`delete from freezes`;
    await books.chain.mine();
    expect(await reconcile(deps)).toBe(0);
    await books.chain.mine();
    transactions = 0;
  });
  afterAll(() => books.drop());

  const hold = (coins: bigint): void => void books.onChain.set(holding(books.hotWallet, books.assets.ETH.contract), coins);
  const suspected = async () => (await books.db.sql`select 1 from reconciliations where short_since is not null`).length;

  it('by statements that are no transaction', async () => {
    expect(await reconcile(deps)).toBe(0);
    expect(transactions).toBe(0);
    const [read] = await books.db.sql<{ height: number }[]>`select min(height) as height from reconciliations`;
    expect(read?.height).toBe(books.chain.height);
  });

  it('and what another worker misses meanwhile is not overruled by who began earlier', async () => {
    meanwhile = async () => {
      hold(4n);
      expect(await reconcile(deps)).toBe(0);
    };
    expect([await reconcile(deps), await suspected()]).toEqual([0, 1]);
    expect(transactions).toBeGreaterThan(0);
    await books.chain.mine();
    expect(await reconcile(deps)).toBe(1);
  });

  it('and what an operator accepts as lost meanwhile freezes nothing', async () => {
    hold(4n);
    expect([await reconcile(deps), await suspected()]).toEqual([0, 1]);
    await books.chain.mine();
    meanwhile = async () => {
      expect(await books.db.transaction((tx) => acceptShortages(tx, 'all'))).toHaveLength(1);
    };
    expect([await reconcile(deps), await suspected()]).toEqual([0, 0]);
  });
});

describe('on a real chain', () => {
  it('a cashout and its fees match to the unit, and coins taken without a trace stop the network', async () => {
    const treasury = await aTreasury();
    try {
      const { deps } = treasury;
      expect(await bookOpeningBalances(deps)).toBeGreaterThan(0);
      const shop = await treasury.world.aGateway();
      await treasury.earn(shop, 'USDT', '50');
      const { id } = await treasury.cashOut(shop, 'USDT', '20');
      await treasury.settleAll();
      await treasury.mine(2);
      expect([await reconcile(deps), (await treasury.world.database.sql`select status from settlements where id = ${id}`)[0]?.status]).toEqual([0, 'SETTLED']);
      const readings = await treasury.world.database.sql<
        { n: number; off: number }[]
      >`select count(*) as n, count(*) filter (where difference <> 0) as off from reconciliations`;
      expect(readings[0]).toEqual({ n: Object.keys(treasury.assets).length, off: 0 });
      const hot = treasury.wallet('hot');
      const left = (await treasury.chain.balance(hot)) - 1n;
      await treasury.chain.node.call('anvil_setBalance', [hot, `0x${left.toString(16)}`]);
      await treasury.mine();
      expect(await reconcile(deps)).toBe(0);
      await treasury.mine();
      expect(await reconcile(deps)).toBe(1);
      expect(await treasury.world.database.sql`select scope from freezes`).toEqual([{ scope: `network:${treasury.network.config.name}` }]);
      // A node that is away leaves it at that.
      const [name, chain] = [...deps.chains][0] as [string, NonNullable<ReturnType<Deps['chains']['get']>>];
      const balance = async (): Promise<never> => {
        throw new ChainUnavailable('no endpoint answers');
      };
      expect(await reconcile({ ...deps, chains: new Map([[name, { ...chain, reader: { ...chain.reader, balance } }]]) })).toBe(0);
    } finally {
      await treasury.stop();
    }
  });
});
