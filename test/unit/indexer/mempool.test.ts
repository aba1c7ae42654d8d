import { describe, expect, it } from 'vitest';
import type { IndexerDeps, Life } from '#indexer/life.ts';
import { createMempoolWatch, followMempool } from '#indexer/mempool.ts';
import { ChainUnavailable, type Mempool, type WaitingTransaction } from '#shared/chains/chain.ts';
import { decodeMempoolMessage, type MempoolMessage } from '#shared/core/mempool-message.ts';
import { createLogger } from '#shared/platform/logger.ts';
import { createIndexerMetrics } from '#shared/platform/metrics.ts';

const ID = (digit: string) => digit.repeat(64);
const waiting = (digit: string): WaitingTransaction => ({
  txid: ID(digit),
  spends: [`${ID(digit)}:0`],
  transfers: [{ kind: 'native', txid: ID(digit), ordinal: 0, sender: 'bc1qs', recipient: 'bc1qr', contract: null, rawAmount: '5' }],
});

/** A node whose mempool is told by the test, and what is published of it. */
function aWorld() {
  const node = { ours: new Map<string, WaitingTransaction>(), others: new Set<string>(), down: false, asked: [] as string[][] };
  const world = { now: 0, time: 1_000_000, published: [] as MempoolMessage[], kept: [] as number[], redisDown: false, leaseUntilMs: Number.POSITIVE_INFINITY };
  const life = {
    network: { name: 'bitcoin', blockSeconds: 600 },
    epoch: 3,
    mempoolSeq: 0,
    watchlist: { has: () => true },
    get leaseUntilMs() {
      return world.leaseUntilMs;
    },
    reader: {
      mempool: async (_watched: unknown, known: ReadonlySet<string>): Promise<Mempool> => {
        if (node.down) throw new ChainUnavailable('down');
        const txids = new Set([...node.ours.keys(), ...node.others]);
        node.asked.push([...txids].filter((txid) => !known.has(txid)));
        return { txids, fresh: [...node.ours.values()].filter((one) => !known.has(one.txid)) };
      },
    },
  } as unknown as Life;
  const deps = {
    sql: async () => [{ now: new Date(world.time) }],
    log: createLogger({ component: 'test', level: 'silent' }),
    metrics: createIndexerMetrics('test'),
    monotonicMs: () => world.now,
    streams: {
      append: async (_stream: string, payload: string, keep: number) => {
        world.kept.push(keep);
        if (world.redisDown) throw new Error('redis is away');
        const decoded = decodeMempoolMessage(payload);
        if (!decoded.ok) throw new Error(decoded.problem);
        world.published.push(decoded.message);
        return '1-0';
      },
    },
  } as unknown as IndexerDeps;
  return { node, world, life, deps, ask: createMempoolWatch(deps, life) };
}

const told = (message: MempoolMessage | undefined) => message?.transactions.map((one) => [one.txid[0], one.firstSeenAt]);

