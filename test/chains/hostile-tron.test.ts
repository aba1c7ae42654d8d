import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TronChain } from '#test/harness/tron-chain.ts';
import { aRig, type Payee, type Rig } from './conformance/rig.ts';
import { tron } from './conformance/tron.ts';
import { describeRows, happen } from './hostile/run.ts';
import { tronBench } from './hostile/tron-bench.ts';
import { LOST_TRX, ODD_TRX } from './hostile/tron-coins.ts';
import { toldTron } from './hostile/tron-retold.ts';
import { TOLD } from './hostile/tron-told.ts';
import { NO_TRC20, ODD_TRC20, STRANGE_TRC20 } from './hostile/tron-tokens.ts';

const REAL = [...LOST_TRX, ...ODD_TRX, ...NO_TRC20, ...STRANGE_TRC20, ...ODD_TRC20];
const NOT_FINAL = 3;

it('there are at least forty of them', () => {
  expect(REAL.length + TOLD.length).toBeGreaterThanOrEqual(40);
});

describe('what a chain really did', () => {
  let rig: Rig;
  let payees: Payee[];
  beforeAll(async () => {
    rig = await aRig(tron, { notFinal: NOT_FINAL });
    payees = await happen(rig, REAL, await tronBench(rig.node.chain as TronChain), () => rig.bury());
  }, 120_000);
  afterAll(() => rig?.stop());

  describeRows(
    REAL,
    () => rig,
    () => payees,
  );

  it('and the books hold what the addresses hold, to the unit', () => rig.assertSound());
});

describe('what a node tells, in agreement with itself', () => {
  let rig: Rig;
  let payees: Payee[];
  beforeAll(async () => {
    rig = await aRig(tron, { notFinal: NOT_FINAL });
    const { told, meddling } = toldTron(await tronBench(rig.node.chain as TronChain));
    payees = await happen(rig, TOLD, told, async () => {
      await rig.node.chain.mine(NOT_FINAL + 1);
      rig.node.meddle(await meddling());
      // The head that is told is not the chain's own, so that nobody can wait for it.
      for (let looks = 0; looks < 3; looks++) await rig.lookOnce();
    });
  }, 120_000);
  afterAll(() => rig?.stop());

  describeRows(
    TOLD,
    () => rig,
    () => payees,
  );
});
