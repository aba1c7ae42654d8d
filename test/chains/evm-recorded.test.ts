import { describe, expect, it } from 'vitest';
import { type BlockContent, ChainUnavailable } from '#shared/chains/chain.ts';
import { evmReader } from '#shared/chains/evm/reader.ts';
import type { Rpc } from '#shared/chains/rpc.ts';
import { type Fields, nodeOf, RECORDED, type RecordedBlock, recordedBlock } from '#test/fixtures/recorded-mainnet.ts';

/** What each of them moved, counted by hand from the recordings: coins of transactions, coins that contracts passed on, tokens. */
const MOVED: Record<(typeof RECORDED)[number], { native: number; internal: number; token: number; signed: boolean }> = {
  eth_17053184: { native: 61, internal: 48, token: 74, signed: true },
  polygon_38102393: { native: 5, internal: 11, token: 50, signed: true },
  base_2000000_n: { native: 4, internal: 11, token: 24, signed: false },
  basegoerli_12399126_n: { native: 1, internal: 2, token: 1, signed: false },
  optimism_107353722_n: { native: 6, internal: 13, token: 21, signed: false },
  arbitrum_150000000_n: { native: 1, internal: 0, token: 10, signed: false },
};
const EVERYONE = { has: () => true };
const OTHER = `0x${'33'.repeat(20)}`;
const OTHER_HASH = `0x${'ab'.repeat(32)}`;

const read = (recorded: RecordedBlock, rpc: Rpc = nodeOf(recorded)): Promise<BlockContent> =>
  evmReader({ name: recorded.name, chainId: recorded.chainId }, rpc).block(String(recorded.block.hash), EVERYONE);

const logged = (recorded: RecordedBlock): Fields => recorded.receipts.find(({ logs }) => (logs as Fields[]).length > 0) as Fields;
const firstLog = (recorded: RecordedBlock): Fields => (logged(recorded).logs as Fields[])[0] as Fields;
const valued = (recorded: RecordedBlock): Fields => recorded.block.transactions.find(({ value }) => value !== '0x0') as Fields;
const receiptOf = ({ receipts }: RecordedBlock, { hash }: Fields): Fields => receipts.find(({ transactionHash }) => transactionHash === hash) as Fields;
const plus = (hex: unknown): string => `0x${(BigInt(String(hex)) + 1n).toString(16)}`;
/** The same number of hex digits, the last one another. */
const another = (hex: unknown): string => String(hex).replace(/.$/, (digit) => (digit === '0' ? '1' : '0'));
/** Takes a log away and numbers those behind it anew. */
const withoutLog = (recorded: RecordedBlock): void => {
  (logged(recorded).logs as Fields[]).shift();
  let index = 0;
  for (const { logs } of recorded.receipts) for (const log of logs as Fields[]) log.logIndex = `0x${(index++).toString(16)}`;
};
/** Takes the last transaction away, from the block, its receipts and its traces. */
const withoutLast = ({ block, receipts, callTraces }: RecordedBlock): void => {
  for (const all of [block.transactions, receipts, callTraces]) all.pop();
};

/** Lies about what is in the header, the receipts or the ids, whatever was recorded beside them. */
const LIES: [string, (recorded: RecordedBlock) => unknown][] = [
  ['one amount', (recorded) => Object.assign(firstLog(recorded), { data: another(firstLog(recorded).data === '0x' ? '0x00' : firstLog(recorded).data) })],
  ['one log removed', withoutLog],
  [
    'one recipient of a log',
    (recorded) => Object.assign(firstLog(recorded), { topics: [...(firstLog(recorded).topics as string[]).slice(0, -1), OTHER_HASH] }),
  ],
  ['one root of receipts', ({ block }) => Object.assign(block, { receiptsRoot: OTHER_HASH })],
  ['one root of transactions', ({ block }) => Object.assign(block, { transactionsRoot: OTHER_HASH })],
  ['one root of state', ({ block }) => Object.assign(block, { stateRoot: OTHER_HASH })],
  ['one transaction removed', withoutLast],
  ['one outcome', (recorded) => Object.assign(recorded.receipts.at(-1) as Fields, { status: '0x0', logs: [] })],
];
/** Lies about transactions themselves, which only what was signed disproves. */
const SIGNED_LIES: [string, (recorded: RecordedBlock) => unknown][] = [
  ['one native value', (recorded) => Object.assign(valued(recorded), { value: plus(valued(recorded).value) })],
  [
    'one sender',
    (recorded) => {
      const tx = valued(recorded);
      Object.assign(receiptOf(recorded, tx), { from: OTHER });
      Object.assign(tx, { from: OTHER });
    },
  ],
  [
    'one recipient',
    (recorded) => {
      const tx = valued(recorded);
      Object.assign(receiptOf(recorded, tx), { to: OTHER });
      Object.assign(tx, { to: OTHER });
    },
  ],
  ['one transaction', ({ block }) => Object.assign(block.transactions[0] as Fields, { nonce: plus(block.transactions[0]?.nonce) })],
  [
    'one id',
    (recorded) => {
      const tx = valued(recorded);
      const receipt = receiptOf(recorded, tx);
      Object.assign(receipt, { transactionHash: OTHER_HASH });
      for (const log of receipt.logs as Fields[]) log.transactionHash = OTHER_HASH;
      Object.assign(tx, { hash: OTHER_HASH });
    },
  ],
];

describe.each(RECORDED)('the recorded block %s', (name) => {
  const { signed, ...moved } = MOVED[name];

  it('names where it was taken from', () => {
    expect(recordedBlock(name).source).toMatch(/^coinbase\/chainstorage /);
  });

  it('is read with everything that moved in it, in both dialects of traces', async () => {
    const recorded = recordedBlock(name);
    const { transfers, sent, block } = await read(recorded);
    const count = (kind: string): number => transfers.filter((transfer) => transfer.kind === kind).length;
    expect({ native: count('native'), internal: count('internal'), token: count('token') }).toEqual(moved);
    expect([sent.length, block.hash, block.parentHash]).toEqual([recorded.receipts.length, recorded.block.hash, recorded.block.parentHash]);
    const parity = await read(recorded, (method, params) =>
      method === 'trace_block' ? Promise.resolve(recorded.parityTraces) : nodeOf(recorded)(method, params),
    );
    expect(parity.transfers.filter(({ kind }) => kind !== 'internal')).toEqual(transfers.filter(({ kind }) => kind !== 'internal'));
  });

  it(signed ? 'is proven whole by its header' : 'is unproven as to its transactions, whose signatures are not recorded', async () => {
    const { transfers } = await read(recordedBlock(name));
    expect(transfers.every(({ unproven }) => unproven === (signed ? undefined : true))).toBe(true);
  });

  it.each([...LIES, ...(signed ? SIGNED_LIES : [])])('changed in %s is refused', async (_what, lie) => {
    const recorded = recordedBlock(name);
    lie(recorded);
    await expect(read(recorded)).rejects.toThrow(ChainUnavailable);
  });

  it.runIf(!signed).each(SIGNED_LIES)('changed in %s is refused, or left to a second provider', async (_what, lie) => {
    const recorded = recordedBlock(name);
    lie(recorded);
    const told = await read(recorded).catch((error: unknown) => {
      expect(error).toBeInstanceOf(ChainUnavailable);
      return undefined;
    });
    expect(told?.transfers.every(({ unproven }) => unproven === true) ?? true).toBe(true);
  });
});
