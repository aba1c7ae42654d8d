import { describe, expect, it } from 'vitest';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import { movesOfLogs } from '#shared/chains/evm/coin-logs.ts';
import { transfersOf } from '#shared/chains/evm/content.ts';
import type { Header, Log, Receipt, Transaction } from '#shared/chains/evm/replies.ts';
import { movesByTransaction, readCallTraces, readParityTraces, type TracedTransaction } from '#shared/chains/evm/traces.ts';

const address = (digit: string): string => `0x${digit.repeat(40)}`;
const [PAYER, PASSER, ALICE, BOB] = [address('1'), address('2'), address('a'), address('b')] as const;
const TXID = `0x${'77'.repeat(32)}`;
const BLOCK = `0x${'bb'.repeat(32)}`;
type Shape = Record<string, unknown>;

const frame = (over: Shape = {}): Shape => ({ type: 'CALL', from: PASSER, to: ALICE, value: '0x5', gas: '0x1', gasUsed: '0x0', input: '0x', ...over });
const top = (calls: unknown[], over: Shape = {}): Shape => frame({ from: PAYER, to: PASSER, value: '0x9', calls, ...over });
const movesIn = (answer: unknown) => (readCallTraces(answer)[0] as TracedTransaction).moves;
const traced = (...calls: unknown[]) => movesIn([{ txHash: TXID, result: top(calls) }]);

const item = (traceAddress: number[], over: Shape = {}, action: Shape = {}): Shape => ({
  type: 'call',
  action: { callType: 'call', from: PASSER, to: ALICE, value: '0x5', ...action },
  result: {},
  traceAddress,
  transactionHash: TXID,
  blockHash: BLOCK,
  ...over,
});
const root = (over: Shape = {}): Shape => item([], over, { from: PAYER, to: PASSER, value: '0x9' });
const listed = (...items: Shape[]) => readParityTraces([root(), ...items], BLOCK)[0]?.moves;
const ending = (named: string, heir: string, place: number[]): Shape =>
  item(place, { type: 'suicide', result: null, action: { address: named, refundAddress: heir, balance: '0x5' } });
const FAILED = { error: 'execution reverted' };

