import { expect } from 'vitest';
import { waitFor } from '#ops/dev/services/wait.ts';
import { encodeBlockMessage } from '#shared/core/block-codec.ts';
import { blockStream } from '#shared/core/chain-events.ts';
import { paceOf } from '#shared/chains/endpoint-health.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Flaw } from '#test/fixtures/flawed-rpc.ts';
import { times } from '#test/harness/counts.ts';
import type { Random } from '#test/simulation/random.ts';
import { CREDIT_BLOCKS, FINAL_BLOCKS, type Offered, type Paid, type River } from './river.ts';
import { signedBy, stranger } from '#test/harness/sign-as.ts';

/** A row about the way from the chain to the books. */
export interface RiverRow {
  row: string;
  name: string;
  /** It leaves behind what no other row should start with. */
  own?: true;
  /** It means to freeze something. */
  freezes?: true;
  play(river: River, random: Random): Promise<void>;
}

const STREAM = blockStream('ethereum');

/** Mines the transfers, a few in each block. */
export async function mineSome(river: River, offers: Parameters<River['send']>[0], random: Random): Promise<Paid[]> {
  const paid: Paid[] = [];
  for (let at = 0; at < offers.length; ) {
    const next = offers.slice(at, at + 1 + random.below(3));
    paid.push(...(await river.send(next)));
    await river.chain.mine(1 + random.below(2));
    at += next.length;
  }
  return paid;
}

async function published(river: River): Promise<number> {
  return (await river.world.database.sql<{ height: number | null }[]>`select published_height as height from indexer_leases`)[0]?.height ?? -1;
}

async function allPublished(river: River): Promise<void> {
  const head = await river.chain.node.height();
  await waitFor(async () => (await published(river)) === head, { what: 'the blocks to be published' });
}

/** No process lives long enough to give its lease up: whoever comes next waits no longer than for a lease that ran out. */
async function leaseRunsOut(river: River): Promise<void> {
  await river.world.database.sql`update indexer_leases set expires_at = clock_timestamp() - interval '1 second'`;
}

/** Signed transactions of the last blocks, oldest first. */
async function rawOf(river: River, paid: readonly Paid[]): Promise<string[]> {
  return Promise.all(paid.map(({ txid }) => river.chain.node.call<string>('eth_getRawTransactionByHash', [txid])));
}

async function frozen(river: River): Promise<string[]> {
  return (await river.world.database.sql<{ scope: string }[]>`select scope from freezes`).map(({ scope }) => scope);
}

