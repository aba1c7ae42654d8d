import { describe, expect, it } from 'vitest';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import { crossCheck, crossCheckBodies } from '#shared/chains/evm/content.ts';
import { readHeader, readReceipts } from '#shared/chains/evm/replies.ts';
import { atOnce } from '#shared/core/turns.ts';
import { type Fields, type Made, madeBlock, PAYER_ADDRESS, signedPayment } from '#test/fixtures/made-evm-block.ts';

const NOBODY = `0x${'00'.repeat(20)}`;
const TOKEN = `0x${'22'.repeat(20)}`;
/** The coin of Polygon as a contract. */
const COIN = '0x0000000000000000000000000000000000001010';
const POLYGON = { chainId: '137', stateSyncs: true };

const logOf = (emitter: string): Fields[] => [{ address: emitter, topics: [`0x${'99'.repeat(32)}`], data: '0x' }];
const paid = async (receipt: Fields = {}): Promise<Made> => ({
  tx: await signedPayment(TOKEN, 1n, { chainId: 137 }),
  receipt: { logs: logOf(COIN), ...receipt },
});
/** As bor tells it: its id is made of the block's, and no hash of it. */
const sync = (outside: Made['outside'], receipt: Fields = {}, tx: Fields = {}): Made => ({
  tx: {
    hash: `0x${'55'.repeat(32)}`,
    type: '0x0',
    from: NOBODY,
    to: NOBODY,
    nonce: '0x0',
    gas: '0x0',
    gasPrice: '0x0',
    value: '0x0',
    input: '0x',
    v: '0x0',
    r: '0x0',
    s: '0x0',
    ...tx,
  },
  receipt: { gasUsed: '0x0', cumulativeGasUsed: '0x5208', effectiveGasPrice: null, logs: logOf(TOKEN), ...receipt },
  ...(outside === undefined ? {} : { outside }),
});
const OUTSIDE = { transactions: true, receipts: true } as const;

/** How many receipts and transactions the roots cover. */
function covered(made: readonly Made[], rules = POLYGON): [number, number] {
  const { block, receipts } = madeBlock(made);
  const header = readHeader({ ...block, transactions: block.transactions.map(({ hash }) => hash) });
  return [atOnce(crossCheck(header, readReceipts(receipts), rules)), atOnce(crossCheckBodies(header, block.transactions, rules)).covered];
}

describe('a block of Polygon', () => {
  it.each<[string, () => Promise<Made[]>, [number, number]]>([
    ['a failed transaction, whose fee the coin logs all the same', async () => [await paid({ status: '0x0' })], [1, 1]],
    ['a state sync that no root covers', async () => [await paid(), sync(OUTSIDE)], [1, 1]],
    ['nothing but a state sync', async () => [sync(OUTSIDE)], [0, 0]],
    [
      'a state sync that the roots cover, whose transaction nodes do not tell',
      async () => [await paid(), sync({ transactions: true }, { type: '0x7f' }, { type: '0x7f' })],
      [2, 1],
    ],
  ])('is believed with %s, which stays unproven', async (_what, made, roots) => {
    expect(covered(await made())).toEqual(roots);
  });

  it.each<[string, () => Promise<Made[]>]>([
    ['a failed transaction that logs anything else', async () => [await paid({ status: '0x0', logs: logOf(TOKEN) })]],
    ['a state sync that is not the last', async () => [sync(OUTSIDE), await paid()]],
    ['a last transaction of somebody that no root covers', async () => [await paid(), { ...(await paid()), outside: OUTSIDE }]],
    ['a last transaction of nobody that used gas and no root covers', async () => [await paid(), sync(OUTSIDE, { gasUsed: '0x1', effectiveGasPrice: '0x1' })]],
    ['a transaction that used gas at no price', async () => [await paid({ effectiveGasPrice: null })]],
  ])('is not believed with %s', async (_what, made) => {
    const all = await made();
    expect(() => covered(all)).toThrow(ChainUnavailable);
  });

  it('is the only one that may end with a state sync', async () => {
    const all = [await paid(), sync(OUTSIDE)];
    expect(() => covered(all, { chainId: '1', stateSyncs: false })).toThrow(ChainUnavailable);
    expect(PAYER_ADDRESS).toMatch(/^0x/);
  });
});
