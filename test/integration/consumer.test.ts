import { createClient } from 'redis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ChainConsumer, startChainConsumer } from '#api/consumers/chain-events.ts';
import { encodeBlockMessage } from '#shared/core/block-codec.ts';
import { type BlockMessage, blockStream } from '#shared/core/chain-events.ts';
import { openStreams, type Streams } from '#shared/platform/redis-streams.ts';
import { type Books, someBooks, type TestPayment } from '#test/fixtures/books.ts';
import { assertCleanAudit } from '#test/harness/audit.ts';
import { type FreshRedis, freshRedis } from '#test/harness/redis.ts';
import { waitFor } from '#ops/dev/services/wait.ts';

const KEY = 'a-stream-key-a-stream-key-a-stream-key-a-stream';
const STREAM = blockStream('ethereum');

let books: Books;
let payment: TestPayment;
let redis: FreshRedis;
let streams: Streams;
let consumers: ChainConsumer[];

beforeEach(async () => {
  [books, redis] = await Promise.all([someBooks(), freshRedis()]);
  payment = await books.aPayment();
  // The consumer takes the lease like any worker.
  await books.db.sql`delete from consumer_leases`;
  streams = open();
  consumers = [];
  await waitFor(() => streams.problem() === null, { what: 'redis' });
});
afterEach(async () => {
  await Promise.all(consumers.map((consumer) => consumer.stop()));
  await streams.close();
  try {
    await assertCleanAudit(books.db);
  } finally {
    await Promise.all([books.drop(), redis.stop()]);
  }
});

const open = (key = KEY): Streams => openStreams({ url: redis.url, key, name: 'test', log: books.deps.log });
const consume = (holder = 'worker-1', from = streams): ChainConsumer => {
  const consumer = startChainConsumer(books.deps, from, holder);
  consumers.push(consumer);
  return consumer;
};
const publish = (message: BlockMessage): Promise<string> => streams.append(STREAM, encodeBlockMessage(message));
const built: BlockMessage[] = [];
/** The next message of the branch, remembered but not applied by the test. */
const block = (...transfers: Parameters<Books['chain']['next']>[0] & object): BlockMessage => {
  const previous = built.at(-1);
  const next = books.chain.next(transfers);
  const message =
    previous === undefined
      ? next
      : {
          ...next,
          from: previous.to + 1,
          to: previous.to + 1,
          headNumber: previous.to + 1,
          finalNumber: previous.to,
          safeNumber: previous.to,
          parentHash: previous.hash,
          sightings: next.sightings.map((sighting) => ({ ...sighting, height: previous.to + 1 })),
        };
  built.push(message);
  return message;
};
beforeEach(() => void built.splice(0));
const usdt = (units: bigint) => books.chain.transfer(payment.address, books.assets.USDT, units);
const tipIs = (message: BlockMessage) =>
  waitFor(async () => (await books.db.sql`select hash from chain_tips where network_id = ${books.network.id}`)[0]?.hash === message.hash, {
    what: `block ${message.to} to be applied`,
  });
const status = async () => (await books.db.sql`select status from payments where id = ${payment.id}`)[0]?.status;
const credited = () => waitFor(async () => (await status()) === 'SUCCESS', { what: 'the payment to be credited' });
const chainBalance = async () =>
  Number((await books.db.sql`select balance::text from ledger_accounts where kind = 'chain' and asset_id = ${books.assets.USDT.id}`)[0]?.balance ?? 0);
const rewinds = () => books.db.sql<{ epoch: number; reason: string }[]>`select epoch, reason from rewind_requests order by id`;
const redisCommand = async (command: string[]): Promise<unknown> => {
  const client = createClient({ url: redis.url });
  await client.connect();
  try {
    return await client.sendCommand(command);
  } finally {
    client.destroy();
  }
};
const pending = async () => Number(((await redisCommand(['XPENDING', STREAM, 'api'])) as [number])[0]);

