import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { receiptsRoot } from '#shared/chains/evm/receipts-root.ts';
import { readReceipts } from '#shared/chains/evm/replies.ts';

const recorded = async (name: string): Promise<unknown> => JSON.parse(await readFile(`test/fixtures/chain/anvil-1.7.1/${name}.json`, 'utf8'));
const NONE = { type: 0, succeeded: true, cumulativeGasUsed: 0n, logsBloom: `0x${'00'.repeat(256)}`, logs: [] };

describe('the root of the receipts', () => {
  it('is the one the header of a recorded block names', async () => {
    const receipts = readReceipts(await recorded('eth_getBlockReceipts'));
    const { receiptsRoot: named } = (await recorded('eth_getBlockByNumber_full')) as { receiptsRoot: string };
    expect(receipts.length).toBeGreaterThan(1);
    expect(receiptsRoot(receipts)).toBe(named);
  });

  it('of no receipts is the root of the empty trie', () => {
    expect(receiptsRoot([])).toBe('0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421');
  });

  it('is another one for another number, order, outcome, gas, type or log, however many there are', () => {
    const many = Array.from({ length: 300 }, (_, i) => ({ ...NONE, type: i % 5, cumulativeGasUsed: 21_000n * BigInt(i + 1) }));
    const roots = new Set([
      receiptsRoot(many),
      receiptsRoot(many.slice(1)),
      receiptsRoot(many.slice(0, -1)),
      receiptsRoot([...many].reverse()),
      receiptsRoot(many.map((one, i) => (i === 200 ? { ...one, succeeded: false } : one))),
      receiptsRoot(many.map((one, i) => (i === 128 ? { ...one, type: 2 } : one))),
      receiptsRoot(many.map((one, i) => (i === 0 ? { ...one, cumulativeGasUsed: 1n } : one))),
      receiptsRoot(many.map((one, i) => (i === 299 ? { ...one, logs: [{ index: 0, emitter: `0x${'11'.repeat(20)}`, topics: [], data: '0x' }] } : one))),
    ]);
    expect(roots.size).toBe(8);
  });

  it('is unknown where a receipt is of a kind a chain made for itself', () => {
    expect(receiptsRoot([{ ...NONE, type: 0x7d }])).toBeNull();
  });
});
