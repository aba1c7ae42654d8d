import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applyRescan } from '#api/consumers/apply-rescan.ts';
import { startRescanConsumer } from '#api/consumers/rescans.ts';
import type { ChainConsumer } from '#api/consumers/chain-events.ts';
import { rescanNetwork, showRescans } from '#api/operator/rescan.ts';
import { creditFinalDeposits } from '#api/payments/credit-deposit.ts';
import { bookOpeningBalances } from '#api/treasury/book-opening-balances.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import type { BlockMessage, Transfer } from '#shared/core/chain-events.ts';
import type { ServiceError } from '#shared/core/errors.ts';
import { type Books, holding, someBooks, type TestPayment } from '#test/fixtures/books.ts';
import { assertCleanAudit } from '#test/harness/audit.ts';
import { anIndexerWorld, type IndexerWorld } from './indexer-world.ts';

interface Rescan {
  next: number;
  found: number;
  problem: string | null;
  finishedAt: Date | null;
}

describe('blocks that are read again', () => {
  let books: Books;
  let payment: TestPayment;
  beforeAll(async () => {
    books = await someBooks();
    payment = await books.aPayment();
    // The wallets held coins in a block before anybody watched them, which their opening balance says.
    books.onChain.set(holding(books.hotWallet, null), 5n * 10n ** 18n);
    await books.chain.mineEmpty(3);
    await books.db.sql`
      insert into watches (network_id, address, acked_epoch, watched_from) select network_id, address, 1, ${books.chain.height + 1} from wallets where network_id = ${books.network.id}`;
    await books.chain.mineEmpty(2);
    expect(await bookOpeningBalances(books.deps)).toBeGreaterThan(0);
    await books.chain.mineEmpty(4);
  });
  afterAll(() => books.drop());

  const ask = (from: number, to: number) => rescanNetwork(books.deps, { params: { network: books.network.name }, query: {}, body: { from, to } });
  const latest = async () =>
    ((await showRescans(books.deps, { params: { network: books.network.name }, query: {}, body: null })).data as { items: Rescan[] }).items[0];
  const blockAt = (height: number): BlockMessage => books.chain.branch.find((one) => one.to === height) as BlockMessage;
  /** What the indexer says of a block that was applied without these. */
  const again = (height: number, transfers: Transfer[]): BlockMessage => {
    const block = blockAt(height);
    const sightings = transfers.map((one) => ({ ...one, height, blockHash: block.hash, position: 0, time: block.time }));
    return { ...block, sightings };
  };
  const apply = (message: BlockMessage) => applyRescan(books.deps, books.network, message);
  const balance = async (kind: string) =>
    (await books.db.sql<{ balance: string }[]>`select coalesce(sum(balance), 0)::text as balance from ledger_accounts where kind = ${kind}`)[0]?.balance;

  it('bring in what was missed, once, however often and by however many it is told', async () => {
    const height = books.chain.height - 3;
    await ask(height, height);
    const message = again(height, [books.chain.transfer(payment.address, books.assets.USDT, 100_000_000n)]);
    const outcomes = (await Promise.all([apply(message), apply(message), apply(message)])).map((one) => one.outcome);
    expect(outcomes.sort()).toEqual(['applied', 'dropped', 'dropped']);
    expect(await latest()).toMatchObject({ next: height + 1, found: 1, finishedAt: expect.any(Date) });
    expect(await creditFinalDeposits(books.deps, books.network.id)).toBe(1);
    await ask(height, height);
    expect(await apply(message)).toMatchObject({ outcome: 'applied', found: 0 });
    expect([await creditFinalDeposits(books.deps, books.network.id), await balance('pending')]).toEqual([0, '99.5']);
    await assertCleanAudit(books.db);
  });

  it('bring in nothing that an opening balance has in it', async () => {
    const first = books.chain.branch[0] as BlockMessage;
    await ask(first.to, first.to);
    const capital = await balance('capital');
    const message = again(first.to, [books.chain.transfer(books.hotWallet, books.assets.ETH, 5n * 10n ** 18n)]);
    expect(await apply(message)).toMatchObject({ outcome: 'applied', found: 0 });
    expect(await balance('capital')).toBe(capital);
  });

  it('bring in nothing that an opening balance will have in it, of a token that was configured since', async () => {
    const contract = `0x${'e1'.repeat(20)}`;
    await books.db.sql`
      insert into assets (id, network_id, symbol, name, type, contract, decimals)
      values (${randomUUID()}, ${books.network.id}, 'NEW', 'New', 'ERC20', ${contract}, 6)`;
    const height = books.chain.height - 3;
    await ask(height, height);
    const message = again(height, [books.chain.transfer(books.hotWallet, { ...books.assets.USDT, contract }, 7_000_000n)]);
    expect(await apply(message)).toMatchObject({ outcome: 'applied', found: 0 });
  });

  it('bring in coins that were put into a wallet later, once', async () => {
    const capital = Number(await balance('capital'));
    const later = new Date(Date.now() + 3_600_000);
    await books.chain.mine([], { time: later });
    const { height } = books.chain;
    await books.chain.mine([], { time: later });
    await books.chain.mine([], { time: later });
    await ask(height, height);
    const message = again(height, [books.chain.transfer(books.hotWallet, books.assets.ETH, 10n ** 18n)]);
    expect([(await apply(message)).outcome, (await apply(message)).outcome]).toEqual(['applied', 'dropped']);
    expect(Number(await balance('capital'))).toBe(capital + 1);
    await assertCleanAudit(books.db);
  });

  it('are refused when they contradict what was applied, and said to be', async () => {
    const height = books.chain.height - 2;
    await ask(height, height);
    const message = { ...again(height, [books.chain.transfer(payment.address, books.assets.USDT, 7n)]), hash: `0x${'ab'.repeat(32)}` };
    expect(await apply(message)).toMatchObject({ outcome: 'refused' });
    expect(await latest()).toMatchObject({ next: height, problem: expect.stringContaining(`another block ${height}`), finishedAt: null });
    expect((await apply(again(height, []))).outcome).toBe('applied');
    expect(await latest()).toMatchObject({ problem: null, finishedAt: expect.any(Date) });
  });

  it('hold up no others while they contradict what was applied', async () => {
    const [held, height] = [books.chain.height - 2, books.chain.height - 3];
    await ask(held, held);
    expect(await apply({ ...again(held, []), hash: `0x${'ab'.repeat(32)}` })).toMatchObject({ outcome: 'refused' });
    await ask(height, height);
    expect(await apply(again(height, []))).toMatchObject({ outcome: 'applied' });
    expect((await apply(again(held, []))).outcome).toBe('applied');
  });

  it('count, and announce, what a fork had taken away and they bring back', async () => {
    const height = books.chain.height - 3;
    const { id, address } = await books.aPayment();
    const message = again(height, [books.chain.transfer(address, books.assets.USDT, 3_000_000n)]);
    await ask(height, height);
    expect(await apply(message)).toMatchObject({ outcome: 'applied', found: 1, paymentIds: [id] });
    await books.db.sql`update sightings set canonical = false where recipient = ${address}`;
    await ask(height, height);
    expect(await apply(message)).toMatchObject({ outcome: 'applied', found: 1, paymentIds: [id] });
    await ask(height, height);
    expect(await apply(message)).toMatchObject({ outcome: 'applied', found: 0, paymentIds: [] });
    await assertCleanAudit(books.db);
  });

  it('are listed before all that are done', async () => {
    const height = books.chain.height - 2;
    await ask(height, height);
    await books.db.sql`
      insert into rescans (id, network_id, from_height, to_height, next_height, requested_at, finished_at)
      select gen_random_uuid(), ${books.network.id}, 1, 1, 2, sluice_now() + interval '1 hour', sluice_now() from generate_series(1, 60)`;
    expect(await latest()).toMatchObject({ next: height, finishedAt: null });
    await books.db.sql`delete from rescans where requested_at > sluice_now()`;
    await apply(again(height, []));
  });

  it('can only be final ones, of a network that is served', async () => {
    const tip = books.chain.height;
    const codes = await Promise.all(
      [ask(tip, tip), ask(5, 4), ask(-1, 3), rescanNetwork(books.deps, { params: { network: 'mars' }, query: {}, body: { from: 1, to: 1 } })].map((asked) =>
        asked.then(
          () => 'taken',
          (error: ServiceError) => error.field ?? error.code,
        ),
      ),
    );
    expect(codes).toEqual(['to', 'to', 'from', 'not_found']);
  });
});

