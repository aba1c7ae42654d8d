import { describe, expect, it } from 'vitest';
import type { WatchSet } from '#shared/chains/chain.ts';
import { movesByTransaction, readCallTraces, readParityTraces, type TracedTransaction } from '#shared/chains/evm/traces.ts';
import { walkCallTraces, walkParityTraces } from '#shared/chains/evm/walk-traces.ts';
import { Unread } from '#shared/chains/unread.ts';
import { atOnce } from '#shared/core/turns.ts';
import { RECORDED } from '#test/fixtures/recorded-mainnet.ts';
import { compareTraces, type Dialect, fuzzTraces, traceableBlocks } from '#test/fixtures/walked-blocks.ts';

const EVERYONE: WatchSet = { has: () => true };
const NO_ONE: WatchSet = { has: () => false };
const unread = (told: unknown): Unread => new Unread(Buffer.from(typeof told === 'string' ? told : JSON.stringify(told)));

const HASH = `0x${'ab'.repeat(32)}`;
const [A, B, C] = ['1', '2', '3'].map((digit) => `0x${digit.repeat(40)}`) as [string, string, string];
const txid = (n: number): string => `0x${String(n).repeat(64)}`;

function walk(dialect: Dialect, told: unknown, watched: WatchSet = NO_ONE): TracedTransaction[] | undefined {
  return atOnce(dialect === 'callTraces' ? walkCallTraces(unread(told), watched) : walkParityTraces(unread(told), HASH, watched));
}

function read(dialect: Dialect, told: unknown): unknown {
  return dialect === 'callTraces' ? readCallTraces(told) : readParityTraces(told, HASH);
}

const plain = (traces: readonly TracedTransaction[] | undefined): unknown =>
  traces?.map(({ txid: id, from, to, value, failed, moves }) => ({ txid: id, from, to, value, failed, moves }));

const DIALECTS = ['callTraces', 'parityTraces'] as const;

describe.each(RECORDED)('the traces of the recorded block %s', (name) => {
  it.each(DIALECTS)('are walked over and say what reading each of them says: %s', (dialect) => {
    const block = traceableBlocks().find(({ recorded }) => recorded.name === name) as ReturnType<typeof traceableBlocks>[number];
    expect(compareTraces(JSON.stringify(block.recorded[dialect]), dialect, block)).toBe('walked');
    const walked = atOnce(
      dialect === 'callTraces'
        ? walkCallTraces(unread(block.recorded.callTraces), NO_ONE)
        : walkParityTraces(unread(block.recorded.parityTraces), block.header.hash, NO_ONE),
    ) as TracedTransaction[];
    // Nobody is watched, so that nothing but the end of a contract is worth a look.
    const looked = walked.filter(({ named }) => named !== false).map(({ txid: id }) => id);
    expect(looked.length).toBeLessThanOrEqual(walked.length / 4);
    expect(movesByTransaction(block.outcomes, walked).unshown.size).toBe(0);
  });
});

const call = (from: string, to: string, value: string, more: object = {}): object => ({
  from,
  gas: '0x1',
  gasUsed: '0x1',
  to,
  input: '0x',
  value,
  type: 'CALL',
  ...more,
});
const parity = (n: number, place: number[], action: object, more: object = {}): object => ({
  action: { from: A, callType: 'call', gas: '0x1', input: '0x', to: B, value: '0x0', ...action },
  blockHash: HASH,
  blockNumber: 1,
  result: { gasUsed: '0x0', output: '0x' },
  subtraces: 0,
  traceAddress: place,
  transactionHash: txid(n),
  transactionPosition: 0,
  type: 'call',
  ...more,
});