describe('the mempool watch', () => {
  it('goes on telling after the clock of the database went back, and says of nothing that it was seen later than that', async () => {
    const { node, world, ask } = aWorld();
    node.ours.set(ID('a'), waiting('a'));
    await ask();
    world.time -= 600_000;
    node.ours.set(ID('b'), waiting('b'));
    await ask();
    expect(world.published.map(told)).toEqual([
      [['a', 1_000_000]],
      [
        ['a', 400_000],
        ['b', 400_000],
      ],
    ]);
  });

  it('tells everything that is ours, on every change and every ten seconds, with when each was first seen', async () => {
    const { node, world, ask } = aWorld();
    await ask();
    node.ours.set(ID('a'), waiting('a'));
    world.time += 1_000;
    await ask();
    node.ours.set(ID('b'), waiting('b'));
    world.time += 1_000;
    await ask();
    await ask();
    expect(world.published.map(told)).toEqual([
      [],
      [['a', 1_001_000]],
      [
        ['a', 1_001_000],
        ['b', 1_002_000],
      ],
    ]);
    world.now += 10_000;
    await ask();
    node.ours.delete(ID('a'));
    await ask();
    expect(world.published.slice(3).map(told)).toEqual([
      [
        ['a', 1_001_000],
        ['b', 1_002_000],
      ],
      [['b', 1_002_000]],
    ]);
    expect(world.published.map(({ epoch, seq }) => [epoch, seq])).toEqual([1, 2, 3, 4, 5].map((seq) => [3, seq]));
  });

  it('asks no database what time it is to tell again of nothing, once the pulse has heard it', async () => {
    const { world, life, deps, ask } = aWorld();
    let asked = 0;
    const sql = deps.sql;
    deps.sql = (() => {
      asked += 1;
      return sql``;
    }) as unknown as IndexerDeps['sql'];
    await ask();
    expect([asked, world.published.length]).toEqual([1, 1]);
    world.now = 12_000;
    await ask();
    expect([asked, world.published.length]).toEqual([2, 2]);
    life.serviceTime = { atMs: 2_000_000, heardAtMs: 20_000.5 };
    world.now = 24_000;
    await ask();
    expect([asked, world.published.at(-1)?.takenAt]).toEqual([2, 2_003_999]);
  });

  it('asks the node about each transaction once, whoever it concerns, and again when it went and came back', async () => {
    const { node, ask } = aWorld();
    node.others.add(ID('c'));
    node.ours.set(ID('a'), waiting('a'));
    await ask();
    await ask();
    node.others.clear();
    await ask();
    node.others.add(ID('c'));
    await ask();
    expect(node.asked).toEqual([[ID('a'), ID('c')], [], [], [ID('c')]]);
  });

  it('tells no more than a message carries of a flood, those that came first, and of many payers a few', async () => {
    const { node, world, ask } = aWorld();
    const coSenders = Array.from({ length: 735 }, (_, i) => `bcrt1q${i}`.padEnd(44, 'q'));
    const [transfer] = waiting('a').transfers;
    const transfers = Array.from({ length: 1_612 }, (_, ordinal) => ({ ...(transfer as typeof transfer & object), ordinal, coSenders }));
    node.ours.set(ID('a'), { ...waiting('a'), transfers });
    await ask();
    expect(world.published.at(-1)?.transactions[0]?.transfers.map((one) => one.coSenders?.length)).toEqual(transfers.map(() => 10));
    for (let i = 0; i < 5_000; i++) {
      const txid = String(i).padStart(64, '0');
      const spends = Array.from({ length: 100 }, (_, vout) => `${txid}:${vout}`);
      node.ours.set(txid, { txid, spends, transfers: [{ ...(transfer as typeof transfer & object), txid }] });
    }
    await ask();
    const last = world.published.at(-1)?.transactions.map(({ txid }) => txid);
    expect([last?.length, last?.[0], last?.[1]]).toEqual([1_739, ID('a'), '0'.repeat(64)]);
    expect(world.kept).toEqual([4, 4]);
  });

  it('tells again what Redis did not hear', async () => {
    const { node, world, ask } = aWorld();
    node.ours.set(ID('a'), waiting('a'));
    world.redisDown = true;
    await expect(ask()).rejects.toThrow('redis is away');
    world.redisDown = false;
    await ask();
    expect(world.published.map(told)).toEqual([[['a', 1_000_000]]]);
  });

  it('says nothing while the lease may be lost, and all of it afterwards', async () => {
    const { node, world, ask } = aWorld();
    node.ours.set(ID('a'), waiting('a'));
    world.leaseUntilMs = 0;
    await ask();
    expect(world.published).toEqual([]);
    world.leaseUntilMs = 1;
    await ask();
    expect(world.published.map(told)).toEqual([[['a', 1_000_000]]]);
  });

  it('hurts nobody when the node, the database or Redis fails, and ends where nodes tell of nothing', async () => {
    const { node, life, deps } = aWorld();
    node.down = true;
    const abort = new AbortController();
    const following = followMempool(deps, life, () => expect.unreachable('the chain was told'), abort.signal);
    await new Promise((resolve) => setImmediate(resolve));
    abort.abort();
    await following;
    expect(await deps.metrics.scrape().then(({ body }) => body)).toContain('sluice_indexer_mempool_polls_total{chain="bitcoin",result="failed"} 1');
    await followMempool(deps, { ...life, reader: {} } as Life, () => undefined, new AbortController().signal);
  });
});
