import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ChainUnavailable, type Reader, type WatchSet } from '#shared/chains/chain.ts';
import { evmReader } from '#shared/chains/evm/reader.ts';
import { openRpc, type Rpc } from '#shared/chains/evm/rpc.ts';
import { aChain, type TestChain } from '#test/harness/chain.ts';

const ALICE = '0x00000000000000000000000000000000000a11ce';
const WATCHED: WatchSet = { has: (address) => address === ALICE };
const OTHER_HASH = `0x${'ab'.repeat(32)}`;

let chain: TestChain;
let rpc: Rpc;
let hash: string;
let height: number;
/** Second of the three transactions in the block. */
let txid: string;

beforeAll(async () => {
  chain = await aChain({ blockSeconds: 0 });
  rpc = openRpc([chain.url]);
  await chain.mine(3);
  await chain.pay(ALICE, null, 5n);
  txid = await chain.pay(ALICE, chain.tokens.USDT, 6n);
  await chain.pay(ALICE, chain.tokens.USDT, 7n);
  await chain.mine();
  const reader = evmReader({ name: 'local', chainId: '31337' }, rpc);
  ({ hash, height } = (await reader.head()).latest);
  await chain.mine(2);
  expect((await reader.block(hash, WATCHED)).transfers).toHaveLength(3);
});
afterAll(() => chain.stop());

type Change = (answer: unknown) => unknown;

/** A node whose answers to one method are changed on the way. */
function lying(method: string, change: Change): Reader {
  return evmReader({ name: 'local', chainId: '31337' }, async (asked, params) => {
    const answer = await rpc(asked, params);
    return asked === method ? change(structuredClone(answer)) : answer;
  });
}

/** Puts `value` at a path inside the answer; undefined takes what is there away. */
function put(path: (string | number)[], value: unknown): Change {
  return (answer) => {
    let target = answer as Record<string | number, unknown>;
    for (const step of path.slice(0, -1)) target = target[step] as Record<string | number, unknown>;
    target[path.at(-1) as string] = value;
    return answer;
  };
}

const list =
  (change: (items: unknown[]) => unknown): Change =>
  (answer) =>
    change(answer as unknown[]);
const nothing: Change = () => null;
const NOBODY = `0x${'00'.repeat(12)}${'22'.repeat(20)}`;

describe('a lie in the receipts of a block is refused, not published:', () => {
  const lies: [string, Change][] = [
    ['no receipts at all', nothing],
    ['an empty list, as from a node that lags', () => []],
    ['one receipt too few', list((all) => all.slice(0, -1))],
    ['one receipt too many', list((all) => [...all, all[2]])],
    ['a receipt twice', list((all) => [all[0], all[1], all[1]])],
    ['receipts in another order', list((all) => [all[1], all[0], all[2]])],
    ['a receipt of another block', put([1, 'blockHash'], OTHER_HASH)],
    ['a receipt of another height', put([1, 'blockNumber'], '0x1')],
    ['a receipt of another transaction', put([1, 'transactionHash'], OTHER_HASH)],
    ['a receipt without a status', put([1, 'status'], undefined)],
    ['a status that is neither 0 nor 1', put([1, 'status'], '0x2')],
    ['a failed transaction that has logs', put([1, 'status'], '0x0')],
    ['the last logs of the block left out', put([2, 'logs'], [])],
    ['logs left out of the middle', put([1, 'logs'], [])],
    ['a log of another block', put([1, 'logs', 0, 'blockHash'], OTHER_HASH)],
    ['a log of another transaction', put([1, 'logs', 0, 'transactionHash'], OTHER_HASH)],
    ['a log that was removed', put([1, 'logs', 0, 'removed'], true)],
    ['a log from another contract', put([1, 'logs', 0, 'address'], `0x${'11'.repeat(20)}`)],
    ['a log to somebody else', put([1, 'logs', 0, 'topics', 2], NOBODY)],
    ['a log index with a gap before it', put([2, 'logs', 0, 'logIndex'], '0x5')],
    ['an amount that is no number', put([1, 'logs', 0, 'data'], '0xzz')],
    ['a recipient that is no address', put([0, 'to'], '0x12')],
  ];
  it.each(lies)('%s', async (_name, change) => {
    const reader = lying('eth_getBlockReceipts', change);
    await expect(reader.block(hash, WATCHED)).rejects.toThrow(ChainUnavailable);
    await expect(reader.range(height, height, WATCHED)).rejects.toThrow(ChainUnavailable);
    await expect(reader.transaction(txid)).rejects.toThrow(ChainUnavailable);
  });

  it('and one in the receipt of a single transaction changes nothing of what is said of it', async () => {
    const told = await lying('eth_getTransactionReceipt', put(['logs'], [])).transaction(txid);
    expect(told).toEqual(await evmReader({ name: 'local', chainId: '31337' }, rpc).transaction(txid));
    expect(told?.transfers).toMatchObject([{ recipient: ALICE, rawAmount: '6' }]);
    await expect(lying('eth_getTransactionReceipt', put(['blockHash'], OTHER_HASH)).transaction(txid)).rejects.toThrow(ChainUnavailable);
  });
});

describe('a lie in a header is refused, not published:', () => {
  const lies: [string, Change][] = [
    ['no such block', nothing],
    ['another block', put(['hash'], OTHER_HASH)],
    ['a transaction left out', put(['transactions'], [])],
    ['an empty bloom', put(['logsBloom'], `0x${'00'.repeat(256)}`)],
    ['a height that is no number', put(['number'], 'latest')],
    ['a height with a leading zero', put(['number'], '0x01')],
    ['a height beyond counting', put(['number'], `0x${'f'.repeat(20)}`)],
    ['a parent hash cut short', put(['parentHash'], '0xabcd')],
  ];
  it.each(lies)('%s', async (_name, change) => {
    const reader = lying('eth_getBlockByHash', change);
    await expect(reader.block(hash, WATCHED)).rejects.toThrow(ChainUnavailable);
    await expect(reader.transaction(txid)).rejects.toThrow(ChainUnavailable);
  });

  it('a range whose blocks do not follow one another', async () => {
    const reader = lying('eth_getBlockByNumber', (block) =>
      Number((block as { number: string }).number) === height ? put(['parentHash'], OTHER_HASH)(block) : block,
    );
    await expect(reader.range(height - 1, height + 1, WATCHED)).rejects.toThrow(/does not follow/);
  });

  it('another height than asked for', async () => {
    const reader = lying('eth_getBlockByNumber', () => rpc('eth_getBlockByNumber', ['0x1', false]));
    await expect(reader.blockAt(height)).rejects.toThrow(ChainUnavailable);
  });
});

describe('a lie about a payment itself is refused, not published:', () => {
  const lies: [string, Change][] = [
    ['no such transaction', nothing],
    ['a transaction of another block', put(['blockHash'], OTHER_HASH)],
    ['a transaction that still waits', put(['blockHash'], null)],
    ['another sender', put(['from'], `0x${'33'.repeat(20)}`)],
    ['another recipient', put(['to'], `0x${'33'.repeat(20)}`)],
    ['another transaction', put(['hash'], OTHER_HASH)],
    ['a value that is no number', put(['value'], 1e21)],
  ];
  it.each(lies)('%s', async (_name, change) => {
    await expect(lying('eth_getTransactionByHash', change).block(hash, WATCHED)).rejects.toThrow(ChainUnavailable);
  });
});
