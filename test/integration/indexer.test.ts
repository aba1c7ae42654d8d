import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { encodeBlockMessage } from '#shared/core/block-codec.ts';
import { blockStream } from '#shared/core/chain-events.ts';
import { indexerChannel } from '#shared/platform/redis-streams.ts';
import type { Deployable } from '#test/harness/deployables.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { anIndexerWorld, type IndexerWorld } from './indexer-world.ts';

const BOB = '0x0000000000000000000000000000000000000b0b';

const ready = async (opsUrl: string): Promise<{ status: number; checks: Record<string, string> }> => {
  const response = await fetch(`${opsUrl}/readyz`);
  return { status: response.status, checks: ((await response.json()) as { checks: Record<string, string> }).checks };
};

/** An address nobody used before. */
let made = 0;
const anAddress = (): string => `0x${(0xa11ce00000 + made++).toString(16).padStart(40, '0')}`;

const published = async (world: IndexerWorld): Promise<number> =>
  (await world.database.sql<{ height: number | null }[]>`select published_height as height from indexer_leases`)[0]?.height ?? -1;

async function watching(world: IndexerWorld): Promise<string> {
  const address = anAddress();
  await world.watch(address);
  await world.watched(address);
  return address;
}

describe('one network, from the first start', () => {
  let world: IndexerWorld;
  let indexer: Deployable;
  beforeAll(async () => {
    world = await anIndexerWorld({ blocksToFinal: 3, blocks: 20 });
    world.startConsumer();
    indexer = await world.start();
  });
  afterAll(() => world.stop());

  it('begins at the final block, so that nothing earlier is scanned, and follows to the head', async () => {
    const { height } = await world.caughtUp();
    const [first] = await world.database.sql<{ height: number }[]>`select min(height) as height from chain_blocks where network_id = ${world.networkId}`;
    expect(first?.height).toBe(height - 2);
    expect((await world.tip())?.finalHeight).toBe(height - 2);
  });

  it('publishes one message per block near the head, each following the one before', async () => {
    for (let i = 0; i < 4; i++) {
      await world.chain.mine();
      await world.caughtUp();
    }
    const reader = world.streams.reader(blockStream('ethereum'), 'test', 'test');
    // The first read finds no group and makes it.
    const entries = await waitFor(async () => await reader.read().then((found) => (found.length > 0 ? found : undefined)), { what: 'the stream to be read' });
    await reader.close();
    const messages = entries.map(
      (entry) => JSON.parse(entry.forged ? '{}' : entry.payload) as { seq: number; from: number; to: number; parentHash: string; hash: string },
    );
    expect(messages.length).toBeGreaterThan(5);
    expect(messages.map((message) => message.seq)).toEqual(messages.map((_, i) => i + 1));
    for (const [i, message] of messages.entries()) {
      expect(message.from).toBe(message.to);
      if (i > 0) expect(message.parentHash).toBe(messages[i - 1]?.hash);
    }
  });

  it('reports itself caught up only about the head it published, and says so again between blocks', async () => {
    const { height } = await world.caughtUp();
    const lease = await waitFor(
      async () =>
        (
          await world.database.sql<
            { at: Date }[]
          >`select caught_up_at as at from indexer_leases where caught_up_at is not null and published_height = ${height}`
        )[0],
      { what: 'the indexer to be caught up' },
    );
    expect(lease.at.getTime()).toBeLessThanOrEqual(Date.now() + 1_000);
    await waitFor(async () => (await world.database.sql`select 1 from indexer_leases where caught_up_at > ${lease.at}`).length === 1, {
      what: 'the caught-up time to move without a block',
    });
  });

  it('acknowledges an address although no block comes, and sees everything from that height on', async () => {
    const { height } = await world.caughtUp();
    const alice = anAddress();
    await world.watch(alice);
    world.streams.nudge(indexerChannel('ethereum'));
    expect(await world.watched(alice)).toBe(height + 1);
    const txid = await world.chain.payAndMine(alice, null, 5n);
    await world.caughtUp();
    expect(await world.sightings()).toMatchObject([
      { kind: 'native', txid, ordinal: 0, height: height + 1, recipient: alice, rawAmount: '5', canonical: true },
    ]);
  });

  it('finds an address by its state when every nudge is lost', async () => {
    await watching(world);
  });

  it('matches coins, tokens and our own transactions at both ends, each movement once', async () => {
    const { chain } = world;
    const alice = await watching(world);
    await world.watch(chain.faucet);
    await world.watched(chain.faucet);
    const coin = await chain.pay(alice, null, 1n);
    const token = await chain.pay(alice, chain.tokens.USDT, 2n);
    const elsewhere = await chain.pay(BOB, chain.tokens.USDC, 3n);
    await chain.mine();
    const { height } = await world.caughtUp();
    const seen = (await world.sightings())
      .filter((one) => one.height === height)
      .map(({ kind, txid, recipient, rawAmount }) => ({ kind, txid, recipient, rawAmount }));
    const sent = (txid: string) => ({ kind: 'sent', txid, recipient: null, rawAmount: null });
    expect(seen).toHaveLength(6);
    expect(seen).toEqual(
      expect.arrayContaining([
        { kind: 'native', txid: coin, recipient: alice, rawAmount: '1' },
        sent(coin),
        { kind: 'token', txid: token, recipient: alice, rawAmount: '2' },
        sent(token),
        { kind: 'token', txid: elsewhere, recipient: BOB, rawAmount: '3' },
        sent(elsewhere),
      ]),
    );
  });

  it('shows the head, the last block, the leader and the state in its metrics', async () => {
    const { height } = await world.caughtUp();
    const response = await fetch(`${indexer.opsUrl}/metrics`);
    expect(response.headers.get('content-type')).toContain('text/plain');
    const text = await response.text();
    expect(text).toContain(`sluice_indexer_processed_block{chain="ethereum"} ${height}`);
    expect(text).toContain(`sluice_indexer_head_block{chain="ethereum"} ${height}`);
    expect(text).toContain('sluice_indexer_leader{chain="ethereum"} 1');
    expect(text).toContain('sluice_indexer_state{chain="ethereum",state="tailing"} 1');
  });

  it('ends at a SIGTERM and frees the network at once; what happens meanwhile is read in ranges, every deposit once', async () => {
    const { chain } = world;
    const alice = await watching(world);
    process.kill(indexer.pid, 'SIGTERM');
    expect(await indexer.exited).toEqual({ code: 0, signal: null });
    expect(await world.database.sql`select 1 from indexer_leases where expires_at > clock_timestamp()`).toHaveLength(0);

    const txids: string[] = [];
    for (let i = 0; i < 5; i++) {
      txids.push(await chain.payAndMine(alice, i % 2 === 0 ? null : chain.tokens.USDT, BigInt(i + 1)));
      await chain.mine(150);
    }
    const before = await world.tip();
    await world.start();
    await world.caughtUp();
    const found = (await world.sightings()).filter((one) => one.recipient === alice && one.kind !== 'sent');
    expect(found.map((one) => one.txid)).toEqual(txids);
    const [stored] = await world.database.sql<
      { blocks: number }[]
    >`select count(*) as blocks from chain_blocks where network_id = ${world.networkId} and height > ${before?.height ?? 0}`;
    expect(stored?.blocks).toBeLessThan(20);
  });
});