describe('the chain consumer', () => {
  it('carries a deposit from the stream to the books, and acknowledges what it applied', async () => {
    consume();
    for (const message of [block(usdt(100_000_000n)), block()]) await publish(message);
    await credited();
    await waitFor(async () => (await pending()) === 0, { what: 'acknowledgement' });
    expect(await chainBalance()).toBe(-100);
    await waitFor(async () => (await books.db.sql`select 1 from credits where matured_at is not null`).length === 1, { what: 'maturity' });
  });

  it('applies a message once that was appended twice (trap F)', async () => {
    consume();
    const first = block(usdt(100_000_000n));
    await publish(first);
    await publish(first);
    const second = block();
    await publish(second);
    await publish(first);
    await publish(second);
    await credited();
    const third = block();
    await publish(third);
    await tipIs(third);
    expect(await chainBalance()).toBe(-100);
    expect(await rewinds()).toEqual([]);
  });

  it('refuses a forged message, sets it aside and goes on', async () => {
    const stranger = open('another-key-another-key-another-key-another-key');
    await waitFor(() => stranger.problem() === null, { what: 'redis' });
    const forged = block(usdt(999_000_000n));
    built.pop();
    await stranger.append(STREAM, encodeBlockMessage(forged));
    const honest = { ...block(), seq: 1 };
    await publish(honest);
    consume();
    await tipIs(honest);
    await stranger.close();
    expect(await books.db.sql`select reason from parked_messages`).toEqual([{ reason: 'its MAC is missing or wrong' }]);
    expect(await books.db.sql`select 1 from deposits`).toEqual([]);
  });

  it('refuses what it cannot read or what belongs elsewhere, sets it aside and goes on', async () => {
    const elsewhere = { ...block(usdt(5_000_000n)), network: 'sidechain' };
    built.pop();
    await streams.append(STREAM, '{"not":"a block"}');
    await streams.append(STREAM, encodeBlockMessage(elsewhere));
    const honest = { ...block(), seq: 1 };
    await publish(honest);
    consume();
    await tipIs(honest);
    expect(await books.db.sql`select count(*)::int as parked from parked_messages`).toEqual([{ parked: 2 }]);
  });

  it.each([
    ['says a time that no calendar has', { time: Number.MAX_SAFE_INTEGER }],
    ['says a time that the books cannot hold', { time: 253_402_300_800 }],
  ])('goes on behind a block of which a node %s', async (_, told) => {
    const honest = block();
    await streams.append(STREAM, JSON.stringify({ ...JSON.parse(encodeBlockMessage(honest)), ...told }));
    await publish(honest);
    consume();
    await tipIs(honest);
    expect(await books.db.sql`select count(*)::int as parked from parked_messages`).toEqual([{ parked: 1 }]);
  });

  it('asks the indexer to start again when messages were trimmed before it read them (trap G)', async () => {
    const first = block();
    await publish(first);
    consume();
    await tipIs(first);
    await consumers.pop()?.stop();
    await publish(block(usdt(100_000_000n)));
    await redisCommand(['XTRIM', STREAM, 'MAXLEN', '0']);
    await publish(block());
    consume('worker-2');
    await waitFor(async () => (await rewinds()).length === 1, { what: 'a rewind request' });
    expect(await rewinds()).toMatchObject([{ epoch: 1 }]);
    expect(await status()).toBe('PENDING');
  });

  it('makes its group again in a wiped Redis and asks for what got lost there (trap G)', async () => {
    consume();
    const first = block();
    await publish(first);
    await tipIs(first);
    await consumers.pop()?.stop();
    const lost = [block(usdt(100_000_000n)), block()] as const;
    await books.db
      .sql`insert into indexer_leases (network_id, holder, epoch, expires_at, published_height) values (${books.network.id}, 'indexer', 1, now(), ${lost[1].to})`;
    await redis.flush();
    consume('worker-2');
    await waitFor(async () => (await rewinds()).length > 0, { what: 'a rewind request' });
    expect(await rewinds()).toMatchObject([{ epoch: 1, reason: expect.stringContaining(`published up to block ${lost[1].to}`) }]);
    for (const [index, message] of lost.entries()) await publish({ ...message, epoch: 2, seq: index + 1 });
    await credited();
    expect(await chainBalance()).toBe(-100);
  });

  it('hands over what a dead worker had read and never acknowledged', async () => {
    const dead = streams.reader(STREAM, 'api', 'consumer');
    await dead.read();
    for (const message of [block(usdt(100_000_000n)), block()]) await publish(message);
    await waitFor(async () => (await dead.read()).length > 0, { what: "the dead worker's read" });
    await dead.close();
    consume();
    await credited();
    await waitFor(async () => (await pending()) === 0, { what: 'acknowledgement' });
  });

  it('is one worker at a time, and another as soon as that one stops', async () => {
    const holder = async () =>
      (await books.db.sql`select holder from consumer_leases where network_id = ${books.network.id} and expires_at > clock_timestamp()`)[0]?.holder;
    const first = consume('worker-1');
    await waitFor(async () => (await holder()) === 'worker-1', { what: 'the lease' });
    const second = open();
    consume('worker-2', second);
    for (const message of [block(usdt(100_000_000n)), block()]) await publish(message);
    await credited();
    expect(await holder()).toBe('worker-1');
    await first.stop();
    await waitFor(async () => (await holder()) === 'worker-2', { what: 'the handover' });
    const later = block();
    await publish(later);
    await tipIs(later);
    await consumers.pop()?.stop();
    await second.close();
  });
});
