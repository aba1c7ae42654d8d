import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ChainUnavailable, type Reader } from '#shared/chains/chain.ts';
import { evmReader } from '#shared/chains/evm/reader.ts';
import { type Rpc, RpcRefused } from '#shared/chains/rpc.ts';
import { askingSize, isTooMuch } from '#shared/chains/too-much.ts';
import { type Fields, type MadeBlock, madeBlock, signedPayment } from '#test/fixtures/made-evm-block.ts';

const ALICE = '0x00000000000000000000000000000000000a11ce';

interface Asked {
  method: string;
  params: readonly unknown[];
}

const quantity = (value: number): string => `0x${value.toString(16)}`;

/** One payment to ALICE in each block, worth as many units as the block is high. */
const CHAIN: MadeBlock[] = [];
beforeAll(async () => {
  for (let height = 0; height < 500; height++) {
    const parentHash = CHAIN.at(-1)?.block.hash ?? `0x${'00'.repeat(32)}`;
    const made = madeBlock([{ tx: await signedPayment(ALICE, BigInt(height)) }], { parentHash, number: quantity(height), timestamp: quantity(height) });
    CHAIN.push(made);
  }
});

const madeAt = (height: number): MadeBlock => CHAIN[height] as MadeBlock;

/** A chain of blocks with one payment to ALICE each, in the words of a node. */
function resultOf({ method, params: [first, full] }: Asked): unknown {
  const { block, receipts } = CHAIN.find((one) => one.block.hash === first) ?? madeAt(Number(first));
  const [tx] = block.transactions as [Fields];
  switch (method) {
    case 'eth_getBlockByNumber':
    case 'eth_getBlockByHash':
      return full === true ? block : { ...block, transactions: [tx.hash] };
    case 'eth_getBlockReceipts':
      return receipts;
    case 'trace_block':
      return [
        {
          type: 'call',
          action: { callType: 'call', from: tx.from, to: ALICE, value: tx.value },
          traceAddress: [],
          transactionHash: tx.hash,
          blockHash: block.hash,
        },
      ];
    default:
      throw new Error(`nobody asked for ${method}`);
  }
}

/** How many of a method were asked for together. */
let sizes: Record<string, number[]>;
/** Most of each method that may be, and what happens above it. */
let most: Record<string, number>;
let refusal: () => Error;

beforeEach(() => {
  sizes = { eth_getBlockReceipts: [], trace_block: [] };
  most = {};
});

/** An endpoint that is asked for everything of one turn at once, and answers all of it or nothing. */
function endpoint(): Rpc {
  let waiting: { asked: Asked; resolve(result: unknown): void; reject(error: Error): void }[] = [];
  const flush = (): void => {
    const batch = waiting;
    waiting = [];
    let refused = false;
    for (const [method, list] of Object.entries(sizes)) {
      const count = batch.filter(({ asked }) => asked.method === method).length;
      if (count > 0) list.push(count);
      refused ||= count > (most[method] ?? Number.POSITIVE_INFINITY);
    }
    for (const { asked, resolve, reject } of batch) {
      if (refused) reject(refusal());
      else resolve(resultOf(asked));
    }
  };
  return (method, params) =>
    new Promise((resolve, reject) => {
      waiting.push({ asked: { method, params }, resolve, reject });
      if (waiting.length === 1) setTimeout(flush, 0);
    });
}

const open = (): Reader => evmReader({ name: 'local', chainId: '31337' }, endpoint());
const refused = (message: string) => (): Error => new RpcRefused('eth_getBlockReceipts', -32_000, message, undefined);
const read = async (reader: Reader, from: number, to: number): Promise<number[]> => {
  const { contents, last, parentHash } = await reader.range(from, to, { has: (address) => address === ALICE });
  expect([last.height, parentHash]).toEqual([to, madeAt(from - 1).block.hash]);
  return contents.flatMap((content) => content.transfers.map((transfer) => Number(transfer.rawAmount)));
};
const heights = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i);

describe('a range that is too much for the node', () => {
  const WORDS: [string, () => Error][] = [
    ['HTTP 413', () => new ChainUnavailable('node.example did not answer: HTTP 413, too much at once')],
    ['a limit on results', refused('query returned more than 10000 results, limit exceeded')],
    ['a limit on the reply', refused('response size should not be greater than 150000000 bytes')],
    ['a limit on the range', refused('block range is too wide')],
    ['a batch that is too large', refused('batch too large')],
    ['a timeout of its own', refused('request timed out')],
    ['no answer in time', () => new ChainUnavailable('node.example did not answer: timed out', { trouble: 'slow' })],
    ['a reply that never ends', () => new ChainUnavailable('no answer', { cause: new Error('HTTP response body exceeded the size limit.') })],
  ];

  it.each(WORDS)('(%s) is read in smaller parts, and as a whole', async (_how, how) => {
    most.eth_getBlockReceipts = 6;
    refusal = how;
    expect(await read(open(), 100, 160)).toEqual(heights(100, 160));
  });

  it('is asked for in larger parts again once that goes', async () => {
    const reader = open();
    most.eth_getBlockReceipts = 3;
    refusal = refused('limit exceeded');
    await read(reader, 100, 120);
    most = {};
    for (let start = 200; start < 500; start += 50) await read(reader, start, start + 49);
    expect(sizes.eth_getBlockReceipts?.slice(0, 4)).toEqual([5, 2, 3, 5]);
    expect(Math.max(...(sizes.eth_getBlockReceipts ?? []).slice(-3))).toBeGreaterThanOrEqual(20);
  });

  it('is traced fewer blocks at a time when traces are what is too much', async () => {
    most.trace_block = 1;
    refusal = refused('response size exceeded');
    expect(await read(open(), 100, 119)).toEqual(heights(100, 119));
    expect(sizes.eth_getBlockReceipts).toEqual([5, 8, 7]);
    expect(sizes.trace_block).toContain(1);
  });

  it('is not answered when even one block is', async () => {
    most.eth_getBlockReceipts = 0;
    refusal = refused('limit exceeded');
    await expect(read(open(), 100, 103)).rejects.toThrow(ChainUnavailable);
  });

  it('is not halved for an error about something else', async () => {
    most.eth_getBlockReceipts = 6;
    refusal = refused('internal error');
    await expect(read(open(), 100, 119)).rejects.toThrow(ChainUnavailable);
    expect(sizes.eth_getBlockReceipts).toEqual([5, 8]);
  });
});

describe('what is asked for at once', () => {
  it('halves, and grows by half again, within its bounds', () => {
    const size = askingSize(20, 20);
    expect([size.shrink(), size.now()]).toEqual([true, 10]);
    for (const now of [5, 2, 1]) expect([size.shrink(), size.now()]).toEqual([true, now]);
    expect([size.shrink(), size.now()]).toEqual([false, 1]);
    const grown = [2, 3, 5, 8, 12, 18, 20, 20].map(() => {
      size.grow();
      return size.now();
    });
    expect(grown).toEqual([2, 3, 5, 8, 12, 18, 20, 20]);
  });

  it('was too much by the error’s own words, or by those of what caused it', () => {
    expect(isTooMuch(new ChainUnavailable('no answer', { cause: new Error('HTTP response body exceeded the size limit.') }))).toBe(true);
    expect(isTooMuch(new ChainUnavailable('no endpoint answered', { cause: new AggregateError([new Error('no'), new Error('query timeout')]) }))).toBe(true);
    expect(isTooMuch(new ChainUnavailable('connection refused'))).toBe(false);
    expect(isTooMuch('limit')).toBe(false);
  });
});
