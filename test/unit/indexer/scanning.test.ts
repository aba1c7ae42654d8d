import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import type { IndexerDeps, LeftUnit, Life, SeenHead } from '#indexer/life.ts';
import { scanChain } from '#indexer/scan.ts';
import { createTrail } from '#indexer/trail.ts';
import { createWake } from '#indexer/wake.ts';
import { createWatchlist } from '#indexer/watchlist.ts';
import { type AnnouncedBlock, type BlockRef, ChainUnavailable, type RangeContent } from '#shared/chains/chain.ts';
import { decodeBlockMessage } from '#shared/core/block-codec.ts';
import type { BlockMessage, Transfer } from '#shared/core/chain-events.ts';
import { createIndexerMetrics } from '#shared/platform/metrics.ts';

const ref = (height: number) => ({ height, hash: `0xb${height}`, parentHash: `0xb${height - 1}`, time: height });
const HEAD = 5_000;
const OURS = `0x${'0'.repeat(39)}1`;
const STRANGER = `0x${'0'.repeat(39)}3`;
const KNOWN_TOKEN = `0x${'0'.repeat(39)}2`;

/** Scans from block 100 to `until` on a node that answers ranges as told; a clock that only errors and time limits move. */
async function scan(until: number, range: (from: number, to: number, tick: (ms: number) => void) => Partial<RangeContent>, following: LeftUnit | null = null) {
  const published: BlockMessage[] = [];
  const abort = new AbortController();
  const asked: number[] = [];
  const lean: number[] = [];
  let now = 0;
  const life = {
    network: { name: 'local', finality: { resolve: [], mature: { tag: 'finalized' } } },
    networkId: '',
    epoch: 1,
    watchlist: createWatchlist(),
    trail: createTrail({ height: 99, hash: ref(99).hash, time: 99 }, []),
    finalHeight: -1,
    forkedBelowFinal: false,
    head: { latest: ref(HEAD), safeHeight: null, finalizedHeight: HEAD - 1, askedAtMs: 0, changedAtMs: 0 },
    seq: 0,
    appliedSeq: 0,
    ahead: [],
    leaseUntilMs: Number.POSITIVE_INFINITY,
    scanWake: createWake(),
    pulseWake: createWake(),
    appliedWake: createWake(),
    left: { following, rescanning: null },
    reader: {
      range: async (from: number, to: number) => {
        asked.push(to - from + 1);
        const told = range(from, to, (ms) => {
          now += ms;
        });
        return { parentHash: ref(from).parentHash, last: ref(to), contents: [], ...told };
      },
      blockAt: async (height: number) => ref(height),
      block: async (hash: string, _watched: unknown, how: { lean: boolean }) => {
        if (how.lean) lean.push(Number(hash.slice(3)));
        return { block: ref(Number(hash.slice(3))), transfers: [], sent: [], ...(how.lean && { internalUnseen: true }) };
      },
    },
  } as unknown as Life;
  const deps = {
    sql: async () => [{ contract: KNOWN_TOKEN }],
    log: pino({ level: 'silent' }),
    metrics: createIndexerMetrics('test'),
    monotonicMs: () => now,
    streams: {
      append: async (_stream: string, payload: string) => {
        const decoded = decodeBlockMessage(payload);
        if (!decoded.ok) {
          abort.abort();
          throw new Error(decoded.problem);
        }
        published.push(decoded.message);
        life.appliedSeq = decoded.message.seq;
        if (decoded.message.to >= until) abort.abort();
        return '1-0';
      },
    },
  } as unknown as IndexerDeps;
  life.watchlist.add(OURS);
  await scanChain(deps, life, () => undefined, abort.signal);
  return { published, asked, lean, deps, life };
}

