import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ChainUnavailable, type Reader, type WatchSet } from '#shared/chains/chain.ts';
import { evmReader } from '#shared/chains/evm/reader.ts';
import { openRpc } from '#shared/chains/evm/rpc.ts';
import { type Rpc, RpcRefused } from '#shared/chains/rpc.ts';
import { madeBlock, signedPayment } from '#test/fixtures/made-evm-block.ts';
import { aChain, type TestChain } from '#test/harness/chain.ts';

const ALICE = '0x00000000000000000000000000000000000a11ce';
const WATCHED: WatchSet = { has: (address) => address === ALICE };
const EVERYONE: WatchSet = { has: () => true };
const NO_ONE: WatchSet = { has: () => false };
const OTHER_HASH = `0x${'ab'.repeat(32)}`;

let chain: TestChain;
let rpc: Rpc;
let hash: string;
let height: number;
/** Second of the three transactions in the block. */
let txid: string;

beforeAll(async () => {
  chain = await aChain({ blockSeconds: 0 });
  rpc = openRpc(chain.url);
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
const LOCAL = { name: 'local', chainId: '31337' };

/** A node whose answers to some methods are changed on the way; one without traces has nothing to hold a lie against. */
function lying(methods: readonly string[], change: Change, traces: 'traces' | 'no traces' = 'traces'): Reader {
  return evmReader(LOCAL, async (asked, params) => {
    if (traces === 'no traces' && /trace/.test(asked)) throw new RpcRefused(asked, -32_601, 'Method not found', undefined);
    const answer = await rpc(asked, params);
    // A block is asked for with its transactions where they matter, and without them for its header.
    const told = params[1] === true ? 'bodies' : asked;
    return methods.includes(told) ? change(structuredClone(answer)) : answer;
  });
}
const RECEIPTS = ['eth_getBlockReceipts'];
const HEADERS = ['eth_getBlockByHash', 'eth_getBlockByNumber'];
const BODIES = ['bodies'];
const WAITING = ['eth_getTransactionByHash'];

/** Nothing of it is believed, whichever way it is asked for, and whoever is watched. */
async function refuses(reader: Reader, watched: readonly WatchSet[] = [WATCHED, EVERYONE, NO_ONE]): Promise<void> {
  for (const set of watched) {
    await expect(reader.block(hash, set)).rejects.toThrow(ChainUnavailable);
    await expect(reader.range(height, height, set)).rejects.toThrow(ChainUnavailable);
  }
  await expect(reader.transaction(txid)).rejects.toThrow(ChainUnavailable);
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
const NO_BLOOM = `0x${'00'.repeat(256)}`;
type Fields = Record<string, unknown>;
const bloomless =
  (index: number): Change =>
  (all) =>
    put([index, 'logsBloom'], NO_BLOOM)(put([index, 'logs'], [])(all));
const logOf = (all: unknown, index: number): Fields => (all as { logs: Fields[] }[])[index]?.logs[0] as Fields;

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
    ['a receipt at another position', put([1, 'transactionIndex'], '0x2')],
    ['a receipt without a position', put([1, 'transactionIndex'], undefined)],
    ['a receipt without a status', put([1, 'status'], undefined)],
    ['a state root in place of a status, as before Byzantium', (all) => put([1, 'root'], OTHER_HASH)(put([1, 'status'], undefined)(all))],
    ['a status that is neither 0 nor 1', put([1, 'status'], '0x2')],
    ['a status that is a number', put([1, 'status'], 1)],
    ['a status that is a word', put([1, 'status'], true)],
    ['a failed transaction that has logs', put([1, 'status'], '0x0')],
    ['a plain payment without a status', put([0, 'status'], undefined)],
    ['a plain payment of another block', put([0, 'blockHash'], OTHER_HASH)],
    ['the last logs of the block left out', put([2, 'logs'], [])],
    ['logs left out of the middle', put([1, 'logs'], [])],
    ['logs that are no list', put([1, 'logs'], {})],
    ['logs left out of a whole block, and their blooms with them', (all) => bloomless(2)(bloomless(1)(all))],
    ['a log twice', (all) => put([2, 'logs'], [logOf(all, 2), logOf(all, 2)])(all)],
    ['a log twice, the second with the next number', (all) => put([2, 'logs'], [logOf(all, 2), { ...logOf(all, 2), logIndex: '0x3' }])(all)],
    ['the log of one transaction in the receipt of another', (all) => put([2, 'logs'], [logOf(all, 1), logOf(all, 2)])(put([1, 'logs'], [])(all))],
    ['a log of another block', put([1, 'logs', 0, 'blockHash'], OTHER_HASH)],
    ['a log of another transaction', put([1, 'logs', 0, 'transactionHash'], OTHER_HASH)],
    ['a log that was removed', put([1, 'logs', 0, 'removed'], true)],
    ['a log from another contract', put([1, 'logs', 0, 'address'], `0x${'11'.repeat(20)}`)],
    ['a log of no contract', put([1, 'logs', 0, 'address'], undefined)],
    ['a log to somebody else', put([1, 'logs', 0, 'topics', 2], NOBODY)],
    ['a log of another event', put([1, 'logs', 0, 'topics', 0], OTHER_HASH)],
    ['a topic cut short', put([1, 'logs', 0, 'topics', 2], `0x${'22'.repeat(20)}`)],
    ['topics that are no list', put([1, 'logs', 0, 'topics'], '0x')],
    ['a log index with a gap before it', put([2, 'logs', 0, 'logIndex'], '0x5')],
    ['log indexes in another order', (all) => put([1, 'logs', 0, 'logIndex'], '0x1')(put([2, 'logs', 0, 'logIndex'], '0x0')(all))],
    ['an amount that is no number', put([1, 'logs', 0, 'data'], '0xzz')],
    ['half a byte of amount', put([1, 'logs', 0, 'data'], '0x123')],
    ['a bloom without its logs', put([1, 'logsBloom'], NO_BLOOM)],
    ['a bloom of more than its logs', put([1, 'logsBloom'], `0x${'ff'.repeat(256)}`)],
    ['a recipient that is no address', put([0, 'to'], '0x12')],
    ['a sender that is no address', put([0, 'from'], null)],
    ['a gas price with a fraction', put([1, 'effectiveGasPrice'], 1.5)],
    ['no gas at all', put([1, 'gasUsed'], undefined)],
    ['a publishing fee that is no number', put([1, 'l1Fee'], '1.5')],
    ['a publishing fee that no word holds', put([1, 'l1Fee'], `0x1${'0'.repeat(64)}`)],
    ['a publishing fee of more than there is', put([1, 'l1Fee'], `0x${'f'.repeat(64)}`)],
    ['a gas price of more than there is', put([1, 'effectiveGasPrice'], `0x${'f'.repeat(64)}`)],
  ];
  it.each(lies)('%s', async (_name, change) => {
    await refuses(lying(RECEIPTS, change, 'no traces'));
    await refuses(lying(RECEIPTS, change));
  });

  // Both ends of these are in the transaction itself, which is fetched for watched addresses alone.
  const ends: [string, Change][] = [
    ['another recipient than the transaction has', (all) => put([0, 'to'], ALICE)(put([1, 'to'], ALICE)(all))],
    ['another sender than the transaction has', (all) => put([0, 'from'], `0x${'33'.repeat(20)}`)(put([1, 'from'], `0x${'33'.repeat(20)}`)(all))],
  ];
  it.each(ends)('%s', (_name, change) => refuses(lying(RECEIPTS, change, 'no traces'), [WATCHED, EVERYONE]));

  it('a plain payment that failed where its trace did not', () => refuses(lying(RECEIPTS, put([0, 'status'], '0x0'))));

  it('and one in the receipt of a single transaction changes nothing of what is said of it', async () => {
    const told = await lying(['eth_getTransactionReceipt'], put(['logs'], [])).transaction(txid);
    expect(told).toEqual(await evmReader(LOCAL, rpc).transaction(txid));
    expect(told?.transfers).toMatchObject([{ recipient: ALICE, rawAmount: '6' }]);
  });

  it.each<[string, Change]>([
    ['another block', put(['blockHash'], OTHER_HASH)],
    ['another transaction', put(['transactionHash'], OTHER_HASH)],
    ['nothing', () => ({})],
  ])('a single receipt that names %s', async (_name, change) => {
    await expect(lying(['eth_getTransactionReceipt'], change).transaction(txid)).rejects.toThrow(ChainUnavailable);
  });

  it('a single transaction said to be in a block that does not hold it', async () => {
    const other = (await evmReader(LOCAL, rpc).blockAt(height + 1)).hash;
    const moved = [put(['blockHash'], other), put(['logs'], [])].reduce<Change>(
      (first, then) => (answer) => then(first(answer)),
      (answer) => answer,
    );
    await expect(lying(['eth_getTransactionReceipt'], moved).transaction(txid)).rejects.toThrow(/does not hold/);
  });
});

