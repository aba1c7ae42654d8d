import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startRescanConsumer } from '#api/consumers/rescans.ts';
import type { ChainConsumer } from '#api/consumers/chain-events.ts';
import { insertSightings } from '#api/store/sightings.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import type { BlockMessage, Transfer } from '#shared/core/chain-events.ts';
import { type Books, someBooks, type TestPayment } from '#test/fixtures/books.ts';
import { type FlawedRpc, startFlawedRpc } from '#test/fixtures/flawed-rpc.ts';
import type { FreshDatabase } from '#test/harness/database.ts';
import { anIndexerWorld, type IndexerWorld } from './indexer-world.ts';

/** Farther behind than where reading by logs begins. */
const FAR = 1_200;
const OURS = `0x${'5a'.repeat(20)}`;

/** Says what a worker says each few seconds, for as long as a test lasts. */
const trustBooks = ({ sql }: FreshDatabase) => sql`
  with e as (update database_epochs set history = database_history(), beat_at = clock_timestamp() + interval '1 hour' returning generation)
  update networks set trusted_generation = e.generation from e`;

interface Coverage {
  from: number;
  to: number;
  found: number;
}

describe('logs suffice, as an indexer is told,', () => {
  let books: Books;
  beforeAll(async () => {
    books = await someBooks();
    await trustBooks(books.db);
  });
  afterAll(() => books.drop());

  const suffice = async () => (await books.db.as('indexer').sql<[{ told: boolean }]>`select logs_suffice(${books.network.id}) as told`)[0].told;

  it('while all that is open can be paid in tokens alone', async () => {
    const { ETH } = books.assets;
    expect(await suffice()).toBe(true);
    await books.aPayment();
    expect(await suffice()).toBe(true);
    const { id } = await books.aPayment({ moreOffers: [{ asset: ETH, total: '1', priceUsd: '100', selected: false }] });
    expect(await suffice()).toBe(false);
    await books.db.sql`update payments set status = 'EXPIRED', resolved_at = now() where id = ${id}`;
    expect(await suffice()).toBe(true);
  });

  it.each(['PLANNED', 'SIGNED', 'BROADCAST', 'REPLACING', 'INCLUDED'])('not while a payout is %s', async (status) => {
    const { sql } = books.db;
    const [payout] = await sql<[{ id: string }]>`
      insert into payouts (id, network_id, wallet_id, purpose, status, asset_id, recipient, raw_amount, plan, created_at)
      select gen_random_uuid(), network_id, id, 'sweep', ${status}, ${books.assets.USDT.id}, address, 1, '{}', now() from wallets
      where network_id = ${books.network.id} and role = 'hot' returning id`;
    expect(await suffice()).toBe(false);
    await sql`update payouts set status = 'CONFIRMED' where id = ${payout.id}`;
    expect(await suffice()).toBe(true);
  });

  it('not while nobody vouches for the books', async () => {
    await books.db.sql`update database_epochs set beat_at = clock_timestamp() - interval '2 minutes'`;
    expect(await suffice()).toBe(false);
    await trustBooks(books.db);
    await books.db.sql`update networks set trusted_generation = trusted_generation - 1`;
    expect(await suffice()).toBe(false);
  });
});

describe('a message about blocks that were read by logs', () => {
  let books: Books;
  let payment: TestPayment;
  beforeAll(async () => {
    books = await someBooks();
    payment = await books.aPayment();
    await books.chain.mine([], { acks: [{ address: payment.address, watchedFrom: 1 }] });
  });
  afterAll(() => books.drop());

  const asked = () => books.db.sql`select cause, from_height as "from", to_height as "to", finished_at is not null as done from rescans order by from_height`;
  const byLogs = (): BlockMessage => ({ ...books.chain.next(), internalUnseen: true, byLogs: true });
  /** As an inquiry does that is told of a block before the indexer comes to it. */
  const inquired = (sighting: Transfer, block: BlockMessage) =>
    books.db.transaction((tx) =>
      insertSightings(tx, books.network.id, [{ ...sighting, height: block.to, blockHash: block.hash, time: block.time, position: 0 }]),
    );
  const standing = async () => (await books.db.sql<{ kind: string }[]>`select kind from sightings where canonical order by kind`).map(({ kind }) => kind);

  it('has them read completely, each once, however often it is told', async () => {
    const first = byLogs();
    await books.chain.play(first);
    await books.chain.play(byLogs());
    await books.chain.apply(first);
    const before = [{ cause: 'logs', from: first.from, to: first.from + 1, done: false }];
    expect(await asked()).toEqual(before);
    await books.chain.mine();
    await books.chain.play(byLogs());
    expect(await asked()).toEqual([...before, { cause: 'logs', from: first.from + 3, to: first.from + 3, done: false }]);
  });

  it('joins none that an operator asked for', async () => {
    await books.db.sql`update rescans set finished_at = now()`;
    const one = byLogs();
    await books.chain.play(one);
    await books.db.sql`
      insert into rescans (id, network_id, from_height, to_height, next_height) values (gen_random_uuid(), ${books.network.id}, ${one.from}, ${one.to + 1}, ${one.from})`;
    await books.chain.play(byLogs());
    expect((await asked()).filter(({ done }) => !done)).toEqual([
      { cause: 'logs', from: one.from, to: one.to, done: false },
      { cause: 'operator', from: one.from, to: one.to + 1, done: false },
      { cause: 'logs', from: one.from + 1, to: one.to + 1, done: false },
    ]);
  });

  it('takes back no coin that logs do not tell of, and a token that they should have told of', async () => {
    const block = byLogs();
    await inquired(books.chain.transfer(payment.address, books.assets.ETH, 5n), block);
    await inquired(books.chain.transfer(payment.address, { ...books.assets.USDT, contract: `0x${'99'.repeat(20)}` }, 5n), block);
    await books.chain.play(block);
    expect(await standing()).toEqual(['native', 'token']);
    const later = byLogs();
    await inquired(books.chain.transfer(payment.address, books.assets.USDT, 5n), later);
    await books.chain.play(later);
    expect(await standing()).toEqual(['native', 'token']);
  });
});