describe('a block that a node announces', () => {
  const block = (height: number, fork = ''): BlockRef => ({ height, hash: `0xb${height}${fork}`, parentHash: `0xb${height - 1}`, time: height });

  /** Follows a head at block 100 until it was told of 101; what happened, in order. */
  async function follow(announced: readonly AnnouncedBlock[], left: LeftUnit | null = null): Promise<string[]> {
    const done: string[] = [];
    const abort = new AbortController();
    const life = {
      network: { name: 'local', finality: { resolve: [], mature: { blocks: 2 } } },
      networkId: '',
      epoch: 1,
      watchlist: createWatchlist(),
      trail: createTrail({ height: 100, hash: block(100).hash, time: 100 }, []),
      finalHeight: 98,
      forkedBelowFinal: false,
      head: { latest: block(100), safeHeight: null, finalizedHeight: null, askedAtMs: 0, changedAtMs: 0 },
      seq: 0,
      appliedSeq: 0,
      ahead: [],
      leaseUntilMs: Number.POSITIVE_INFINITY,
      scanWake: createWake(),
      appliedWake: createWake(),
      left: { following: left, rescanning: null },
      reader: {
        foresee: ({ hash }: AnnouncedBlock) => void done.push(`foresee ${hash}`),
        block: async (hash: string) => {
          done.push(`read ${hash}`);
          return { block: block(101), transfers: [], sent: [] };
        },
      },
    } as unknown as Life;
    let noted = (): void => undefined;
    const deps = {
      sql: async (_text: unknown, unit: string | null) => {
        if (unit === null) return [];
        done.push('noting');
        await new Promise<void>((resolve) => (noted = resolve));
        done.push('noted');
        return [];
      },
      log: pino({ level: 'silent' }),
      metrics: createIndexerMetrics('test'),
      monotonicMs: () => 0,
      streams: {
        append: async () => {
          abort.abort();
          return '1-0';
        },
      },
    } as unknown as IndexerDeps;
    const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    const scanning = scanChain(deps, life, () => undefined, abort.signal);
    for (const one of announced) {
      life.announced = one;
      life.scanWake.ring();
      await settle();
    }
    life.head = { ...(life.head as SeenHead), latest: block(101) };
    life.scanWake.ring();
    await settle();
    noted();
    await scanning;
    return done;
  }

  it('is asked for at once, and read when the head says the same and the note of it is written', async () => {
    expect(await follow([block(101)])).toEqual(['foresee 0xb101', 'noting', 'noted', 'read 0xb101']);
  });

  it('is asked for once for each height, whatever else is announced there', async () => {
    expect(await follow([block(101, 'x'), block(101, 'y'), block(101)])).toEqual(['foresee 0xb101x', 'noting', 'noted', 'read 0xb101']);
  });

  it.each([
    ['does not follow the last one', { ...block(101), parentHash: '0xother' }],
    ['is at another height', { ...block(101), height: 102 }],
    ['is read already', block(100)],
  ])('is not asked for when it %s', async (_why, one) => {
    expect(await follow([one])).toEqual(['noting', 'noted', 'read 0xb101']);
  });

  it('is not asked for when a process ended on it', async () => {
    expect(await follow([block(101)], { from: 101, to: 101, deaths: 1 })).toEqual(['noting', 'noted', 'read 0xb101']);
  });
});

