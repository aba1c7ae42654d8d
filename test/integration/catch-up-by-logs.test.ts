import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startRescanConsumer } from '#api/consumers/rescans.ts';
import type { ChainConsumer } from '#api/consumers/chain-events.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { type Books, someBooks } from '#test/fixtures/books.ts';
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
