import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BitcoinNode, bitcoin } from './conformance/bitcoin.ts';
import { scriptAt } from './conformance/bitcoin-purse.ts';
import { aRig, type Payee, type Rig } from './conformance/rig.ts';
import { type BitcoinBench, bitcoinBench } from './hostile/bitcoin-bench.ts';
import { LOST_BTC, ODD_BTC, OTHER_SCRIPTS } from './hostile/bitcoin-coins.ts';
import type { ToldBlock } from './hostile/bitcoin-lie.ts';
import { LIES } from './hostile/bitcoin-lies.ts';
import { describeRows, happen } from './hostile/run.ts';

const REAL = [...OTHER_SCRIPTS, ...LOST_BTC, ...ODD_BTC];
const NOT_FINAL = 3;
/** Blocks before coins that were just made may move, their own counted. */
const RIPE = 100;

it('there are at least thirty of them', () => {
  expect(REAL.length).toBeGreaterThanOrEqual(30);
  expect(LIES.length).toBeGreaterThanOrEqual(30);
});

describe('what a chain really did', () => {
  let rig: Rig;
  let payees: Payee[];
  beforeAll(async () => {
    rig = await aRig(bitcoin, { notFinal: NOT_FINAL });
    payees = await happen(rig, REAL, bitcoinBench(rig.node as BitcoinNode), () => rig.bury());
  }, 120_000);
  afterAll(() => rig?.stop());

  describeRows(
    REAL,
    () => rig,
    () => payees,
  );

  it('and the books hold what the addresses hold, to the unit', () => rig.assertSound());

  it('and coins that were just made are credited once they are a hundred blocks deep', async () => {
    const at = REAL.findIndex(({ early }) => early);
    const payee = payees[at] as Payee;
    const [deposit] = await rig.depositsOf([payee]);
    const { height } = (await rig.tip()) as { height: number };
    await rig.mine(RIPE - 1 - (height - (deposit?.height ?? 0) + 1));
    expect(await rig.creditedOf([payee])).toEqual({});
    await rig.bury();
    expect(await rig.creditedOf([payee])).toEqual({ BTC: REAL[at]?.gets?.[0]?.rawAmount });
    await rig.assertSound();
  });
});

describe('what a node tells of a block', () => {
  let rig: Rig;
  let bench: BitcoinBench;
  let payees: Payee[];
  let other: Payee;
  beforeAll(async () => {
    rig = await aRig(bitcoin, { notFinal: NOT_FINAL });
    bench = bitcoinBench(rig.node as BitcoinNode);
    [other, ...payees] = (await rig.payees(LIES.length + 1, 'BTC')) as [Payee, ...Payee[]];
  }, 120_000);
  afterAll(() => rig?.stop());

  it.each(LIES.map((lie, at) => [lie.name, lie.reason, lie, at] as const))('%s: %s', async (_name, _reason, { harmless, meddling }, at) => {
    const { call, meddle } = bench.node;
    const payee = payees[at] as Payee;
    const rawAmount = 1_000_000n + BigInt(at);
    const tip = await rig.tip();
    const payment = await bench.sign([{ script: scriptAt(payee.address), value: rawAmount }]);
    const id = await bench.mine(await bench.sign([], bench.purses[1]), payment);
    const block = await call<ToldBlock>('getblock', [id, 3]);
    const before = await call<ToldBlock>('getblock', [block.previousblockhash, 3]);
    meddle(meddling({ block, before, address: payee.address, other: other.address }));
    for (let looks = 0; looks < 2; looks++) await rig.lookOnce();
    const seen = [{ txid: payment.txid, rawAmount: String(rawAmount), state: 'seen', ordinal: 0 }];
    expect(await rig.depositsOf([payee])).toMatchObject(harmless ? seen : []);
    expect((await rig.tip())?.hash).toBe(harmless ? id : tip?.hash);
    meddle(null);
    await rig.follow();
    expect(await rig.depositsOf([payee])).toMatchObject(seen);
  });

  it('changes nothing of what is booked in the end', async () => {
    await rig.bury();
    expect(await rig.depositsOf([other])).toEqual([]);
    for (const [at, payee] of payees.entries()) expect(await rig.creditedOf([payee])).toEqual({ BTC: 1_000_000n + BigInt(at) });
    await rig.assertSound();
  });
});