describe('a lie in a header is refused, not published:', () => {
  const lies: [string, Change][] = [
    ['no such block', nothing],
    ['another block', put(['hash'], OTHER_HASH)],
    ['no hash, as of a block that is being made', put(['hash'], null)],
    ['a transaction left out', put(['transactions'], [])],
    ['a transaction more', (block) => put(['transactions', 3], OTHER_HASH)(block)],
    ['another transaction', put(['transactions', 1], OTHER_HASH)],
    ['transactions in another order', (block) => put(['transactions'], (block as { transactions: unknown[] }).transactions.toReversed())(block)],
    ['transactions with their bodies', put(['transactions', 0], { hash: OTHER_HASH })],
    ['an empty bloom', put(['logsBloom'], NO_BLOOM)],
    ['a bloom of everything', put(['logsBloom'], `0x${'ff'.repeat(256)}`)],
    ['no bloom', put(['logsBloom'], null)],
    ['another receipts root', put(['receiptsRoot'], OTHER_HASH)],
    ["another transactions' root", put(['transactionsRoot'], OTHER_HASH)],
    ['no root of its transactions', put(['transactionsRoot'], undefined)],
    ['another state', put(['stateRoot'], OTHER_HASH)],
    ['another time', put(['timestamp'], '0x1')],
    ['a field of a fork more', put(['slotNumber'], '0x1')],
    ['a field of a fork less', put(['requestsHash'], undefined)],
    ['a height that is no number', put(['number'], 'latest')],
    ['a height with a leading zero', (block) => put(['number'], (block as { number: string }).number.replace('0x', '0x0'))(block)],
    ['a height beyond counting', put(['number'], `0x${'f'.repeat(20)}`)],
    ['another height', put(['number'], '0x1')],
    ['a parent hash cut short', put(['parentHash'], '0xabcd')],
    ['no time', put(['timestamp'], undefined)],
    ['a time beyond counting', put(['timestamp'], `0x${'f'.repeat(16)}`)],
  ];
  it.each(lies)('%s', (_name, change) => refuses(lying(HEADERS, change)));

  it('a range whose blocks do not follow one another', async () => {
    const other = madeBlock([], { number: `0x${height.toString(16)}` });
    const reader = evmReader(LOCAL, async (asked, params) => {
      if (BigInt(String(params[0] ?? 0)) !== BigInt(height)) return rpc(asked, params);
      return asked === 'eth_getBlockByNumber' ? other.block : asked === 'eth_getBlockReceipts' ? [] : rpc(asked, params);
    });
    await expect(reader.range(height - 1, height + 1, WATCHED)).rejects.toThrow(/does not follow/);
  });

  it('the same block for every height of a range', async () => {
    const same = await rpc('eth_getBlockByNumber', [`0x${height.toString(16)}`, false]);
    await expect(lying(['eth_getBlockByNumber'], () => same).range(height, height + 1, WATCHED)).rejects.toThrow(ChainUnavailable);
  });

  it('another height than asked for', async () => {
    const reader = lying(['eth_getBlockByNumber'], () => rpc('eth_getBlockByNumber', ['0x1', false]));
    await expect(reader.blockAt(height)).rejects.toThrow(ChainUnavailable);
  });

  it('another block than the one asked for, with receipts of its own', async () => {
    const other = (await evmReader(LOCAL, rpc).blockAt(height + 1)).hash;
    const reader = evmReader(LOCAL, (asked, params) => rpc(asked, params[0] === hash ? [other, ...params.slice(1)] : params));
    await expect(reader.block(hash, WATCHED)).rejects.toThrow(ChainUnavailable);
  });

  it('a head that is none', async () => {
    await expect(lying(['eth_getBlockByNumber'], nothing).head()).rejects.toThrow(ChainUnavailable);
    await expect(lying(['eth_getBlockByNumber'], put(['number'], null)).head()).rejects.toThrow(ChainUnavailable);
  });

  it('another chain', async () => {
    await expect(lying(['eth_chainId'], () => '0x1').genesisHash()).rejects.toMatchObject({ trouble: 'wrong-chain' });
    await expect(lying(['eth_chainId'], () => 31_337).genesisHash()).rejects.toThrow(ChainUnavailable);
  });
});