describe('a reorganisation above final', () => {
  let world: IndexerWorld;
  let indexer: Deployable;
  beforeAll(async () => {
    world = await anIndexerWorld({ blocksToFinal: 10, blocks: 14 });
    world.startConsumer();
    indexer = await world.start();
  });
  afterAll(() => world.stop());

  const sightingsOf = async (address: string) => (await world.sightings()).filter((one) => one.recipient === address);

  for (const depth of [1, 3]) {
    it(`of depth ${depth} that drops a deposit takes its sighting back`, async () => {
      const { chain } = world;
      const alice = await watching(world);
      const txid = await chain.payAndMine(alice, null, 5n);
      await chain.mine(depth - 1);
      await world.caughtUp();
      await chain.reorg(depth);
      await world.caughtUp();
      expect(await sightingsOf(alice)).toMatchObject([{ txid, canonical: false }]);
    });

    it(`of depth ${depth} that mines a deposit elsewhere leaves exactly one of it`, async () => {
      const { chain } = world;
      const alice = await watching(world);
      const txid = await chain.payAndMine(alice, null, 5n);
      await chain.mine(depth - 1);
      await world.caughtUp();
      const raw = await chain.node.call<string>('eth_getRawTransactionByHash', [txid]);
      await chain.reorg(depth, [{ transaction: raw, block: depth - 1 }]);
      await world.caughtUp();
      const height = await chain.node.height();
      const all = await sightingsOf(alice);
      expect(all.filter((one) => one.canonical)).toMatchObject([{ txid, height }]);
      expect(all.filter((one) => !one.canonical)).toHaveLength(1);
    });
  }

  it('to a chain that is shorter is followed as soon as that grows again', async () => {
    const { chain } = world;
    const alice = await watching(world);
    const undo = await chain.snapshot();
    await chain.payAndMine(alice, null, 5n);
    await chain.mine(1);
    await world.caughtUp();
    await undo();
    const txid = await chain.payAndMine(alice, null, 6n);
    await world.caughtUp();
    expect((await sightingsOf(alice)).filter((one) => one.canonical)).toMatchObject([{ txid, rawAmount: '6' }]);
  });

  it('while the indexer is down is found at its start, from the blocks the consumer remembers', async () => {
    const { chain } = world;
    const alice = await watching(world);
    await chain.payAndMine(alice, null, 5n);
    await chain.mine(2);
    await world.caughtUp();
    await indexer.kill();
    await chain.reorg(3);
    await chain.mine(2);
    await world.start();
    await world.caughtUp();
    expect((await sightingsOf(alice)).map((one) => one.canonical)).toEqual([false]);
  });
});