describe('a network that is far behind, of which nothing but tokens is waited for', () => {
  let world: IndexerWorld;
  let first: FlawedRpc;
  let second: FlawedRpc;
  let rescans: ChainConsumer;

  beforeAll(async () => {
    [first, second] = await Promise.all([startFlawedRpc(), startFlawedRpc()]);
    world = await anIndexerWorld({
      configure: (network) => {
        first.target = second.target = network.rpcUrls[0] as string;
        return { ...network, rpcUrls: [first.url, second.url], catchUpByLogs: true };
      },
    });
    world.startConsumer();
    rescans = startRescanConsumer(world.deps, world.streams);
    await world.chain.mine(3);
    await world.start();
    await world.watch(OURS);
    await world.caughtUp();
    await world.watched(OURS);
    await world.stopIndexers();
  });
  afterAll(async () => {
    await rescans?.stop();
    await world?.stop();
    await Promise.all([first, second].map((one) => one?.stop()));
  });

  const coverage = () =>
    world.database.sql<Coverage[]>`
      select from_height as "from", to_height as "to", found from rescans where cause = 'logs' and finished_at is not null order by from_height`;
  const stillToRead = () => world.database.sql`select 1 from rescans where finished_at is null`;
  /** A few at a time: the node is given so long for an answer. */
  const mine = async (blocks: number) => {
    for (let left = blocks; left > 0; left -= 100) await world.chain.mine(Math.min(left, 100));
  };
  /** Many blocks with a token and a coin for us somewhere in them; answers where the token is. */
  const passes = async () => {
    await mine(FAR / 2);
    await world.chain.payAndMine(OURS, world.chain.tokens.USDT, 7_000_000n);
    const token = Number(await world.chain.node.call<string>('eth_blockNumber', []));
    await world.chain.payAndMine(OURS, null, 9n);
    await mine(FAR / 2);
    return { token };
  };
  const kindsSeen = async () => (await world.sightings()).map(({ kind, rawAmount }) => `${kind} ${rawAmount}`);

  it('is read by logs, and completely after that: every coin is seen once', async () => {
    await trustBooks(world.database);
    const { token } = await passes();
    const before = await world.tip();
    const asked = first.asked.length;
    await world.start();
    await world.caughtUp();
    expect(first.asked.slice(asked)).toContain('eth_getLogs');
    expect(second.asked).toContain('eth_getLogs');
    await waitFor(async () => (await coverage()).length > 0 && (await stillToRead()).length === 0, {
      what: 'the blocks to be read completely',
      timeoutMs: 120_000,
    });
    const covered = await coverage();
    expect(covered).toHaveLength(1);
    expect(covered[0]?.from).toBe((before?.height ?? 0) + 1);
    expect(covered[0]?.to).toBeGreaterThan(token);
    // The token was known before, the coin was not.
    expect(covered[0]?.found).toBe(1);
    expect(await kindsSeen()).toEqual(['token 7000000', 'native 9']);
    await world.stopIndexers();
  });

  it('is read completely from the first block on when the two providers tell of different logs', async () => {
    await trustBooks(world.database);
    const { token } = await passes();
    const asked = second.asked.length;
    second.flaw = 'forgetting-a-log';
    await world.start();
    await world.caughtUp();
    second.flaw = 'none';
    expect(second.asked.slice(asked)).toContain('eth_getLogs');
    expect(await kindsSeen()).toEqual(['token 7000000', 'native 9', 'token 7000000', 'native 9']);
    // What came before the log that one of them forgot was read by logs; the blocks from there on were not.
    const last = (await coverage()).at(-1);
    expect(last?.to ?? 0).toBeLessThan(token);
    await world.stopIndexers();
  });

  it('is read completely while the books are not trusted', async () => {
    await world.database.sql`update networks set trusted_generation = trusted_generation - 1`;
    await mine(FAR);
    const asked = first.asked.length;
    await world.start();
    await world.caughtUp();
    expect(first.asked.slice(asked)).not.toContain('eth_getLogs');
    await world.stopIndexers();
  });
});