describe('frames of callTracer', () => {
  it.each([
    ['a call', frame(), [{ ordinal: 1, sender: PASSER, recipient: ALICE, value: 5n }]],
    ['a creation', frame({ type: 'CREATE' }), [{ ordinal: 1, sender: PASSER, recipient: ALICE, value: 5n }]],
    ['a creation at a chosen address', frame({ type: 'CREATE2' }), [{ ordinal: 1, sender: PASSER, recipient: ALICE, value: 5n }]],
    ['an end of a contract', frame({ type: 'SELFDESTRUCT' }), [{ ordinal: 1, sender: PASSER, recipient: ALICE, value: 5n }]],
    ['an end in favour of itself', frame({ type: 'SELFDESTRUCT', to: PASSER }), []],
    ['an end in favour of itself, by a tracer that names the caller', frame({ type: 'SELFDESTRUCT', from: PAYER, to: PASSER }), []],
    [
      'an end by borrowed code, which ends the borrower',
      frame({ type: 'DELEGATECALL', to: BOB, calls: [frame({ type: 'SELFDESTRUCT', from: BOB })] }),
      [{ ordinal: 1, sender: PASSER, recipient: ALICE, value: 5n }],
    ],
    [
      'an end below a call, whose contract it ends',
      frame({ to: BOB, value: '0x0', calls: [frame({ type: 'SELFDESTRUCT', from: PAYER, to: BOB }), frame({ type: 'SELFDESTRUCT', from: PAYER })] }),
      [{ ordinal: 1, sender: BOB, recipient: ALICE, value: 5n }],
    ],
    ['borrowed code, whatever its value says', frame({ type: 'DELEGATECALL' }), []],
    ['borrowed code of the old kind', frame({ type: 'CALLCODE' }), []],
    ['a call that may not change anything', frame({ type: 'STATICCALL', value: undefined }), []],
    ['a call without coins', frame({ value: '0x0' }), []],
    ['a call to itself', frame({ to: PASSER }), []],
    ['a failed call', frame(FAILED), []],
    ['a creation that failed and has no address', frame({ type: 'CREATE', to: undefined, ...FAILED }), []],
    ['what a failed call did, which says nothing of it itself', frame({ ...FAILED, calls: [frame()] }), []],
    ['the same, three calls down', frame({ ...FAILED, calls: [frame({ value: '0x0', calls: [frame({ value: '0x0', calls: [frame()] })] })] }), []],
    [
      'what borrowed code sends, which is the borrower’s',
      frame({ type: 'DELEGATECALL', calls: [frame()] }),
      [{ ordinal: 1, sender: PASSER, recipient: ALICE, value: 5n }],
    ],
  ])('%s', (_what, given, moves) => {
    expect(traced(given)).toEqual(moves);
  });

  it('nothing of a transaction that failed as a whole', () => {
    expect(readCallTraces([{ txHash: TXID, result: top([frame()], FAILED) }])[0]).toMatchObject({ failed: true, moves: [] });
  });

  it('are numbered in the order they happened: a call before the calls it makes', () => {
    const given = frame({ to: BOB, calls: [frame({ from: BOB, calls: [frame({ from: ALICE, to: PAYER })] }), frame({ from: BOB, to: PAYER })] });
    expect(traced(given, frame({ value: '0x6' }))?.map(({ ordinal, sender, recipient }) => [ordinal, sender, recipient])).toEqual([
      [1, PASSER, BOB],
      [2, BOB, ALICE],
      [3, ALICE, PAYER],
      [4, BOB, PAYER],
      [5, PASSER, ALICE],
    ]);
  });

  it('may be nested deeper than any recursion of ours', () => {
    let deep = frame();
    for (let i = 0; i < 50_000; i++) deep = frame({ value: '0x0', calls: [deep] });
    expect(traced(deep)).toHaveLength(1);
  });

  it.each([
    ['no trace and no reason', [{ txHash: TXID }]],
    ['no transaction', [{ result: top([]) }]],
    ['a frame without a type', [{ txHash: TXID, result: top([frame({ type: undefined })]) }]],
    ['a frame without a value', [{ txHash: TXID, result: top([frame({ value: undefined })]) }]],
    ['a value that is no number', [{ txHash: TXID, result: top([frame({ value: '5' })]) }]],
    ['a frame without a recipient', [{ txHash: TXID, result: top([frame({ to: undefined })]) }]],
    ['a sender that is no address', [{ txHash: TXID, result: top([frame({ from: '0x1' })]) }]],
    ['calls that are no list', [{ txHash: TXID, result: top([frame({ calls: {} })]) }]],
    ['an answer that is no list', { txHash: TXID }],
  ])('that have %s are not believed', (_what, answer) => {
    expect(() => readCallTraces(answer)).toThrow(ChainUnavailable);
  });
});

describe('entries of trace_block', () => {
  const one = [{ ordinal: 1, sender: PASSER, recipient: ALICE, value: 5n }];
  it.each([
    ['a call', [item([0])], one],
    ['a creation', [item([0], { type: 'create', result: { address: ALICE } }, { to: undefined })], one],
    ['an end of a contract', [item([0], { type: 'suicide', result: null, action: { address: PASSER, refundAddress: ALICE, balance: '0x5' } })], one],
    ['an end in favour of itself, by a tracer that names the caller', [ending(PAYER, PASSER, [0])], []],
    ['an end by borrowed code, which ends the borrower', [item([0], {}, { callType: 'delegatecall', to: BOB }), ending(BOB, ALICE, [0, 0])], one],
    ['an end below a call, and what came after it beside that call', [item([0], {}, { to: BOB, value: '0x0' }), ending(PAYER, BOB, [0, 0]), item([1])], one],
    ['borrowed code', [item([0], {}, { callType: 'delegatecall' })], []],
    ['borrowed code of the old kind', [item([0], {}, { callType: 'callcode' })], []],
    ['a failed call', [item([0], FAILED)], []],
    ['a failed creation', [item([0], { type: 'create', result: undefined, ...FAILED })], []],
    ['what a failed call did', [item([0], FAILED), item([0, 0])], []],
    ['what it did far below', [item([0], FAILED), item([0, 0]), item([0, 0, 0]), item([0, 1])], []],
    ['what came after a failed call, beside it', [item([0], FAILED), item([0, 0]), item([1])], one],
    ['what came after a failure below, beside its parent', [item([0], {}, { value: '0x0' }), item([0, 0], FAILED), item([0, 0, 0]), item([0, 1])], one],
    ['a reward for the block', [{ type: 'reward', action: { author: ALICE, value: '0x5', rewardType: 'block' }, traceAddress: [] }], []],
  ])('%s', (_what, given, moves) => {
    expect(listed(...given)).toEqual(moves);
  });

  it('nothing of a transaction that failed as a whole', () => {
    expect(readParityTraces([root(FAILED), item([0])], BLOCK)[0]).toMatchObject({ failed: true, moves: [] });
  });

  it.each([
    ['of another block', [root({ blockHash: `0x${'cc'.repeat(32)}` })]],
    ['of an unknown type', [root(), item([0], { type: 'gift' })]],
    ['of a type that is no text', [root(), item([0], { type: { toString: 1 } as never })]],
    ['without a parent', [root(), item([0, 0])]],
    ['of a parent nobody told of', [root(), item([0]), item([1, 0])]],
    ['that does not begin with the transaction', [item([0])]],
    ['that goes over to another transaction', [root(), item([0], { transactionHash: BLOCK })]],
    ['at a place that is no number', [root(), item(['0' as never])]],
    ['without a value', [root(), item([0], {}, { value: undefined })]],
  ])('%s are not believed', (_what, answer) => {
    expect(() => readParityTraces(answer, BLOCK)).toThrow(ChainUnavailable);
  });
});

