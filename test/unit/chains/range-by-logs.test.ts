import { describe, expect, it } from 'vitest';
import { type BlockContent, ChainUnavailable, type HeardLogs, type LogPlace, type Reader } from '#shared/chains/chain.ts';
import { openLogRanges } from '#shared/chains/range-by-logs.ts';
import { watchEndpoints } from '#shared/chains/watch-endpoints.ts';

const blockAt = (height: number, branch = 'a') => ({ height, hash: `${branch}${height}`, parentHash: `${branch}${height - 1}`, time: height });
const place = (height: number, index = 0): LogPlace => ({ height, blockHash: `a${height}`, txid: `t${height}`, index });

interface Provider {
  host?: string;
  places: LogPlace[] | Error;
  branch?: string;
}
/** Blocks 10 to 20 as these providers tell of them; those that are read whole hold `transfers` transfers each. */
const read = async (providers: Provider[], { transfers = 1, enough = 1_000, tellsHeight = (height: number) => height } = {}) => {
  const readers = providers.map(
    ({ places, branch = 'a' }) =>
      ({
        tokenPlaces: async () => {
          if (places instanceof Error) throw places;
          return places;
        },
        blockAt: async (height: number) => blockAt(height, branch),
      }) as unknown as Reader,
  );
  const opened = providers.map(({ host }, at) => ({ provider: host ?? `host${at}`, identify: async () => 'genesis' }));
  const endpoints = watchEndpoints({ name: 'test', blockSeconds: 1 }, opened);
  const blocksRead: string[] = [];
  const readBlock = async (hash: string): Promise<BlockContent> => {
    blocksRead.push(hash);
    return { block: blockAt(tellsHeight(Number(hash.slice(1)))), transfers: Array.from({ length: transfers }) as BlockContent['transfers'], sent: [] };
  };
  const how = { watched: { has: () => true }, contracts: new Set(['0xtoken']), enough };
  return { range: await openLogRanges({ endpoints, readers, readBlock })(10, 20, how), blocksRead };
};

describe('a range that is read by logs', () => {
  it('holds the blocks that two providers tell of, in order and once, and says that it saw tokens alone', async () => {
    const { range, blocksRead } = await read([{ places: [place(15), place(12), place(12, 1)] }, { places: [place(12), place(12, 1), place(15)] }]);
    expect(range).toMatchObject({
      parentHash: 'a9',
      last: { height: 20 },
      contents: [{ block: { height: 12 } }, { block: { height: 15 } }],
      internalUnseen: true,
    });
    expect(blocksRead).toEqual(['a12', 'a15']);
  });

  it('ends with the block that has enough in it', async () => {
    const { range } = await read([{ places: [place(12), place(15)] }, { places: [place(12), place(15)] }], { transfers: 3, enough: 3 });
    expect(range).toMatchObject({ last: { height: 12 }, contents: [{ block: { height: 12 } }] });
  });

  it.each<[string, Provider[]]>([
    ['one provider leaves a log out', [{ places: [place(12), place(15)] }, { places: [place(12)] }]],
    ['one provider tells of another block', [{ places: [place(12)] }, { places: [{ ...place(12), blockHash: 'b12' }] }]],
    ['they are on different branches', [{ places: [] }, { places: [], branch: 'b' }]],
    [
      'two endpoints belong to one provider',
      [
        { places: [], host: 'one' },
        { places: [], host: 'one' },
      ],
    ],
    ['there is one endpoint', [{ places: [] }]],
    ['one provider has no index of logs', [{ places: [] }, { places: new ChainUnavailable('the method is not available', { trouble: 'refused' }) }]],
    ['both tell of two blocks at one height', Array.from({ length: 2 }, () => ({ places: [place(12), { ...place(12), blockHash: 'b12' }] }))],
  ])('is doubted when %s', async (_what, providers) => {
    const { range, blocksRead } = await read(providers);
    expect(range).toEqual({ doubt: expect.any(String) });
    expect(blocksRead).toEqual([]);
  });

  it('is doubted when a block is not where its logs are said to be', async () => {
    const { range } = await read([{ places: [place(12)] }, { places: [place(12)] }], { tellsHeight: () => 13 });
    expect(range).toEqual({ doubt: expect.stringContaining('not where') });
  });

  it('asks for less when it was too much', async () => {
    const tooMuch = new ChainUnavailable('query returned more than 10000 results, limit the range');
    await expect(read([{ places: [] }, { places: tooMuch }])).rejects.toBe(tooMuch);
  });

  it('asks for pieces as long as answers turn out to be, and for no more of them than a range has hundreds of blocks', async () => {
    const asked: [number, number][] = [];
    const bytesPerBlock = { now: 10 };
    let released = 0;
    const reader = {
      tokenPlaces: async (from: number, to: number, _watched: unknown, _contracts: unknown, heard: HeardLogs[]) => {
        asked.push([from, to]);
        heard.push({
          told: {
            bytes: { length: (to - from + 1) * bytesPerBlock.now } as Buffer,
            release: () => {
              released += 1;
            },
          },
          places: [],
        });
        return [];
      },
      blockAt: async (height: number) => blockAt(height),
    } as unknown as Reader;
    const endpoints = watchEndpoints(
      { name: 'test', blockSeconds: 1 },
      ['one', 'other'].map((provider) => ({ provider, identify: async () => 'genesis' })),
    );
    const readBlock = (): Promise<BlockContent> => Promise.reject(new Error('nothing hits'));
    const range = openLogRanges({ endpoints, readers: [reader, reader], readBlock });
    const how = { watched: { has: () => true }, contracts: new Set(['0xtoken']), enough: 1_000 };
    const lengths = async (from: number, to: number): Promise<number[]> => {
      [asked.length, released] = [0, 0];
      expect(await range(from, to, how)).toMatchObject({ last: { height: to }, contents: [] });
      const firsts = [...new Map(asked)].sort(([a], [b]) => a - b);
      // Both are asked for all of it, each block once.
      expect(asked.length).toBe(2 * firsts.length);
      expect(released).toBe(asked.length);
      for (const [i, [start]] of firsts.entries()) expect(start).toBe(i === 0 ? from : (firsts[i - 1]?.[1] as number) + 1);
      expect(firsts.at(-1)?.[1]).toBe(to);
      return firsts.map(([start, end]) => end - start + 1);
    };
    const first = await lengths(1, 10_000);
    expect(first.slice(0, 2)).toEqual([200, 200]);
    expect(Math.max(...first)).toBeGreaterThan(2_000);
    bytesPerBlock.now = 1_000_000;
    const crowded = await lengths(10_001, 15_000);
    expect(crowded.slice(2, -1).every((blocks) => blocks === 100)).toBe(true);
  });
});