describe('a walk over traces', () => {
  const [calls, places] = [
    [
      { txHash: txid(1), result: call(A, B, '0x5', { calls: [call(B, C, '0x7', { calls: [call(C, A, '0x0')] }), call(B, A, '0x2', { error: 'reverted' })] }) },
      { txHash: txid(2), result: call(A, C, '0x0', { error: 'reverted', calls: [call(C, B, '0x1')] }) },
    ],
    [
      parity(1, [], { value: '0x5' }),
      parity(1, [0], { from: B, to: C, value: '0x7' }),
      parity(1, [0, 0], { from: C, to: A }),
      parity(1, [1], { from: B, to: A, value: '0x2' }, { error: 'Reverted' }),
      parity(2, [], { to: C }, { error: 'Reverted' }),
      parity(2, [0], { from: C, value: '0x1' }),
      { action: { author: A, rewardType: 'block', value: '0x1' }, type: 'reward', traceAddress: [], blockHash: HASH, transactionHash: null },
    ],
  ] as const;
  const TOLD: Record<Dialect, readonly object[]> = { callTraces: calls, parityTraces: places };

  it.each(DIALECTS)('finds of every transaction what reading finds: %s', (dialect) => {
    expect(plain(walk(dialect, TOLD[dialect]))).toEqual(plain(read(dialect, TOLD[dialect]) as TracedTransaction[]));
    expect(plain(walk(dialect, []))).toEqual([]);
  });

  it.each(DIALECTS)('names transactions in which coins went from or to a watched address, other than by their own value: %s', (dialect) => {
    const named = (address: string): unknown => walk(dialect, TOLD[dialect], { has: (one) => one === address })?.map((trace) => trace.named);
    expect(named(C)).toEqual([true, true]);
    expect(named(`0x${'9'.repeat(40)}`)).toEqual([false, false]);
    expect(walk(dialect, TOLD[dialect].slice(0, 1), { has: (one) => one === A })?.[0]?.named).toBe(dialect === 'callTraces');
  });

  it('reads a transaction in which a contract ended, whoever is watched: whose coins it left is told by the frames above', () => {
    const ended = [
      parity(1, [], {}),
      parity(1, [0], { callType: 'delegatecall', from: B, to: C, value: '0x0' }),
      parity(1, [0, 0], { address: C, refundAddress: A, balance: '0x9' }, { type: 'suicide', result: null }),
    ];
    const [walked] = walk('parityTraces', ended) ?? [];
    expect(walked?.named).toBe(true);
    expect(walked?.moves).toEqual([{ ordinal: 1, sender: B, recipient: A, value: 9n }]);
    const [called] = walk('callTraces', [{ txHash: txid(1), result: call(A, B, '0x0', { calls: [call(C, A, '0x9', { type: 'SELFDESTRUCT' })] }) }]) ?? [];
    expect([called?.named, called?.moves]).toEqual([true, [{ ordinal: 1, sender: B, recipient: A, value: 9n }]]);
  });

  const text = { callTraces: JSON.stringify(calls), parityTraces: JSON.stringify(places) };
  /** Each is something that two readers may see otherwise, or that reading refuses. */
  const DOUBTS: [string, Dialect, (told: string) => string][] = [
    ['a sender told twice', 'callTraces', (told) => told.replace('"from":', `"from":"${C}","from":`)],
    ['calls told twice', 'callTraces', (told) => told.replace('"calls":', '"calls":[],"calls":')],
    ['a result told twice', 'callTraces', (told) => told.replace('"result":', '"result":{},"result":')],
    ['a transaction that was not traced', 'callTraces', () => `[{"txHash":"${txid(1)}","error":"execution timeout"}]`],
    ['a type in small letters', 'callTraces', (told) => told.replace('"CALL"', '"call"')],
    ['a type nobody knows', 'callTraces', (told) => told.replace('"CALL"', '"LEAP"')],
    ['a call of nobody', 'callTraces', (told) => told.replace(`"to":"${B}",`, '')],
    ['a value that is none', 'callTraces', (told) => told.replace('"value":"0x7"', '"value":7')],
    ['a value that no word holds', 'callTraces', (told) => told.replace('"value":"0x7"', `"value":"0x1${'0'.repeat(64)}"`)],
    ['a value in an action that no word holds', 'parityTraces', (told) => told.replace('"value":"0x7"', `"value":"0x1${'0'.repeat(64)}"`)],
    ['no value', 'callTraces', (told) => told.replace('"value":"0x7",', '')],
    ['an address in capital letters', 'callTraces', (told) => told.replace(A, `0x${'AB'.repeat(20)}`)],
    ['a place in the tree told twice', 'parityTraces', (told) => told.replace('"traceAddress":', '"traceAddress":[],"traceAddress":')],
    ['an action told twice', 'parityTraces', (told) => told.replace('"action":', '"action":{},"action":')],
    ['a value in an action told twice', 'parityTraces', (told) => told.replace('"value":"0x5"', '"value":"0x6","value":"0x5"')],
    ['another block', 'parityTraces', (told) => told.replace(HASH, txid(3))],
    ['a frame without a parent', 'parityTraces', (told) => told.replace('[0,0]', '[1,0]')],
    ['a frame far below its parent', 'parityTraces', (told) => told.replace('[0,0]', '[0,0,0]')],
    ['a step that is no number', 'parityTraces', (told) => told.replace('[0,0]', '[0,"0"]')],
    ['a step below zero', 'parityTraces', (told) => told.replace('[0,0]', '[0,-1]')],
    ['a frame before its transaction', 'parityTraces', (told) => told.replace('"traceAddress":[],', '"traceAddress":[0],')],
    ['a frame of another transaction', 'parityTraces', (told) => told.replace(`[0],"transactionHash":"${txid(1)}"`, `[0],"transactionHash":"${txid(2)}"`)],
    ['a type that is not known', 'parityTraces', (told) => told.replace('"type":"call"', '"type":"leap"')],
    ['a creation without a contract', 'parityTraces', (told) => told.replace('"type":"call"', '"type":"create"')],
    ['an action that is a list', 'parityTraces', (told) => told.replace(/"action":\{[^}]*\}/, '"action":[]')],
    ['one that goes on after its end', 'parityTraces', (told) => `${told},[]`],
    ['no list', 'parityTraces', () => '{}'],
  ];
  it.each(DOUBTS)('knows nothing of %s', (_what, dialect, change) => {
    const changed = change(text[dialect]);
    expect(walk(dialect, text[dialect])).toHaveLength(2);
    expect(changed).not.toBe(text[dialect]);
    expect(walk(dialect, changed)).toBeUndefined();
  });

  it('believes what reading each trace believes, whatever is told: 500 changed replies', () => {
    const { parsed, read: careful, walked, harmlessWalked } = fuzzTraces(20_261_125, 500);
    // Else the changes would meet nothing: each way has to be taken by many.
    expect(Math.min(parsed, careful, walked, harmlessWalked)).toBeGreaterThan(25);
  });

  it('lets everybody have a turn between transactions, however many there are', () => {
    const many = Array.from({ length: 500 }, () => calls[0]);
    const steps = walkCallTraces(unread(many), EVERYONE);
    let turns = 0;
    for (let step = steps.next(); step.done !== true; step = steps.next()) turns += 1;
    expect(turns).toBeGreaterThanOrEqual(many.length - 1);
  });

  it('lets everybody have a turn in between, who may walk over something else, and finds the same of more than is looked at in one go', () => {
    const long = parity(1, [0], { from: B, to: C, value: '0x7', input: `0x${'00'.repeat(300_000)}` });
    const many = Array.from({ length: 300 }, (_, i) => [...places.slice(0, 6), ...(i === 200 ? [parity(1, [], {}), long] : [])]).flat();
    const steps = walkParityTraces(unread(many), HASH, { has: (one) => one === C });
    let turns = 0;
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) {
      turns += 1;
      expect(walk('parityTraces', places, EVERYONE)).toHaveLength(2);
    }
    expect(turns).toBeGreaterThanOrEqual(3);
    expect(plain(step.value)).toEqual(plain(readParityTraces(many, HASH)));
    expect(step.value?.every(({ named }) => named)).toBe(true);
  });
});