describe('a lie about a payment itself is refused, not published:', () => {
  /** Of the first two, one of which is asked for by itself. */
  const at =
    (path: (string | number)[], value: unknown): Change =>
    (block) =>
      [0, 1].reduce((told, i) => put(['transactions', i, ...path], value)(told), block);
  const transactions =
    (change: (all: Fields[]) => unknown): Change =>
    (block) =>
      put(['transactions'], change((block as { transactions: Fields[] }).transactions))(block);
  const lies: [string, Change][] = [
    ['no such block', nothing],
    ['a transaction of another block', at(['blockHash'], OTHER_HASH)],
    ['a transaction that still waits', at(['blockHash'], null)],
    ['another sender', at(['from'], `0x${'33'.repeat(20)}`)],
    ['another recipient', at(['to'], `0x${'33'.repeat(20)}`)],
    ['a recipient where a contract was created, or the other way round', at(['to'], null)],
    ['another transaction', at(['hash'], OTHER_HASH)],
    ['a value that is no number', at(['value'], 1e21)],
    ['a value below nothing', at(['value'], '-0x1')],
    ['another value', at(['value'], '0x3b9aca00')],
    ['a nonce that is no number', at(['nonce'], 'first')],
    ['another nonce', at(['nonce'], '0x7f')],
    ['another kind of transaction', at(['type'], '0x1')],
    ['another signature', at(['r'], OTHER_HASH)],
    ['one too few', transactions((all) => all.slice(1))],
    ['one too many', transactions((all) => [...all, all[0] as Fields])],
    ['in another order', transactions((all) => all.toReversed())],
  ];
  // A range and a block fetch what concerns a watched address, a single transaction is fetched whoever it concerns.
  it.each(lies)('%s', (_name, change) => refuses(lying(BODIES, change, 'no traces'), [WATCHED, EVERYONE]));

  it('a signed transaction that was never mined in the place of another one', async () => {
    const planted = await signedPayment(ALICE, 10n ** 24n);
    const plant = (all: Fields[], blockHash: unknown): Fields[] => [{ ...planted, blockHash, transactionIndex: '0x0' }, ...all.slice(1)];
    const reader = evmReader(LOCAL, async (asked, params) => {
      if (/trace/.test(asked)) throw new RpcRefused(asked, -32_601, 'Method not found', undefined);
      const answer = structuredClone(await rpc(asked, params));
      if (asked === 'eth_getBlockReceipts') {
        Object.assign((answer as Fields[])[0] as Fields, { transactionHash: planted.hash, from: planted.from });
        return answer;
      }
      if (!HEADERS.includes(asked)) return answer;
      const block = answer as Fields & { transactions: unknown[] };
      if (block.hash !== hash) return block;
      return { ...block, transactions: params[1] === true ? plant(block.transactions as Fields[], hash) : [planted.hash, ...block.transactions.slice(1)] };
    });
    await expect(reader.block(hash, WATCHED)).rejects.toThrow(/transactions of block \d+ are not those its root was made of/);
    await expect(reader.range(height, height, WATCHED)).rejects.toThrow(ChainUnavailable);
  });
});