describe('reading final blocks', () => {
  it('takes longer and longer ranges while they are answered', async () => {
    const { asked } = await scan(4_000, () => ({}));
    expect(asked.slice(0, 6)).toEqual([200, 300, 450, 675, 1_000, 1_000]);
  });

  it('takes shorter ones until the node can answer, however long each of them was waited for', async () => {
    const { asked, published } = await scan(600, (from, to, tick) => {
      tick(10_000);
      if (to - from + 1 > 20) throw new ChainUnavailable('the request took too long to respond');
      return {};
    });
    expect(asked.slice(0, 6)).toEqual([200, 100, 50, 25, 12, 18]);
    expect(published.every((message) => message.to - message.from + 1 <= 20)).toBe(true);
    expect(published.map((message) => message.from)).toEqual([100, ...published.slice(0, -1).map((message) => message.to + 1)]);
  });

  it('holds no block for final that it did not publish, however far ahead a node says that final is', async () => {
    const { published, life } = await scan(600, () => ({}));
    expect(life.finalHeight).toBe(published.at(-1)?.to);
    expect(life.finalHeight).toBeLessThan(HEAD - 1);
  });

  it('is given up when nothing works, and not by asking for less', async () => {
    const scanning = scan(600, (_from, _to, tick) => {
      tick(10_000);
      throw new ChainUnavailable('connection refused');
    });
    await expect(scanning).rejects.toThrow('connection refused');
  });

  it('says of blocks read without their internal transfers that they were, and counts them', async () => {
    const { published, deps } = await scan(900, (from) => (from < 400 ? { internalUnseen: true } : {}));
    expect(published.map((message) => message.internalUnseen)).toEqual([true, true, undefined]);
    expect((await deps.metrics.blindBlocks.get()).values).toMatchObject([{ value: 500 }]);
  });

  it('publishes a block that somebody floods with transfers of a token of their own, without those and with everything else', async () => {
    const to = (kind: 'native' | 'token', contract: string | null, ordinal: number): Transfer => {
      const { height, hash, time } = ref(150);
      return { kind, txid: '0xf1', ordinal, height, blockHash: hash, position: 0, time, sender: STRANGER, recipient: OURS, contract, rawAmount: '1' };
    };
    const flood = Array.from({ length: 100_000 }, (_, i) => to('token', STRANGER, i + 1));
    const transfers = [to('native', null, 0), ...flood, to('token', KNOWN_TOKEN, 100_001)];
    const { published } = await scan(160, (from, end) => (from <= 150 && 150 <= end ? { contents: [{ block: ref(150), transfers, sent: [] }] } : {}));
    const told = published.find(({ sightings }) => sightings.length > 0);
    expect([Number(told?.from) <= 150, Number(told?.to) >= 150]).toEqual([true, true]);
    expect(told?.sightings.map(({ kind }) => kind)).toEqual(['native', 'token']);
    expect(published.at(-1)?.to).toBeGreaterThanOrEqual(160);
  });

  it('publishes a transaction of many payers to many addresses, though naming all of them each time would fill no message', async () => {
    const { height, hash, time } = ref(150);
    const coSenders = Array.from({ length: 735 }, (_, i) => `bcrt1q${i}`.padEnd(44, 'q'));
    const transfers = Array.from(
      { length: 1_612 },
      (_, ordinal): Transfer => ({
        ...{ kind: 'native', txid: '0xf1', ordinal, height, blockHash: hash, position: 0, time },
        ...{ sender: STRANGER, coSenders, recipient: OURS, contract: null, rawAmount: '294' },
      }),
    );
    const { published } = await scan(160, (from, end) => (from <= 150 && 150 <= end ? { contents: [{ block: ref(150), transfers, sent: [] }] } : {}));
    const told = published.find(({ sightings }) => sightings.length > 0);
    expect([Number(told?.from) <= 150, Number(told?.to) >= 150]).toEqual([true, true]);
    expect(told?.sightings.map((one) => one.kind !== 'sent' && [one.ordinal, one.coSenders?.length])).toEqual(transfers.map(({ ordinal }) => [ordinal, 62]));
    expect(published.at(-1)?.to).toBeGreaterThanOrEqual(160);
  });

  it('tells a range with more than a message carries in several, each to the end of a block, and none of it twice', async () => {
    const flooded = [150, 160, 170];
    const content = (height: number) => ({
      block: ref(height),
      sent: [],
      transfers: Array.from({ length: 15_000 }, (_, ordinal): Transfer => {
        const place = { height, blockHash: ref(height).hash, position: 0, time: height };
        return { kind: 'token', txid: `0xf${height}`, ordinal, ...place, sender: STRANGER, recipient: OURS, contract: KNOWN_TOKEN, rawAmount: '1' };
      }),
    });
    const { published, asked } = await scan(299, (from, to) => ({ contents: flooded.filter((height) => from <= height && height <= to).map(content) }));
    expect(asked).toEqual([200]);
    expect(published.map(({ from, to, parentHash, hash }) => ({ from, to, parentHash, hash }))).toEqual([
      { from: 100, to: 150, parentHash: ref(100).parentHash, hash: ref(150).hash },
      { from: 151, to: 160, parentHash: ref(150).hash, hash: ref(160).hash },
      { from: 161, to: 299, parentHash: ref(160).hash, hash: ref(299).hash },
    ]);
    expect(published.map(({ sightings }) => sightings.length)).toEqual([15_000, 15_000, 15_000]);
  });

  it('reads half of what an earlier life ended on at a time, and as much as ever after it', async () => {
    const { asked } = await scan(1_000, () => ({}), { from: 100, to: 299, deaths: 1 });
    expect(asked.slice(0, 4)).toEqual([100, 100, 450, 675]);
  });

  it('reads a block that lives ended on alone without what can be left out, once two have, and says so', async () => {
    const [once, twice] = [await scan(400, () => ({}), { from: 100, to: 100, deaths: 1 }), await scan(400, () => ({}), { from: 100, to: 100, deaths: 2 })];
    expect([once.lean, twice.lean]).toEqual([[], [100]]);
    expect([once.published[0]?.internalUnseen, twice.published[0]?.internalUnseen]).toEqual([undefined, true]);
    expect([once, twice].map(({ published }) => published[0]?.to)).toEqual([100, 100]);
  });

  it('does not care what a life ended on that is read already', async () => {
    const { asked, lean } = await scan(400, () => ({}), { from: 50, to: 99, deaths: 9 });
    expect([asked[0], lean]).toEqual([200, []]);
  });
});
