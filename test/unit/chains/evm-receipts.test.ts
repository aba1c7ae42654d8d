import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import { readReceipts } from '#shared/chains/evm/replies.ts';

type Told = Record<string, unknown> & { logs: Record<string, unknown>[] };
const recorded = JSON.parse(await readFile('test/fixtures/chain/anvil-1.7.1/eth_getBlockReceipts.json', 'utf8')) as Told[];
const WRITTEN_AS_HEX = new Set(['transactionHash', 'blockHash', 'from', 'to', 'contractAddress', 'logsBloom', 'address', 'data', 'topics']);

/** The same reply with capital digits wherever something is a run of bytes. */
function shouted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shouted);
  if (typeof value === 'string') return `0x${value.slice(2).toUpperCase()}`;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, WRITTEN_AS_HEX.has(name) || name === 'logs' ? deeper(name, one) : one]));
}

function deeper(name: string, value: unknown): unknown {
  return name === 'logs' ? (value as unknown[]).map((log) => shouted(log)) : shouted(value);
}

const withLog = (change: (receipt: Told) => Record<string, unknown>): Told[] => {
  const at = recorded.findIndex(({ logs }) => logs.length > 0);
  return recorded.map((receipt, i) => (i === at ? { ...receipt, logs: receipt.logs.map((log) => ({ ...log, ...change(receipt) })) } : receipt));
};

it('receipts read the same whether their digits are small or capital, in all of them or only in what logs repeat', () => {
  const read = readReceipts(recorded);
  expect(read.some(({ logs }) => logs.length > 0)).toBe(true);
  expect(readReceipts(shouted(recorded))).toEqual(read);
  expect(readReceipts(withLog(({ transactionHash, blockHash }) => ({ transactionHash: shouted(transactionHash), blockHash: shouted(blockHash) })))).toEqual(
    read,
  );
});

it.each([
  ['another block', { blockHash: `0x${'11'.repeat(32)}` }],
  ['another transaction', { transactionHash: `0x${'11'.repeat(32)}` }],
  ['no block', { blockHash: undefined }],
  ['a block that is no hash', { blockHash: '0x11' }],
  ['a transaction that is no text', { transactionHash: 17 }],
])('a log that says it is of %s makes its receipt untrusted', (_, change) => {
  expect(() => readReceipts(withLog(() => change))).toThrow(ChainUnavailable);
});