describe('a lie about what still waits is refused:', () => {
  it('another transaction than the one asked for', async () => {
    const waiting = await chain.pay(ALICE, null, 9n);
    expect(await evmReader(LOCAL, rpc).transaction(waiting)).toMatchObject({ height: null, succeeded: null });
    await expect(lying(WAITING, put(['hash'], OTHER_HASH)).transaction(waiting)).rejects.toThrow(ChainUnavailable);
  });
});

describe('a lie in agreement with every count is refused by the root of the receipts:', () => {
  const last = (receipts: Fields[]): Fields => receipts.at(-1) as Fields;
  const lies: [string, (receipts: Fields[]) => void][] = [
    ['a larger amount', (receipts) => Object.assign(logOf(receipts, 2), { data: `0x${'f'.repeat(64)}` })],
    [
      'one unit more',
      (receipts) => Object.assign(logOf(receipts, 2), { data: `0x${(BigInt(logOf(receipts, 2).data as string) + 1n).toString(16).padStart(64, '0')}` }),
    ],
    ['data of another length', (receipts) => Object.assign(logOf(receipts, 2), { data: `${String(logOf(receipts, 2).data)}00` })],
    [
      'the last log told twice',
      (receipts) => {
        const logs = last(receipts).logs as Fields[];
        const log = logs.at(-1) as Fields;
        logs.push({ ...log, logIndex: `0x${(Number(log.logIndex) + 1).toString(16)}` });
      },
    ],
    ['a topic of twenty bytes', (receipts) => Object.assign(logOf(receipts, 2), { topics: [...(logOf(receipts, 2).topics as string[]).slice(0, 2), ALICE] })],
    ['a topic of nothing', (receipts) => Object.assign(logOf(receipts, 2), { topics: [...(logOf(receipts, 2).topics as string[]).slice(0, 2), '0x'] })],
    ['data that is no text', (receipts) => Object.assign(logOf(receipts, 2), { data: 7 })],
    ['the last log left out', (receipts) => Object.assign(last(receipts), { logs: [] })],
    ['gas that was not used', (receipts) => Object.assign(last(receipts), { cumulativeGasUsed: '0x1' })],
    ['another kind of transaction', (receipts) => Object.assign(last(receipts), { type: '0x1' })],
  ];
  it.each(lies)('%s', (_name, lie) =>
    refuses(
      lying(RECEIPTS, (answer) => {
        lie(answer as Fields[]);
        return answer;
      }),
    ),
  );
});

