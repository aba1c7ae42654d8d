import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestChain } from '#test/harness/chain.ts';
import { evm } from './conformance/evm.ts';
import type { Payee } from './conformance/rig.ts';
import { aRig, type Rig } from './conformance/rig.ts';
import { type EvmBench, evmBench } from './hostile/evm-bench.ts';
import { LOST_COINS, ODD_COINS } from './hostile/evm-coins.ts';
import { NO_TRANSFERS, ODD_TOKENS, STRANGE_TOKENS } from './hostile/evm-tokens.ts';
import { describeRows, happen } from './hostile/run.ts';

const REAL = [...LOST_COINS, ...ODD_COINS, ...NO_TRANSFERS, ...STRANGE_TOKENS, ...ODD_TOKENS];
const NOT_FINAL = 3;

it('there are at least fifty of them', () => {
  expect(REAL.length).toBeGreaterThanOrEqual(50);
});

describe('what a chain really did', () => {
  let rig: Rig;
  let bench: EvmBench;
  let payees: Payee[];
  beforeAll(async () => {
    rig = await aRig(evm, { notFinal: NOT_FINAL });
    bench = evmBench(rig.node.chain as TestChain);
    payees = await happen(rig, REAL, bench, () => rig.bury());
  }, 120_000);
  afterAll(() => rig?.stop());

  describeRows(
    REAL,
    () => rig,
    () => payees,
  );

  it('and the books hold what the addresses hold, to the unit', () => rig.assertSound());
});