const receiptOf = (over: Partial<Receipt> = {}): Receipt => ({
  txid: TXID,
  position: 0,
  succeeded: true,
  from: PAYER,
  to: PASSER,
  created: null,
  gasUsed: 50_000n,
  gasPrice: 1n,
  publishingFee: 0n,
  logs: [],
  logsBloom: `0x${'00'.repeat(256)}`,
  depositNonce: null,
  depositReceiptVersion: null,
  type: 2,
  cumulativeGasUsed: 21_000n,
  blockHash: BLOCK,
  height: 5,
  ...over,
});

describe('the traces of a block', () => {
  const trace = (over: Shape = {}, txHash = TXID): Shape => ({ txHash, result: top([frame()], over) });
  const checked = (receipts: Receipt[], ...traces: Shape[]) => movesByTransaction(receipts, readCallTraces(traces));
  const OTHER = `0x${'78'.repeat(32)}`;

  it('are those of its receipts, one each and in order', () => {
    expect(checked([receiptOf(), receiptOf({ txid: OTHER })], trace(), trace({}, OTHER)).traced.get(TXID)?.moves).toHaveLength(1);
  });

  it('need not tell of what a system put into it without gas', () => {
    const { traced: told, unshown } = checked([receiptOf({ txid: OTHER, gasUsed: 0n }), receiptOf()], trace());
    expect([[...told.keys()], [...unshown]]).toEqual([[TXID], []]);
  });

  it('say so when a system handed something over in it and its trace is missing', () => {
    const mint: Log = { index: 0, emitter: BOB, topics: [], data: '0x' };
    expect([...checked([receiptOf(), receiptOf({ txid: OTHER, gasUsed: 0n, logs: [mint] })], trace()).unshown]).toEqual([OTHER]);
  });

  it('of what a system put in begin with whatever ends the node makes up, and count', () => {
    expect(checked([receiptOf({ gasUsed: 0n, from: BOB, to: BOB })], trace()).traced.get(TXID)?.moves).toHaveLength(1);
  });

  it('lack one that the node could not trace: a successful one is named, a failed one moved nothing', () => {
    const lost = { txHash: OTHER, error: 'execution timeout' };
    const told = checked([receiptOf(), receiptOf({ txid: OTHER })], trace(), lost);
    expect([[...told.traced.keys()], [...told.unshown]]).toEqual([[TXID], [OTHER]]);
    expect([...checked([receiptOf(), receiptOf({ txid: OTHER, succeeded: false })], trace(), lost).unshown]).toEqual([]);
  });

  it('may say that nothing failed of what failed outside of any code, without gas (retryable tickets on Arbitrum)', () => {
    expect(checked([receiptOf({ gasUsed: 0n, succeeded: false })], trace()).traced.size).toBe(0);
  });

  it.each([
    ['one too few', [receiptOf(), receiptOf({ txid: OTHER })], [trace()]],
    ['one too many', [receiptOf()], [trace(), trace({}, OTHER)]],
    ['one twice', [receiptOf(), receiptOf({ txid: OTHER })], [trace(), trace()]],
    ['another order', [receiptOf(), receiptOf({ txid: OTHER })], [trace({}, OTHER), trace()]],
    ['another sender', [receiptOf()], [trace({ from: BOB })]],
    ['another recipient', [receiptOf()], [trace({ to: BOB })]],
    ['a failure the receipt knows nothing of', [receiptOf()], [trace(FAILED)]],
    ['a success the receipt knows nothing of', [receiptOf({ succeeded: false })], [trace()]],
    ['another contract created', [receiptOf({ to: null, created: BOB })], [trace({ type: 'CREATE' })]],
  ])('are refused with %s', (_what, receipts, traces) => {
    expect(() => checked(receipts, ...traces)).toThrow(ChainUnavailable);
  });
});

