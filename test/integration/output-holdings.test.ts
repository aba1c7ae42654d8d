import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { UnreadHolding } from '#api/audit/holding.ts';
import { compareHoldings } from '#api/audit/holdings.ts';
import { reconcile } from '#api/audit/reconcile.ts';
import { runAudit } from '#api/audit/run-audit.ts';
import { creditFinalDeposits } from '#api/payments/credit-deposit.ts';
import { listSpendable } from '#api/store/outputs.ts';
import { bookOpeningBalances } from '#api/treasury/book-opening-balances.ts';
import { closedReason } from '#api/treasury/closed.ts';
import { formatAmount } from '#shared/core/money.ts';
import { STRANGER, type TestPayment } from '#test/fixtures/books.ts';
import { nameOf, type Output, type OutputBooks, outputBooks } from '#test/fixtures/output-books.ts';

const BTC = 100_000_000n;

let world: OutputBooks;
let payment: TestPayment;
beforeEach(async () => {
  world = await outputBooks();
  payment = await world.aPayment();
});
afterEach(() => world.drop());

const sql = () => world.books.db.sql;
const differences = async () => (await compareHoldings(world.deps)).map((one) => formatAmount(one.difference));
const frozen = async () => (await sql()<{ scope: string }[]>`select scope from freezes`).map((row) => row.scope);
const network = () => `network:${world.books.network.name}`;
const violated = async () => (await runAudit(sql() as never)).filter((result) => result.rows.length > 0).map((result) => result.check);
/** Watches the wallets from the next block on and books what they hold. */
const open = async (): Promise<number> => {
  await world.mine();
  await world.watchWallets();
  return bookOpeningBalances(world.deps);
};
const spendable = (role: 'hot' | 'funding' | 'held') =>
  listSpendable(sql(), { networkId: world.books.network.id, address: world.wallets[role].address, pool: null });