describe('when things go wrong', () => {
  let world: IndexerWorld;
  afterEach(() => world.stop());

  it('a reorganisation below final freezes the network and is not followed', async () => {
    world = await anIndexerWorld({ blocks: 6 });
    world.startConsumer();
    const indexer = await world.start();
    await world.caughtUp();
    await world.chain.mine(6);
    await world.caughtUp();
    await world.chain.reorg(5);
    await waitFor(async () => (await world.database.sql`select 1 from freezes where scope = 'network:ethereum'`).length === 1, {
      what: 'the network to be frozen',
    });
    await waitFor(async () => (await ready(indexer.opsUrl)).checks['chain:ethereum']?.includes('was final'), { what: 'the reason to be shown' });
  });

  it.each(['publish.before', 'publish.after#3'])('a SIGKILL at %s loses and doubles nothing', async (point) => {
    world = await anIndexerWorld();
    const { chain } = world;
    world.startConsumer();
    const alice = anAddress();
    await world.watch(alice);
    const doomed = await world.start({ crashAt: point, untilReady: false });
    // Blocks come until it has published enough, however late it starts.
    await waitFor(
      async () => {
        await chain.mine();
        return !doomed.running();
      },
      { what: 'the indexer to end', timeoutMs: 60_000 },
    );
    await world.start();
    await world.watched(alice);
    const txids: string[] = [];
    for (let i = 0; i < 3; i++) txids.push(await chain.payAndMine(alice, null, BigInt(i + 1)));
    await world.caughtUp();
    expect((await world.sightings()).map((one) => one.txid)).toEqual(txids);
  });

  it('a range that ended a process is read by halves from then on, down to single blocks, whoever reads it', async () => {
    world = await anIndexerWorld({ blocks: 1 });
    const { chain, database, networkId } = world;
    world.startConsumer();
    await world.start();
    await world.caughtUp();
    await world.stopIndexers();
    const left = async () => (await database.sql`select reading from indexer_leases where network_id = ${networkId}`)[0]?.reading as Left | null;
    expect(await left(), 'a stop in good order leaves nothing').toBeNull();
    await chain.mine(5);
    const died: (Left | null)[] = [];
    for (let life = 0; life < 4; life++) {
      const doomed = await world.start({ crashAt: 'publish.before', untilReady: false });
      await doomed.exited;
      died.push(await left());
    }
    const [first] = died as [Left];
    expect(died.map((unit) => unit && unit.to - unit.from + 1)).toEqual([4, 2, 1, 1]);
    expect(died.map((unit) => unit?.from)).toEqual(died.map(() => first.from));
    expect(died.map((unit) => unit?.deaths)).toEqual([0, 0, 0, 1]);
    await world.start();
    await world.caughtUp();
  });

  it('an emptied Redis loses no acknowledgement and no block that was published and not applied yet', async () => {
    world = await anIndexerWorld();
    const { chain } = world;
    const consumer = world.startConsumer();
    await world.start();
    const alice = await watching(world);
    await world.caughtUp();
    await consumer.stop();
    const bob = anAddress();
    await world.watch(bob);
    const txids: string[] = [];
    for (let i = 0; i < 3; i++) txids.push(await chain.payAndMine(alice, null, BigInt(i + 1)));
    const head = await chain.node.height();
    await waitFor(async () => (await published(world)) === head, { what: 'the blocks to be published' });
    await world.redis.flush();
    world.startConsumer();
    await world.caughtUp();
    await world.watched(bob);
    expect((await world.sightings()).map((one) => one.txid)).toEqual(txids);
  });

  it('a second indexer takes over from one that was killed, and neither doubles the other', async () => {
    world = await anIndexerWorld();
    const { chain } = world;
    world.startConsumer();
    const first = await world.start();
    const alice = await watching(world);
    await world.caughtUp();
    const second = await world.start({ untilReady: false });
    await waitFor(async () => (await ready(second.opsUrl)).checks['chain:ethereum']?.startsWith('standby'), { what: 'the second to stand by' });
    expect((await ready(second.opsUrl)).status).toBe(200);
    const txids = [await chain.payAndMine(alice, null, 1n)];
    await world.caughtUp();
    await first.kill();
    txids.push(await chain.payAndMine(alice, null, 2n));
    await world.caughtUp();
    expect((await ready(second.opsUrl)).checks['chain:ethereum']).toBe('ok');
    expect((await world.sightings()).map((one) => one.txid)).toEqual(txids);
    expect((await world.tip())?.epoch).toBeGreaterThan(1);
  });

  it('a consumer that stands still lets the indexer run at most 256 messages ahead', async () => {
    world = await anIndexerWorld({ blocksToFinal: 10_000, blocks: 1 });
    await world.start();
    await world.chain.mine(300);
    // Block 0 is the first message, so 256 messages end at block 255.
    await waitFor(async () => (await published(world)) >= 255, { what: 'the indexer to run ahead', timeoutMs: 60_000 });
    await world.chain.mine(5);
    expect(await published(world)).toBe(255);
    world.startConsumer();
    await world.caughtUp();
  });

  it('the word of an indexer that was superseded is not taken, even for an address that waits', async () => {
    world = await anIndexerWorld({ blocks: 1 });
    const { sql } = world.database;
    const alice = anAddress();
    await world.watch(alice);
    await sql`insert into indexer_leases (network_id, holder, epoch, expires_at) values (${world.networkId}, 'its successor', 5, now() + interval '1 minute')`;
    const block = await world.chain.node.call<{ hash: string; parentHash: string }>('eth_getBlockByNumber', ['0x1', false]);
    const at = {
      network: 'ethereum',
      seq: 1,
      from: 1,
      to: 1,
      parentHash: block.parentHash,
      hash: block.hash,
      safeNumber: 0,
      finalNumber: 0,
      headNumber: 1,
      time: 1,
      sightings: [],
    };
    const say = (epoch: number, watchedFrom: number) =>
      world.streams.append(blockStream('ethereum'), encodeBlockMessage({ ...at, epoch, acks: [{ address: alice, watchedFrom }] }));
    await waitFor(() => say(4, 1).then(() => true), { what: 'the stream' });
    await say(5, 2);
    world.startConsumer();
    expect(await world.watched(alice)).toBe(2);
  });

  it('another chain under the same name is refused with what to do about it', async () => {
    world = await anIndexerWorld();
    await world.database.sql`update networks set genesis_hash = ${`0x${'12'.repeat(32)}`}`;
    const indexer = await world.start({ untilReady: false });
    await waitFor(async () => (await ready(indexer.opsUrl)).checks['chain:ethereum']?.includes('npm start -- --reset'), { what: 'the reason to be shown' });
    expect((await fetch(`${indexer.opsUrl}/healthz`)).status).toBe(200);
    expect(await world.tip()).toBeUndefined();
  });

  it('a node that is away makes the indexer unready with a reason, never dead, and it goes on by itself', async () => {
    world = await anIndexerWorld({ blockSeconds: 1 });
    world.startConsumer();
    const indexer = await world.start();
    const { service } = world.chain.anvil;
    process.kill(service.pid, 'SIGSTOP');
    try {
      await waitFor(async () => (await ready(indexer.opsUrl)).checks['chain:ethereum']?.includes('has not answered'), {
        what: 'the reason to be shown',
      });
      expect((await fetch(`${indexer.opsUrl}/healthz`)).status).toBe(200);
    } finally {
      process.kill(service.pid, 'SIGCONT');
    }
    await waitFor(async () => (await ready(indexer.opsUrl)).status === 200, { what: 'the indexer to be ready again' });
    const { height } = (await world.tip()) ?? { height: 0 };
    await waitFor(async () => ((await world.tip())?.height ?? 0) > height, { what: 'the next block' });
  });

  it('a Redis that takes no message makes the indexer unready with its reason, and everything is sent once it does', async () => {
    world = await anIndexerWorld();
    // Also where Redis has no room left, or became read-only, it answers and refuses.
    await world.redis.command('SET', blockStream('ethereum'), 'no stream');
    const indexer = await world.start({ untilReady: false });
    await waitFor(async () => (await ready(indexer.opsUrl)).checks['chain:ethereum']?.includes('Redis takes no message: WRONGTYPE'), {
      what: 'the reason to be shown',
    });
    await world.redis.command('DEL', blockStream('ethereum'));
    world.startConsumer();
    await world.caughtUp();
    await waitFor(async () => (await ready(indexer.opsUrl)).status === 200, { what: 'the indexer to be ready again' });
  });

  it('a node that fell far behind what was followed makes the indexer unready with a reason, until it is back', async () => {
    world = await anIndexerWorld({ blocksToFinal: 60 });
    world.startConsumer();
    const { chain } = world;
    const indexer = await world.start();
    await world.caughtUp();
    const undo = await chain.snapshot();
    await chain.mine(30);
    await world.caughtUp();
    await undo();
    await waitFor(async () => (await ready(indexer.opsUrl)).checks['chain:ethereum']?.includes('is behind block'), {
      what: 'the reason to be shown',
    });
    await chain.mine(31);
    await world.caughtUp();
    await waitFor(async () => (await ready(indexer.opsUrl)).status === 200, { what: 'the indexer to be ready again' });
  });
});

/** What a process was reading. */
interface Left {
  from: number;
  to: number;
  deaths: number;
}
