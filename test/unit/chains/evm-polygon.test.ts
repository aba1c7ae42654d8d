import { describe, expect, it } from 'vitest';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import { bloomOf, joinBlooms } from '#shared/chains/evm/bloom.ts';
import { atOnce } from '#shared/core/turns.ts';
import { crossCheck } from '#shared/chains/evm/content.ts';
import { readHeader, readReceipts } from '#shared/chains/evm/replies.ts';

const BLOCK = `0x${'bb'.repeat(32)}`;
const NOBODY = `0x${'00'.repeat(20)}`;
const [PAYER, TOKEN] = [`0x${'11'.repeat(20)}`, `0x${'22'.repeat(20)}`] as const;
/** The coin of Polygon as a contract. */
const COIN = '0x0000000000000000000000000000000000001010';
const txidOf = (position: number): string => `0x${String(position).repeat(64)}`;
type Shape = Record<string, unknown>;

/** A block of receipts, each with one log of `emitter`, as bor tells it; `covered` are those its header's bloom covers. */
function blockOf(receipts: readonly (Shape & { emitter: string })[], covered: readonly number[]): () => void {
  const told = receipts.map(({ emitter, ...over }, position) => {
    const log = { address: emitter, topics: [txidOf(9)], data: '0x', logIndex: `0x${position}`, blockHash: BLOCK, transactionHash: txidOf(position) };
    const logsBloom = bloomOf([{ index: position, emitter, topics: [txidOf(9)], data: '0x' }]);
    const place = { transactionHash: txidOf(position), transactionIndex: `0x${position}`, blockHash: BLOCK, blockNumber: '0x5' };
    const cost = { gasUsed: '0x5208', cumulativeGasUsed: '0x5208', effectiveGasPrice: '0x1', type: '0x0' };
    return { ...place, ...cost, status: '0x1', from: PAYER, to: TOKEN, contractAddress: null, logs: [log], logsBloom, ...over };
  });
  const header = readHeader({
    number: '0x5',
    hash: BLOCK,
    parentHash: txidOf(8),
    timestamp: '0x1',
    logsBloom: joinBlooms(
      covered.map((position) => bloomOf([{ index: 0, emitter: (receipts[position] as { emitter: string }).emitter, topics: [txidOf(9)], data: '0x' }])),
    ),
    receiptsRoot: txidOf(7),
    transactions: told.map((_, position) => txidOf(position)),
  });
  return () => atOnce(crossCheck(header, readReceipts(told)));
}

const SYNC = { from: NOBODY, to: NOBODY, gasUsed: '0x0', effectiveGasPrice: null, emitter: TOKEN };
const NO_BLOOM = { logsBloom: bloomOf([]) };

describe('a block of Polygon', () => {
  it.each([
    ['a failed transaction, whose fee the coin logs all the same', [{ emitter: COIN, status: '0x0' }], [0]],
    ['a state sync that no bloom covers', [{ emitter: COIN }, { ...SYNC, ...NO_BLOOM }], [0]],
    ['a state sync with a bloom of its own that the header does not cover', [{ emitter: COIN }, SYNC], [0]],
    ['a state sync that the header covers', [{ emitter: COIN }, SYNC], [0, 1]],
    ['nothing but a state sync', [{ ...SYNC, ...NO_BLOOM }], []],
  ])('is believed with %s', (_what, receipts, covered) => {
    expect(blockOf(receipts, covered)).not.toThrow();
  });

  it.each([
    ['a failed transaction that logs anything else', [{ emitter: TOKEN, status: '0x0' }], [0]],
    ['a state sync that is not the last', [{ ...SYNC, ...NO_BLOOM }, { emitter: COIN }], [1]],
    ['a last transaction of somebody that no bloom covers', [{ emitter: COIN }, { emitter: TOKEN, ...NO_BLOOM }], [0]],
    [
      'a last transaction of nobody that used gas and no bloom covers',
      [{ emitter: COIN }, { ...SYNC, ...NO_BLOOM, gasUsed: '0x1', effectiveGasPrice: '0x1' }],
      [0],
    ],
    ['a transaction that used gas at no price', [{ emitter: COIN, effectiveGasPrice: null }], [0]],
  ])('is not believed with %s', (_what, receipts, covered) => {
    expect(() => blockOf(receipts, covered)()).toThrow(ChainUnavailable);
  });
});