describe('where the chain itself logs every movement of coins (EIP-7708)', () => {
  const SYSTEM = '0xfffffffffffffffffffffffffffffffffffffffe';
  const word = (hex: string): string => `0x${hex.padStart(64, '0')}`;
  const log = (from: string, to: string, value: bigint, emitter = SYSTEM, index = 0): Log => ({
    index,
    emitter,
    topics: ['0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef', word(from.slice(2)), word(to.slice(2))],
    data: word(value.toString(16)),
  });
  const tx = (value: bigint, over: Partial<Transaction> = {}): Transaction => ({
    txid: TXID,
    blockHash: BLOCK,
    type: 2,
    from: PAYER,
    to: PASSER,
    value,
    nonce: 0,
    ...over,
  });
  const header: Header = { height: 5, hash: BLOCK, parentHash: TXID, time: 1, transactionsRoot: TXID, receiptsRoot: TXID, transactions: [TXID] };
  const everything = { has: () => true };

  it('they have the same numbers as in traces, the transaction’s own value left out', () => {
    const receipt = receiptOf({ logs: [log(PAYER, PASSER, 9n), log(PASSER, BOB, 4n), log(PASSER, ALICE, 5n)] });
    const calls = top([frame({ to: BOB, value: '0x4' }), frame()]);
    const told = movesOfLogs(receipt, tx(9n));
    expect(told).toEqual(movesIn([{ txHash: TXID, result: calls }]));
    expect(told).toHaveLength(2);
  });

  it('a transaction without value has none to leave out, nor has one to itself', () => {
    expect(movesOfLogs(receiptOf({ logs: [log(PASSER, ALICE, 5n)] }), tx(0n))).toHaveLength(1);
    expect(movesOfLogs(receiptOf({ to: PAYER, logs: [log(PASSER, ALICE, 5n)] }), tx(3n, { to: PAYER }))).toHaveLength(1);
  });

  it('a transaction whose value no log tells of is not believed', () => {
    expect(() => movesOfLogs(receiptOf({ logs: [] }), tx(9n))).toThrow(/coinLogs/);
    expect(() => movesOfLogs(receiptOf({ logs: [log(PASSER, ALICE, 9n)] }), tx(9n))).toThrow(ChainUnavailable);
  });

  it('no log of the chain is ever a token, and none counts twice', () => {
    const receipt = receiptOf({ logs: [log(PAYER, PASSER, 9n), log(PASSER, ALICE, 5n), log(PASSER, ALICE, 7n, BOB)] });
    const kinds = (moves: Parameters<typeof transfersOf>[3]) =>
      transfersOf(header, receipt, tx(9n), moves, everything).map(({ kind, ordinal, rawAmount }) => [kind, ordinal, rawAmount]);
    const expected = [
      ['native', 0, '9'],
      ['internal', 1, '5'],
      ['token', 2, '7'],
    ];
    expect(kinds(movesOfLogs(receipt, tx(9n)))).toEqual(expected);
    // Read from traces, while the switch is off: the same.
    expect(kinds(traced(frame()) ?? [])).toEqual(expected);
    // Read from an endpoint without traces: what it cannot show is missing, and nothing is made up.
    expect(kinds([])).toEqual([expected[0], expected[2]]);
  });
});