describe('a lie in the traces of a block is refused, not published:', () => {
  /** A node that offers one dialect alone and lies in it. */
  const tracing = (dialect: string, change: (entries: Fields[]) => unknown): Reader =>
    evmReader(LOCAL, async (asked, params) => {
      if (/trace/.test(asked) && asked !== dialect) throw new RpcRefused(asked, -32_601, 'Method not found', undefined);
      const answer = await rpc(asked, params);
      return asked === dialect ? change(structuredClone(answer) as Fields[]) : answer;
    });
  const every =
    (change: (entry: Fields) => unknown) =>
    (entries: Fields[]): unknown => {
      for (const entry of entries) change(entry);
      return entries;
    };
  /** The outermost frame of a callTracer entry, the action of a trace_block one. */
  const within = (entry: Fields): Fields => ((entry.result as Fields).type === undefined ? (entry.action as Fields) : (entry.result as Fields));

  const both: [string, (entries: Fields[]) => unknown][] = [
    ['no traces', () => null],
    ['an object', () => ({})],
    ['an empty list', () => []],
    ['the first transaction left out', (entries) => entries.filter((entry) => entry !== entries[0])],
    ['the last entry twice', (entries) => [...entries, entries.at(-1)]],
    ['another sender', every((entry) => Object.assign(within(entry), { from: `0x${'33'.repeat(20)}` }))],
    ['another recipient', every((entry) => Object.assign(within(entry), { to: ALICE.replace('11', '22') }))],
    ['a sender that is no address', every((entry) => Object.assign(within(entry), { from: '0x1' }))],
    ['another value', every((entry) => Object.assign(within(entry), { value: '0x3b9aca00' }))],
    ['a value that is no number', every((entry) => Object.assign(within(entry), { value: '5' }))],
    ['no value', every((entry) => delete within(entry).value)],
    ['a failure that was none', every((entry) => Object.assign(entry.action === undefined ? within(entry) : entry, { error: 'execution reverted' }))],
    ['another kind of frame', every((entry) => Object.assign(entry.action === undefined ? within(entry) : entry, { type: undefined }))],
    ['another transaction', every((entry) => Object.assign(entry, entry.txHash === undefined ? { transactionHash: OTHER_HASH } : { txHash: OTHER_HASH }))],
    ['no transaction', every((entry) => Object.assign(entry, { txHash: undefined, transactionHash: undefined }))],
  ];
  for (const dialect of ['debug_traceBlockByHash', 'trace_block'])
    it.each(both)(`%s, by ${dialect}`, (_name, change) => refuses(tracing(dialect, change), [WATCHED, EVERYONE]));

  it.each<[string, (entries: Fields[]) => unknown]>([
    ['another block', every((entry) => Object.assign(entry, { blockHash: OTHER_HASH }))],
    ['a place that is none', every((entry) => Object.assign(entry, { traceAddress: ['0'] }))],
    ['a frame without a parent', every((entry) => Object.assign(entry, { traceAddress: [3, 1] }))],
  ])('%s, by trace_block', (_name, change) => refuses(tracing('trace_block', change)));
});