describe('a rescan through the indexer', () => {
  let world: IndexerWorld;
  let consumer: ChainConsumer;
  const address = '0x00000000000000000000000000000000000000d1';
  const rescan = async (from: number, to: number): Promise<Rescan> => {
    const id = randomUUID();
    await world.database
      .sql`insert into rescans (id, network_id, from_height, to_height, next_height) values (${id}, ${world.networkId}, ${from}, ${to}, ${from})`;
    return waitFor(
      async () => {
        const [row] = await world.database.sql<Rescan[]>`select next_height as next, found::int, problem, finished_at from rescans where id = ${id}`;
        return row?.finishedAt != null && row;
      },
      { what: 'the rescan to be done' },
    );
  };
  beforeAll(async () => {
    world = await anIndexerWorld();
    world.startConsumer();
    consumer = startRescanConsumer({ ...world.deps, announce: () => undefined }, world.streams);
    await world.start();
    await world.watch(address);
    await world.watched(address);
  });
  afterAll(async () => {
    await consumer.stop();
    await world.stop();
  });

  it('finds what is not in the books and leaves what is, beside following the head; one that nobody serves waits for the next indexer', async () => {
    await world.chain.payAndMine(address, null, 10n);
    await world.chain.payAndMine(address, null, 20n);
    await world.chain.mine(150);
    const { height } = await world.caughtUp();
    await world.database.sql`delete from sightings where raw_amount = 10`;
    const first = height - 151;
    const [done] = await Promise.all([rescan(first, height - 2), world.chain.mine(3)]);
    expect(done).toMatchObject({ next: height - 1, found: 1, problem: null });
    expect((await world.sightings()).map((one) => one.rawAmount)).toEqual(['10', '20']);
    await world.caughtUp();
    const indexers = await world.stopIndexers();
    expect(indexers).toBe(1);
    const waiting = rescan(first, height - 2);
    await world.start();
    expect(await waiting).toMatchObject({ found: 0 });
  });

  it('waits for none that no node can read, and whose row says why', async () => {
    const { height } = await world.caughtUp();
    const [unread] = await world.database.sql<[{ id: string }]>`
      insert into rescans (id, network_id, from_height, to_height, next_height, requested_at)
      values (gen_random_uuid(), ${world.networkId}, 1000000, 1000001, 1000000, sluice_now() - interval '1 day') returning id`;
    expect(await rescan(height - 3, height - 2)).toMatchObject({ problem: null });
    const problem = async () => (await world.database.sql<Rescan[]>`select problem from rescans where id = ${unread.id}`)[0]?.problem;
    await waitFor(async () => (await problem()) !== null, { what: 'its problem to be told', timeoutMs: 60_000 });
    expect(await problem()).toMatch(/1000000|block/);
  });
});
