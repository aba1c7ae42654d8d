import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ChainUnavailable, type WatchSet } from '#shared/chains/chain.ts';
import { evmReader } from '#shared/chains/evm/reader.ts';
import { openRpc, type Rpc } from '#shared/chains/evm/rpc.ts';
import { aChain, type TestChain } from '#test/harness/chain.ts';

const ALICE = '0x00000000000000000000000000000000000a11ce';
const WATCHED: WatchSet = { has: (address) => address === ALICE };
const OTHER_HASH = `0x${'ab'.repeat(32)}`;

type Json = Record<string, never> & { [key: string]: unknown };
interface Receipts extends Json {
  logs: Json[];
}

let chain: TestChain;
let rpc: Rpc;
let hash: string;
let height: number;

beforeAll(async () => {
  chain = await aChain({ blockSeconds: 0 });
  rpc = openRpc([chain.url]);
  await chain.mine(3);
  await chain.pay(ALICE, null, 5n);
  await chain.pay(ALICE, chain.tokens.USDT, 6n);
  await chain.pay(ALICE, chain.tokens.USDT, 7n);
  await chain.mine();
  const reader = evmReader({ name: 'local', chainId: '31337' }, rpc);
  ({ hash, height } = (await reader.head()).latest);
  await chain.mine(2);
  expect((await reader.block(hash, WATCHED)).transfers).toHaveLength(3);
});
afterAll(() => chain.stop());

/** A node whose answers to one method are changed on the way. */
function lying(method: string, change: (answer: Json & Receipts[]) => unknown): ReturnType<typeof evmReader> {
  return evmReader({ name: 'local', chainId: '31337' }, async (asked, params) => {
    const answer = await rpc(asked, params);
    return asked === method ? change(structuredClone(answer) as Json & Receipts[]) : answer;
  });
}

const RECEIPTS = 'eth_getBlockReceipts';
const set = (target: unknown, key: string, value: unknown): void => {
  (target as Record<string, unknown>)[key] = value;
};

describe('a lie in the receipts of a block is refused, not published:', () => {
  const lies: [string, (receipts: Receipts[]) => unknown][] = [
    ['no receipts at all', () => null],
    ['an empty list, as from a node that lags', () => []],
    ['one receipt too few', (r) => r.slice(0, -1)],
    ['one receipt too many', (r) => [...r, r[2]]],
    ['a receipt twice', (r) => [r[0], r[1], r[1]]],
    ['receipts in another order', (r) => [r[1], r[0], r[2]]],
    ['a receipt of another block', (r) => (set(r[1], 'blockHash', OTHER_HASH), r)],
    ['a receipt of another height', (r) => (set(r[1], 'blockNumber', '0x1'), r)],
    ['a receipt of another transaction', (r) => (set(r[1], 'transactionHash', OTHER_HASH), r)],
    ['a receipt without a status', (r) => (set(r[1], 'status', undefined), r)],
    ['a status that is neither 0 nor 1', (r) => (set(r[1], 'status', '0x2'), r)],
    ['a failed transaction that has logs', (r) => (set(r[1], 'status', '0x0'), r)],
    ['logs left out', (r) => (set(r[2], 'logs', []), r)],
    ['logs left out of every receipt', (r) => (r.forEach((one) => set(one, 'logs', [])), r)],
    ['a log of another block', (r) => (set(r[1]?.logs[0], 'blockHash', OTHER_HASH), r)],
    ['a log of another transaction', (r) => (set(r[1]?.logs[0], 'transactionHash', OTHER_HASH), r)],
    ['a log that was removed', (r) => (set(r[1]?.logs[0], 'removed', true), r)],
    ['a log from another contract', (r) => (set(r[1]?.logs[0], 'address', `0x${'11'.repeat(20)}`), r)],
    [
      'a log to somebody else',
      (r) => (set(r[1]?.logs[0], 'topics', [...(r[1]?.logs[0]?.topics as string[]).slice(0, 2), `0x${'00'.repeat(12)}${'22'.repeat(20)}`]), r),
    ],
    ['a log twice', (r) => (r[1]?.logs.push(r[1].logs[0] as Json), r)],
    ['an amount that is no number', (r) => (set(r[1]?.logs[0], 'data', '0xzz'), r)],
    ['a recipient that is no address', (r) => (set(r[0], 'to', '0x12'), r)],
  ];
  it.each(lies)('%s', async (_name, change) => {
    await expect(lying(RECEIPTS, change).block(hash, WATCHED)).rejects.toThrow(ChainUnavailable);
    await expect(lying(RECEIPTS, change).range(height, height, WATCHED)).rejects.toThrow(ChainUnavailable);
  });
});

describe('a lie in a header is refused, not published:', () => {
  const lies: [string, (block: Json) => unknown][] = [
    ['no such block', () => null],
    ['another block', (b) => (set(b, 'hash', OTHER_HASH), b)],
    ['a transaction left out', (b) => (set(b, 'transactions', (b.transactions as string[]).slice(1)), b)],
    ['an empty bloom', (b) => (set(b, 'logsBloom', `0x${'00'.repeat(256)}`), b)],
    ['a height that is no number', (b) => (set(b, 'number', 'latest'), b)],
    ['a height with a leading zero', (b) => (set(b, 'number', '0x01'), b)],
    ['a height beyond counting', (b) => (set(b, 'number', `0x${'f'.repeat(20)}`), b)],
    ['a parent hash cut short', (b) => (set(b, 'parentHash', '0xabcd'), b)],
  ];
  it.each(lies)('%s', async (_name, change) => {
    await expect(lying('eth_getBlockByHash', change).block(hash, WATCHED)).rejects.toThrow(ChainUnavailable);
  });

  it('a range whose blocks do not follow one another', async () => {
    const reader = lying('eth_getBlockByNumber', (block) => (Number(block.number) === height ? (set(block, 'parentHash', OTHER_HASH), block) : block));
    await expect(reader.range(height - 1, height + 1, WATCHED)).rejects.toThrow(/does not follow/);
  });

  it('another height than asked for', async () => {
    const reader = lying('eth_getBlockByNumber', () => rpc('eth_getBlockByNumber', ['0x1', false]));
    await expect(reader.blockAt(height)).rejects.toThrow(ChainUnavailable);
  });
});

describe('a lie about a payment itself is refused, not published:', () => {
  const lies: [string, (tx: Json) => unknown][] = [
    ['no such transaction', () => null],
    ['a transaction of another block', (t) => (set(t, 'blockHash', OTHER_HASH), t)],
    ['a transaction that still waits', (t) => (set(t, 'blockHash', null), t)],
    ['another sender', (t) => (set(t, 'from', `0x${'33'.repeat(20)}`), t)],
    ['another recipient', (t) => (set(t, 'to', `0x${'33'.repeat(20)}`), t)],
    ['another transaction', (t) => (set(t, 'hash', OTHER_HASH), t)],
    ['a value that is no number', (t) => (set(t, 'value', 1e21), t)],
  ];
  it.each(lies)('%s', async (_name, change) => {
    await expect(lying('eth_getTransactionByHash', change).block(hash, WATCHED)).rejects.toThrow(ChainUnavailable);
  });
});
