import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FeeBounds, feeBoundsOf, feeMarketOf, rateWithin } from '#shared/chains/bitcoin/fees.ts';
import { parseExact } from '#shared/chains/bitcoin/json.ts';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import type { Rpc } from '#shared/chains/rpc.ts';
import type { NetworkConfig } from '#shared/core/assets.ts';
import { networkProblems } from '#shared/platform/network-problems.ts';
import { times } from '#test/harness/counts.ts';

const BOUNDS: FeeBounds = { floor: 1_000n, cap: 500_000n, fallback: 5_000n, targetBlocks: 3 };
const MEMPOOL = { mempoolminfee: '0.00000100', minrelaytxfee: '0.00000100', incrementalrelayfee: '0.00000100' };
const NOTHING = { errors: ['Insufficient data or no feerate found'], blocks: 0 };

/** A node that tells this of fees. */
const node =
  (estimate: unknown, mempool: unknown = MEMPOOL): Rpc =>
  async (method, params) => {
    if (method === 'getmempoolinfo') return mempool;
    expect([method, params]).toEqual(['estimatesmartfee', [3]]);
    if (estimate instanceof Error) throw estimate;
    return estimate;
  };
const says = (perThousandBytes: string): Rpc => node({ feerate: perThousandBytes, blocks: 3 });
const market = (rpc: Rpc, others: readonly Rpc[] = [], bounds = BOUNDS) => feeMarketOf(rpc, others, bounds)();
const recorded = async (name: string): Promise<unknown> =>
  parseExact(await readFile(new URL(`../../fixtures/chain/bitcoin-core-31.99-regtest/${name}.json`, import.meta.url), 'utf8'));

describe('the fee rate of Bitcoin payouts', () => {
  it('is what the node estimates, to the satoshi per thousand bytes', async () => {
    expect(await market(says('0.00012345'))).toEqual({ rate: 12_345n, increment: 1_000n });
    expect((await market(says('1.2345e-4'))).rate).toBe(12_345n);
  });

  it('is the fallback as long as the node has seen too little, in the words of a recorded node', async () => {
    const young = node(await recorded('estimatesmartfee_insufficient'), await recorded('getmempoolinfo'));
    expect(await market(young)).toEqual({ rate: 5_000n, increment: 1_000n });
  });

  it('is never below what the node passes on, or the floor, and never above the cap', async () => {
    expect((await market(says('0.00000200'))).rate).toBe(1_000n);
    expect((await market(node(NOTHING, { ...MEMPOOL, mempoolminfee: '0.00020000' }))).rate).toBe(20_000n);
    expect((await market(node(NOTHING, { ...MEMPOOL, minrelaytxfee: '0.00007000' }))).rate).toBe(7_000n);
    expect((await market(says('0.09000000'))).rate).toBe(500_000n);
    expect((await market(node(NOTHING, { ...MEMPOOL, incrementalrelayfee: '0.00005000' }))).increment).toBe(5_000n);
    fc.assert(
      fc.property(fc.array(fc.bigInt({ min: 1n, max: 10_000_000n })), fc.bigInt({ min: 0n, max: BOUNDS.cap }), (estimates, minimum) => {
        const rate = rateWithin(BOUNDS, minimum, estimates);
        expect(rate >= minimum && rate >= BOUNDS.floor && rate <= BOUNDS.cap).toBe(true);
      }),
      { numRuns: times(4_000) },
    );
  });

  it('of nodes that differ is the one in the middle, of two the higher', async () => {
    expect((await market(says('0.00010000'), [says('0.00020000')])).rate).toBe(20_000n);
    expect((await market(says('0.00020000'), [says('0.00010000')])).rate).toBe(20_000n);
    expect((await market(says('0.00400000'), [says('0.00020000'), says('0.00010000')])).rate).toBe(20_000n);
    expect((await market(node(NOTHING), [says('0.00020000')])).rate).toBe(20_000n);
  });

  it('does without other nodes that fail, lie or never answer, and leaves them alone for a while', async () => {
    let asked = 0;
    const broken: Rpc = async () => {
      asked += 1;
      throw new ChainUnavailable('it is away', { trouble: 'down' });
    };
    let ms = 0;
    const rates = feeMarketOf(says('0.00010000'), [broken, node({ feerate: '-1', blocks: 3 })], BOUNDS, () => ms);
    for (let tried = 0; tried < 3; tried++) expect((await rates()).rate).toBe(10_000n);
    expect(asked).toBe(1);
    ms = 60_000;
    await rates();
    expect(asked).toBe(2);
    expect((await market(says('0.00010000'), [() => new Promise(() => undefined)])).rate).toBe(10_000n);
  });

  it('is none when the node is away, answers nothing of use, or asks for more than the cap', async () => {
    const useless: Rpc[] = [
      node(new ChainUnavailable('it is away')),
      node({ feerate: '0', blocks: 3 }),
      node({ feerate: '-0.00001', blocks: 3 }),
      node({ feerate: '0.000000001', blocks: 3 }),
      node({ feerate: true, blocks: 3 }),
      node({}),
      node(null),
      node(NOTHING, {}),
      node(NOTHING, null),
      node(NOTHING, { ...MEMPOOL, mempoolminfee: '-0.00001' }),
      node(NOTHING, { ...MEMPOOL, mempoolminfee: '0.00500001' }),
    ];
    for (const rpc of useless) await expect(market(rpc)).rejects.toThrow(ChainUnavailable);
  });
});

describe('the fee bounds of a configuration', () => {
  it('are satoshis per virtual byte, with defaults', () => {
    expect(feeBoundsOf({})).toEqual(BOUNDS);
    expect(feeBoundsOf({ feeRate: { floor: '0.1', cap: '12.345', targetBlocks: 6 } })).toEqual({
      floor: 100n,
      cap: 12_345n,
      fallback: 5_000n,
      targetBlocks: 6,
    });
    expect(feeBoundsOf({ feeRate: { fallback: '20' } })).toEqual({ ...BOUNDS, fallback: 20_000n });
    for (const cap of ['', '-1', '1e3', '0.0001', '0.5']) expect(() => feeBoundsOf({ feeRate: { cap } })).toThrow();
  });

  it('are for Bitcoin networks only, and a floor above the cap is told at start', async () => {
    const { networks } = JSON.parse(await readFile(new URL('../../../ops/dev/networks.json', import.meta.url), 'utf8')) as { networks: NetworkConfig[] };
    const problemsWith = (family: string, feeRate: NetworkConfig['feeRate']): string[] =>
      networkProblems(networks.map((network) => (network.family === family && feeRate !== undefined ? { ...network, feeRate } : network)));
    expect(problemsWith('bitcoin', { floor: '2', cap: '2', fallback: '0.5', targetBlocks: 6 })).toEqual([]);
    expect(problemsWith('bitcoin', { floor: '600' })).toEqual(['bitcoin.feeRate: its floor of 600 is above its cap of 500']);
    expect(problemsWith('tron', {})).toEqual(['tron.feeRate: only Bitcoin networks have one']);
  });
});