export const RIVER_ROWS: readonly RiverRow[] = [
  {
    row: 'F19',
    name: 'an indexer that is killed in the middle of a block: its successor goes on from the books, misses nothing and doubles nothing',
    async play(river, random) {
      const offers = await river.offers(6, random);
      await river.stopIndexer();
      const point = random.pick(['publish.before', 'publish.after']);
      const doomed = await river.spawnIndexer({ untilReady: false, crashAt: `${point}#${1 + random.below(4)}` });
      let dead = false;
      void doomed.exited.then(() => {
        dead = true;
      });
      const paid: Paid[] = [];
      for (const offer of offers.slice(0, 4)) {
        paid.push(...(await river.send([offer])));
        await river.chain.mine();
      }
      await waitFor(
        async () => {
          if (!dead) await river.chain.mine();
          return dead;
        },
        { what: 'the indexer to die', everyMs: 300 },
      );
      paid.push(...(await mineSome(river, offers.slice(4), random)));
      await leaseRunsOut(river);
      river.startIndexer();
      await river.expectCredited(paid);
    },
  },
  {
    row: 'F20',
    name: 'of two indexers one writes: what the one that was overtaken still says is not taken',
    async play(river, random) {
      const offers = await river.offers(4, random);
      const paid = await mineSome(river, offers.slice(0, 2), random);
      await river.caughtUp();
      const before = (await river.tip()) as NonNullable<Awaited<ReturnType<River['tip']>>>;
      const { sql } = river.world.database;
      // Somebody takes over while it stands still, with a sentence on its lips that would fit.
      await sql`update indexer_leases set holder = 'its successor', epoch = epoch + 1, expires_at = clock_timestamp() + interval '1 second'`;
      const [made] = offers.slice(2) as [Offered];
      const invented = { height: before.height + 1, hash: `0x${'ab'.repeat(32)}`, time: Math.floor(Date.now() / 1_000) };
      const transfer = {
        kind: 'token',
        txid: `0x${'cd'.repeat(32)}`,
        ordinal: 0,
        position: 0,
        contract: river.chain.tokens.USDT,
        rawAmount: String(made.rawAmount),
      } as const;
      await river.streams.append(
        STREAM,
        encodeBlockMessage({
          network: 'ethereum',
          epoch: before.epoch,
          seq: 1_000_000,
          from: invented.height,
          to: invented.height,
          parentHash: before.hash,
          hash: invented.hash,
          safeNumber: before.finalHeight,
          finalNumber: before.finalHeight,
          headNumber: invented.height,
          time: invented.time,
          sightings: [
            { ...transfer, height: invented.height, blockHash: invented.hash, time: invented.time, sender: river.chain.faucet, recipient: made.address },
          ],
          acks: [],
        }),
      );
      await waitFor(() => river.indexer()?.problem()?.includes('lease') ?? false, { what: 'the one that was overtaken to notice' });
      await waitFor(async () => (await unread(river)) === 0, { what: 'the late word to be read' });
      expect(await sql`select 1 from sightings where txid = ${transfer.txid}`).toHaveLength(0);
      expect((await river.tip())?.hash).toBe(before.hash);
      paid.push(...(await mineSome(river, offers.slice(2), random)));
      await river.expectCredited(paid);
      expect((await river.tip())?.epoch).toBeGreaterThan(before.epoch + 1);
    },
  },
  {
    row: 'F21',
    name: 'reorganisations of every depth above final while blocks are published: the books follow the new branch',
    async play(river, random) {
      const paid: Paid[] = [];
      for (const depth of [1, CREDIT_BLOCKS - 1]) {
        const offers = await river.offers(2, random);
        const sent = await river.send(offers);
        await river.chain.mine(depth);
        if (random.chance(0.5)) await river.caughtUp();
        const kept = random.chance(0.5);
        const raw = kept ? await rawOf(river, sent) : [];
        await river.chain.reorg(
          depth,
          raw.map((transaction) => ({ transaction, block: depth - 1 })),
        );
        await river.chain.mine();
        paid.push(...(kept ? sent : await mineSome(river, offers, random)));
        await river.chain.mine(CREDIT_BLOCKS);
      }
      await river.expectCredited(paid);
      // Nothing that was credited is above where these begin, so that nothing is lost.
      await river.chain.mine(FINAL_BLOCKS);
      for (const depth of [6, FINAL_BLOCKS - 1, 1 + random.below(FINAL_BLOCKS - 1)]) {
        if (random.chance(0.5)) await river.caughtUp();
        await river.chain.reorg(depth);
        await river.chain.mine();
        await river.caughtUp();
        expect(await frozen(river)).toEqual([]);
      }
    },
  },
  {
    row: 'F22',
    name: 'a reorganisation deeper than the finality of a credit books the loss, keeps the status and freezes what it is about; below final the network stops',
    own: true,
    freezes: true,
    async play(river, random) {
      const { sql } = river.world.database;
      const [offer] = await river.offers(1, random);
      const paid = await river.send([offer as NonNullable<typeof offer>]);
      const depth = CREDIT_BLOCKS + 1 + random.below(FINAL_BLOCKS - CREDIT_BLOCKS - 4);
      await river.chain.mine(depth);
      const status = async () => (await sql<{ status: string }[]>`select status from payments where id = ${paid[0]?.paymentId as string}`)[0]?.status;
      await waitFor(async () => (await status()) === 'SUCCESS', { what: 'the credit' });
      const raw = await rawOf(river, paid);
      await river.chain.reorg(depth);
      await river.chain.mine();
      await waitFor(async () => (await frozen(river)).length > 0, { what: 'the freeze' });
      expect(await frozen(river)).toEqual([expect.stringMatching(/^asset:/)]);
      expect(await status()).toBe('SUCCESS');
      expect(await sql`select 1 from ledger_transactions where kind = 'loss'`).toHaveLength(1);
      await river.audit();
      // Mined again, it is there again, once.
      await river.chain.node.call('eth_sendRawTransaction', [raw[0]]);
      await river.expectCredited(paid);
      await river.audit();
      await sql`delete from freezes`;
      const tip = await river.tip();
      await river.chain.reorg((tip?.height ?? 0) - (tip?.finalHeight ?? 0) + 1 + random.below(4));
      await river.chain.mine();
      await waitFor(async () => (await frozen(river)).includes('network:ethereum'), { what: 'the network to stop' });
      expect((await river.tip())?.hash).toBe(tip?.hash);
    },
  },
  {
    row: 'F23',
    name: 'a transfer that is mined again at another place of another block is one credit',
    async play(river, random) {
      // Somebody else's transfer comes first the second time.
      const somebody = stranger('somebody else');
      const from = somebody.address.toLowerCase();
      await river.chain.node.call('anvil_setBalance', [from, '0x56bc75e2d63100000']);
      await river.chain.mine();
      const sent = await river.send(await river.offers(1 + random.below(2), random));
      const depth = 1 + random.below(CREDIT_BLOCKS - 1);
      await river.chain.mine(depth);
      if (random.chance(0.7)) await river.caughtUp();
      const raw = await rawOf(river, sent);
      const before = await logIndexes(river, sent);
      const data = `0x40c10f19${'0'.repeat(24)}${from.slice(2)}${'1'.padStart(64, '0')}`;
      const strange = await signedBy(river.chain.node, somebody, { to: river.chain.tokens.USDC, data });
      const block = random.below(depth);
      await river.chain.reorg(depth, [{ transaction: strange, block }, ...raw.map((transaction) => ({ transaction, block }))]);
      const after = await logIndexes(river, sent);
      expect(after, 'the transfer moved inside its block').not.toEqual(before);
      await river.expectCredited(sent);
    },
  },
  {
    row: 'F24',
    name: 'an endpoint that lags or leaves logs out is not believed, and another one is asked',
    async play(river, random) {
      const [first] = river.endpoints;
      const offers = await river.offers(3, random);
      first.stuckAt = await river.chain.node.height();
      first.flaw = random.pick<Flaw>(['without-logs', 'lagging']);
      const paid = await mineSome(river, offers, random);
      // A few seconds behind the others is no lag.
      if (first.flaw === 'lagging') await river.chain.mine(paceOf(river.network.blockSeconds).lagBlocks);
      await river.caughtUp();
      const seen = await river.world.database.sql`select 1 from sightings where canonical and kind = 'token' and txid = any(${paid.map(({ txid }) => txid)})`;
      expect(seen).toHaveLength(paid.length);
      await river.expectCredited(paid);
    },
  },
  {
    row: 'F25',
    name: 'blocks put together from two branches are refused; nothing is read until somebody tells the truth',
    async play(river, random) {
      const offers = await river.offers(3, random);
      const lost = await river.send(offers.slice(0, 1));
      await river.chain.mine();
      await river.caughtUp();
      const hash = await river.chain.headHash();
      const stray = await river.chain.node.call<object[]>('eth_getBlockReceipts', [hash]);
      await river.chain.reorg(1);
      await river.chain.mine();
      await river.caughtUp();
      const honest = await river.tip();
      const paid = await river.send(offers.slice(random.below(2) === 0 ? 0 : 1));
      // A gateway may even put the block's own name on what it mixes in.
      const renamed = random.chance(0.5);
      for (const one of river.endpoints) Object.assign(one, { flaw: 'mixed', stray: [] });
      await river.chain.mine();
      const real = await river.chain.headHash();
      const told = renamed ? stray.map((one) => ({ ...one, blockHash: real })) : stray;
      for (const one of river.endpoints) Object.assign(one, { stray: told, asked: [] });
      await waitFor(() => river.endpoints.some(({ asked }) => asked.filter((method) => method === 'eth_getBlockReceipts').length > 2), {
        what: 'the block to be asked for again and again',
      });
      expect((await river.tip())?.hash).toBe(honest?.hash);
      for (const one of river.endpoints) one.flaw = 'none';
      if (paid.every(({ paymentId }) => paymentId !== lost[0]?.paymentId)) paid.push(...(await river.send(offers.slice(0, 1))));
      await river.expectCredited(paid);
    },
  },
  {
    row: 'F26',
    name: 'a quarter of an hour of 429s and timeouts and a long gap: it catches up in order, within the room it has',
    async play(river, random) {
      const offers = await river.offers(4, random);
      const gap = times(5_000);
      for (const one of river.endpoints) Object.assign(one, { flaw: 'busy', quietSeconds: 1 });
      if (random.chance(0.5)) for (const proxy of river.rpc) proxy.add({ type: 'timeout', timeout: 100 });
      const paid: Paid[] = [];
      for (let minute = 0; minute < 15; minute += 3) {
        river.hurry(180);
        paid.push(...(await river.send(offers.slice(paid.length, paid.length + 1))));
        await river.chain.mine(Math.ceil(gap / 5));
      }
      await waitFor(() => river.indexer()?.problem() !== null, { what: 'the indexer to say that nobody answers' });
      const { sql } = river.world.database;
      for (const one of river.endpoints) one.flaw = 'none';
      for (const proxy of river.rpc) proxy.mend();
      let ahead = 0;
      const heights: number[] = [];
      await waitFor(
        async () => {
          const [row] = await sql<{ height: number; published: number | null }[]>`
            select t.height, l.published_height as published from chain_tips t join indexer_leases l using (network_id)`;
          heights.push(row?.height ?? 0);
          ahead = Math.max(ahead, Number(await river.world.redis.command('XLEN', STREAM)));
          return (await river.tip())?.hash === (await river.chain.headHash());
        },
        { what: 'the gap to be read', timeoutMs: 120_000 },
      );
      expect(heights).toEqual([...heights].sort((a, b) => a - b));
      expect(ahead).toBeLessThan(8 * POLICY.messagesAhead * 4);
      await river.expectCredited(paid);
    },
  },
  {
    row: 'F27',
    name: 'Redis is emptied with a thousand deposits in flight: they are read again from what the books know, within a minute',
    async play(river, random) {
      const deposits = times(1_000);
      const offers = await river.offers(Math.ceil(deposits / 50), random);
      await river.stopConsumer();
      const paid = await river.send(offers);
      await river.chain.mine();
      while (paid.length < deposits) paid.push(...(await river.send(offers.map((one) => ({ ...one, rawAmount: 1_000_000n })))));
      await river.chain.mine();
      await allPublished(river);
      await river.world.redis.flush();
      if (random.chance(0.5)) await river.chain.mine(2);
      river.startConsumer();
      // No block may come that would show the gap.
      river.hurry(5);
      await river.caughtUp(60_000);
      await river.expectCredited(paid, 60_000);
    },
  },
  {
    row: 'F28',
    name: 'Redis comes back with an older state: what it tells again is dropped, and what it forgot is found by the link of the hashes',
    async play(river, random) {
      const offers = await river.offers(5, random);
      const older = random.chance(0.5) ? await river.world.redis.snapshot() : undefined;
      const paid = await mineSome(river, offers.slice(0, 2), random);
      await river.caughtUp();
      const putBack = older ?? (await river.world.redis.snapshot());
      paid.push(...(await mineSome(river, offers.slice(2, 3), random)));
      if (random.chance(0.5)) await river.caughtUp();
      await river.stopConsumer();
      paid.push(...(await mineSome(river, offers.slice(3, 4), random)));
      await allPublished(river);
      river.redis.add({ type: 'down' });
      await putBack();
      river.redis.mend();
      river.startConsumer();
      river.hurry(5);
      await river.caughtUp();
      paid.push(...(await mineSome(river, offers.slice(4), random)));
      await river.expectCredited(paid);
    },
  },
  {
    row: 'F29',
    name: 'the stream is cut below what was delivered and not acknowledged: it is read again from what the books know',
    async play(river, random) {
      const offers = await river.offers(3, random);
      await river.stopConsumer();
      const paid = await mineSome(river, offers, random);
      await allPublished(river);
      // A consumer took them and died.
      const reader = river.streams.reader(STREAM, 'api', 'consumer');
      await waitFor(async () => (await reader.read()).length > 0, { what: 'entries to be delivered' });
      await reader.close();
      await river.world.redis.command('XTRIM', STREAM, 'MAXLEN', String(random.below(2)));
      river.startConsumer();
      if (random.chance(0.5)) await river.chain.mine();
      river.hurry(5);
      await river.caughtUp();
      await river.expectCredited(paid);
    },
  },
  {
    row: 'F31',
    name: 'a consumer that dies between its commit and the acknowledgement: what is delivered again changes nothing',
    async play(river, random) {
      const offers = await river.offers(3, random);
      await river.stopConsumer();
      const paid = await mineSome(river, offers, random);
      await allPublished(river);
      river.startConsumer({ forgetful: true });
      await river.caughtUp();
      expect(await unread(river), 'nothing was acknowledged').toBeGreaterThanOrEqual(1);
      await river.stopConsumer();
      river.startConsumer();
      await waitFor(async () => (await unread(river)) === 0, { what: 'it to be delivered again and acknowledged' });
      await river.expectCredited(paid);
    },
  },
  {
    row: 'F32',
    name: 'a message that nobody can read is set aside, and the one after it is applied',
    async play(river, random) {
      const { sql } = river.world.database;
      const offers = await river.offers(2, random);
      const parked = async () => (await sql<{ count: number }[]>`select count(*) as count from parked_messages`)[0]?.count ?? 0;
      const before = await parked();
      await river.stopConsumer();
      const poison = ['', 'not json', '{"epoch":1}', JSON.stringify({ network: 'elsewhere' }), '['.repeat(10_000)];
      await river.streams.append(STREAM, random.pick(poison));
      await river.world.redis.command('XADD', STREAM, '*', 'payload', '{}', 'mac', 'f'.repeat(64));
      await river.world.redis.command('XADD', STREAM, '*', 'nothing', 'of ours');
      const paid = await mineSome(river, offers, random);
      river.startConsumer();
      await river.expectCredited(paid);
      expect(await parked()).toBe(before + 3);
    },
  },
];

/** Entries of the block stream that were not acknowledged, delivered or not. */
export async function unread(river: River): Promise<number> {
  const groups = (await river.world.redis.command('XINFO', 'GROUPS', STREAM)) as unknown[];
  const [group] = groups.map((one) => (Array.isArray(one) ? Object.fromEntries(pairs(one)) : (one as Record<string, unknown>)));
  return Number(group?.pending ?? 0) + Number(group?.lag ?? 0);
}

function pairs(flat: readonly unknown[]): [string, unknown][] {
  return flat.flatMap((key, at) => (at % 2 === 0 ? [[String(key), flat[at + 1]] as [string, unknown]] : []));
}

async function logIndexes(river: River, paid: readonly Paid[]): Promise<string[]> {
  const receipts = await Promise.all(paid.map(({ txid }) => river.chain.node.call<{ logs: { logIndex: string }[] }>('eth_getTransactionReceipt', [txid])));
  return receipts.map(({ logs }) => logs[0]?.logIndex ?? '');
}
