import { describe, expect, it } from 'vitest';
import { crossCheckBodies } from '#shared/chains/evm/content.ts';
import { type Header, readHeader } from '#shared/chains/evm/replies.ts';
import { walkBodies } from '#shared/chains/evm/walk-bodies.ts';
import { Unread } from '#shared/chains/unread.ts';
import { atOnce } from '#shared/core/turns.ts';
import { madeBlock, signedPayment } from '#test/fixtures/made-evm-block.ts';
import { recordedBlock } from '#test/fixtures/recorded-mainnet.ts';

type Block = Record<string, unknown> & { transactions: Record<string, unknown>[] };

const headerOf = (block: Block): Header => readHeader({ ...block, transactions: block.transactions.map(({ hash }) => hash) });
const ALICE = `0x${'56'.repeat(20)}`;
const RULES = { chainId: '31337', stateSyncs: false };

describe.each(['eth_17053184', 'polygon_38102393'] as const)('the transactions of the recorded block %s', (name) => {
  it('are walked over and say what reading each of them says', () => {
    const { block, chainId } = recordedBlock(name);
    const rules = { chainId, stateSyncs: chainId === '137' };
    const positions = block.transactions.map((_, i) => i);
    const walked = walkBodies(new Unread(Buffer.from(JSON.stringify(block))), headerOf(block), rules, positions);
    expect(walked).toEqual(atOnce(crossCheckBodies(headerOf(block), block.transactions, rules)));
  });
});

describe('a walk over transactions', async () => {
  const signed = await Promise.all(Array.from({ length: 5 }, (_, nonce) => signedPayment(nonce === 3 ? null : ALICE, BigInt(nonce) << 60n, { nonce })));
  const ofChains = [
    { type: '0x6a', from: `0x${'00'.repeat(18)}a4b05`.slice(0, 42), to: ALICE, chainId: '0x7a69', input: '0x1234', value: '0x0', nonce: '0x0' },
    { type: '0x7e', from: ALICE, to: ALICE, sourceHash: `0x${'17'.repeat(32)}`, mint: '0x5', value: '0x5', gas: '0x1', input: '0x', nonce: '0x0' },
  ];
  const made = madeBlock([...ofChains, ...signed].map((tx) => ({ tx })));
  const walk = (text: string, positions: number[] = [0]): ReturnType<typeof walkBodies> =>
    walkBodies(new Unread(Buffer.from(text)), headerOf(made.block), RULES, positions);
  const told = JSON.stringify(made.block);

  it('proves transactions that are signed and those that a chain makes, and gives those that are asked for', () => {
    const walked = walk(told, [0, 1, 4]);
    const read = atOnce(crossCheckBodies(headerOf(made.block), made.block.transactions, RULES));
    expect(walked?.covered).toBe(7);
    for (const at of [0, 1, 4]) expect([walked?.told[at], walked?.read[at]]).toEqual([read.told[at], read.read[at]]);
    expect(walked?.read[2]).toBeUndefined();
  });

  const DOUBTS: [string, (text: string) => string][] = [
    ['a value told twice', (text) => text.replace('"value":"0x0"', '"value":"0x0","value":"0x0"')],
    ['a list of transactions told twice', (text) => text.replace('"transactions":', '"transactions":[],"transactions":')],
    ['another value', (text) => text.replace('"value":"0x1000000000000000"', '"value":"0x2000000000000000"')],
    ['a value with a leading zero', (text) => text.replace('"value":"0x1000000000000000"', '"value":"0x01000000000000000"')],
    ['another recipient', (text) => text.replace(/([\s\S]*)"to":"0x56/, '$1"to":"0x57')],
    ['another block', (text) => text.replace(/("transactions":\[\{[\s\S]*?"blockHash":"0x)../, '$100')],
    ['a nonce beyond all', (text) => text.replace('"nonce":"0x1"', '"nonce":"0xffffffffffffffff"')],
    ['two in each other’s place', (text) => JSON.stringify({ ...made.block, transactions: made.block.transactions.toReversed(), text: text.length })],
    ['one too few', () => JSON.stringify({ ...made.block, transactions: made.block.transactions.slice(1) })],
    ['none', () => JSON.stringify({ ...made.block, transactions: [] })],
    ['no list of them', () => JSON.stringify({ ...made.block, transactions: {} })],
    ['no block', () => 'null'],
  ];
  it.each(DOUBTS)('knows nothing of %s', (_what, change) => {
    expect(change(told)).not.toBe(told);
    expect(walk(change(told))).toBeUndefined();
  });
});