describe('where coins are outputs the books are compared with those that we know of', () => {
  it('and agree at every step of a deposit and of a payout that spends it: seen, credited, on its way, mined, orphaned', async () => {
    expect(await open()).toBe(3);
    const { address } = payment;
    const paid = world.transaction({
      inputs: [world.foreign(2n * BTC)],
      outputs: [
        { address, rawAmount: BTC },
        { address, rawAmount: 5_000n },
        { address: STRANGER, rawAmount: 7n },
      ],
    });
    await world.mine([paid]);
    expect(await differences()).toEqual(['0']);
    await world.mine();
    await creditFinalDeposits(world.deps, world.books.network.id);
    expect(await differences()).toEqual(['0']);
    const [first, second] = paid.made as [Output, Output];
    const { spent } = await world.aPayout('hot', {
      inputs: [first, second],
      outputs: [
        { address: STRANGER, rawAmount: 40_000_000n },
        { address: world.wallets.hot.address, rawAmount: 60_000_000n },
      ],
    });
    await world.mine([spent]);
    expect(await differences()).toEqual(['0']);
    expect(await violated()).toEqual([]);
    world.books.chain.forkAt(world.books.chain.height - 1);
    for (const one of spent.made) world.onChain.delete(nameOf(one));
    for (const one of [first, second]) world.onChain.set(nameOf(one), { ...one, height: 0, coinbase: false });
    await world.mine();
    expect(await differences()).toEqual(['0']);
    await world.mine([spent]);
    const [holding] = await compareHoldings(world.deps);
    expect([formatAmount(holding?.difference as never), [...(holding?.byRole ?? [])].map(([role, coins]) => [role, formatAmount(coins)])]).toEqual([
      '0',
      [['hot', '0.6']],
    ]);
    expect(await violated()).toEqual([]);
    expect([await reconcile(world.deps), await frozen()]).toEqual([0, []]);
  });

  it('and an output that is gone without a trace freezes the network, once a later block says so too', async () => {
    await open();
    const output = await world.pay(payment.address, BTC);
    expect([await reconcile(world.deps), await differences()]).toEqual([0, ['0']]);
    world.onChain.delete(nameOf(output));
    expect([await reconcile(world.deps), await reconcile(world.deps), await frozen()]).toEqual([0, 0, []]);
    await world.mine();
    expect([await reconcile(world.deps), await frozen()]).toEqual([1, [network()]]);
    const closed = await closedReason(sql(), { networkName: world.books.network.name, assetId: world.asset.id });
    expect(closed).toContain(`A14: our addresses hold 0 BTC on ${world.books.network.name}`);
  });

  it('and what another worker misses meanwhile is not overruled by who began earlier', async () => {
    await open();
    const output = await world.pay(payment.address, BTC);
    expect(await reconcile(world.deps)).toBe(0);
    await world.mine();
    const chains = [...world.deps.chains].map(([name, chain]) => {
      const { outputs } = chain.reader;
      if (outputs === undefined) return [name, chain] as const;
      const slowly: typeof outputs = async (some) => {
        const told = await outputs(some);
        world.onChain.delete(nameOf(output));
        await world.mine();
        expect(await reconcile(world.deps)).toBe(0);
        return told;
      };
      return [name, { ...chain, reader: { ...chain.reader, outputs: slowly } }] as const;
    });
    expect(await reconcile({ ...world.deps, chains: new Map(chains) })).toBe(0);
    await world.mine();
    expect([await reconcile(world.deps), await frozen()]).toEqual([1, [network()]]);
  });

  it('and one that somebody else spent is found by his transaction, which freezes the network and halts the wallet', async () => {
    await open();
    const output = await world.pay(world.wallets.hot.address, BTC);
    await world.mine([world.transaction({ inputs: [output], outputs: [{ address: STRANGER, rawAmount: BTC - 500n }] })]);
    expect([await reconcile(world.deps), await frozen()]).toEqual([1, [network()]]);
    expect(await sql()`select role from wallets where halted_reason is not null and role <> 'deposit'`).toEqual(expect.arrayContaining([{ role: 'hot' }]));
    await world.mine();
    expect(await differences()).toEqual(['0']);
  });

  it('and one worth less than was seen is missed like one that is gone', async () => {
    await open();
    const output = await world.pay(payment.address, BTC);
    world.onChain.set(nameOf(output), { ...output, rawAmount: BTC - 1n, height: 0, coinbase: false });
    expect(await differences()).toEqual(['-0.00000001']);
  });

  it('and an output that nobody told the books of, there or gone, is nothing', async () => {
    await open();
    await world.mine([world.transaction({ inputs: [world.foreign(BTC)], outputs: [{ address: world.wallets.hot.address, rawAmount: 1_000n }] })], {
      unseen: true,
    });
    await world.mine();
    expect([await reconcile(world.deps), await differences(), await frozen()]).toEqual([0, ['0'], []]);
  });

  it('and what a block that was not applied yet has spent is neither good nor bad', async () => {
    await open();
    const output = await world.pay(payment.address, BTC);
    world.onChain.delete(nameOf(output));
    world.node.at = { height: world.books.chain.height + 1, hash: 'not applied' };
    const unread: UnreadHolding[] = [];
    expect(await compareHoldings(world.deps, (one) => unread.push(one))).toEqual([]);
    expect(unread).toMatchObject([{ symbol: 'BTC', why: { message: expect.stringContaining('which is not applied') } }]);
    expect([await reconcile(world.deps), await frozen()]).toEqual([0, []]);
    // A later block alone is no reason not to compare, as long as nothing is missing after it.
    world.onChain.set(nameOf(output), { ...output, height: 0, coinbase: false });
    expect(await differences()).toEqual(['0']);
  });

  it('and an output of a block that the node does not have yet is not missed, but a node behind what is final says nothing', async () => {
    await open();
    const behind = { height: world.books.chain.height, hash: world.books.chain.hash };
    const spent = world.transaction({ inputs: [world.foreign(BTC)], outputs: [{ address: payment.address, rawAmount: 1_000n }] });
    await world.mine([spent]);
    for (const one of spent.made) world.onChain.delete(nameOf(one));
    world.node.at = behind;
    expect(await differences()).toEqual(['0']);
    await world.mine();
    await world.mine();
    await expect(differences()).rejects.toThrow('is final');
  });

  it('and nothing is compared while the node is away, nor before the opening balances are booked', async () => {
    await world.mine();
    const unread: UnreadHolding[] = [];
    expect(await compareHoldings(world.deps, (one) => unread.push(one))).toEqual([]);
    expect(unread).toMatchObject([{ why: 'unopened' }]);
    await open();
    world.node.away = true;
    await expect(differences()).rejects.toThrow('the node is away');
    expect([await reconcile(world.deps), await frozen()]).toEqual([0, []]);
  });
});

describe('a wallet that held outputs before it was watched', () => {
  it('has them booked once and can spend them, beside those that came just before and after', async () => {
    const { hot, funding } = world.wallets;
    await world.mine(
      [
        world.transaction({
          inputs: [world.foreign(BTC)],
          outputs: [
            { address: hot.address, rawAmount: 300n },
            { address: hot.address, rawAmount: 200n },
          ],
        }),
        world.transaction({ inputs: [world.foreign(BTC)], outputs: [{ address: funding.address, rawAmount: 50n }] }),
      ],
      { unseen: true },
    );
    // Seen already, though nobody had given his word that it would be.
    await world.mine([world.transaction({ inputs: [world.foreign(BTC)], outputs: [{ address: hot.address, rawAmount: 1_000n }] })]);
    const later = world.transaction({ inputs: [world.foreign(BTC)], outputs: [{ address: hot.address, rawAmount: 4_000n }] });
    expect(await open()).toBe(3);
    await world.mine([later]);
    expect(await bookOpeningBalances(world.deps)).toBe(0);
    expect((await sql()`select raw_amount from opening_outputs order by raw_amount::numeric`).map((row) => row.rawAmount)).toEqual(['50', '200', '300']);
    expect(await differences()).toEqual(['0']);
    await world.mine();
    expect((await spendable('hot')).map((one) => one.rawAmount)).toEqual([4_000n, 1_000n, 300n, 200n]);
    expect((await spendable('funding')).map((one) => one.rawAmount)).toEqual([50n]);
    expect(await violated()).toEqual([]);
    const [before] = (await spendable('hot')).slice(-1) as [Output];
    world.onChain.delete(nameOf(before));
    expect(await differences()).toEqual(['-0.000002']);
  });

  it('is asked about again when the node is away, or has not reached the block it is watched from', async () => {
    await world.mine([world.transaction({ inputs: [world.foreign(BTC)], outputs: [{ address: world.wallets.hot.address, rawAmount: 300n }] })], {
      unseen: true,
    });
    world.node.at = { height: world.books.chain.height - 5, hash: 'long ago' };
    expect(await open()).toBe(0);
    Object.assign(world.node, { at: null, away: true });
    expect(await bookOpeningBalances(world.deps)).toBe(0);
    world.node.away = false;
    expect(await bookOpeningBalances(world.deps)).toBe(3);
    expect((await spendable('hot')).map((one) => one.rawAmount)).toEqual([300n]);
  });
});

describe('a database with another history', () => {
  it('sends nothing while bytes that it may have lost wait to spend an output of ours', async () => {
    await open();
    const output = await world.pay(world.wallets.hot.address, BTC);
    const { spent } = await world.aPayout('hot', { inputs: [output], outputs: [{ address: STRANGER, rawAmount: 1_000n }] });
    await sql()`update database_epochs set history = 'another'`;
    await reconcile(world.deps);
    await sql()`
      insert into indexer_leases (network_id, holder, epoch, expires_at, published_height, caught_up_at)
      select network_id, 'test', 1, now() + interval '1 hour', height, sluice_now() from chain_tips`;
    const at = () => closedReason(sql(), { networkName: world.books.network.name, assetId: world.asset.id });
    world.waiting.set(nameOf(output), 'f'.repeat(64));
    await reconcile(world.deps);
    expect(await at()).toContain('restored or taken over');
    // Its own bytes may wait.
    world.waiting.set(nameOf(output), spent.txid);
    await reconcile(world.deps);
    expect(await at()).toBeNull();
  });
});
