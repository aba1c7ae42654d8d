import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Family } from '#shared/core/assets.ts';
import { codecOf } from '#shared/chains/codecs.ts';
import { FULL } from '#test/harness/counts.ts';
import { describeAddresses } from './addresses.ts';
import { describeDeposits } from './deposits.ts';
import { DRIVERS } from './families.ts';
import { describeFaults } from './faults.ts';
import { describeGaps } from './gaps.ts';
import { describePayouts } from './payouts.ts';
import { describeReorganisations } from './reorganisations.ts';
import { aRig, type Rig } from './rig.ts';

/** A chain of each family there is. */
const FAMILIES: Readonly<Record<Family, string>> = { evm: '1', tron: 'mainnet', bitcoin: 'mainnet' };

/** Blocks of the head that may still go, so that there is a range of depths to reorganise. */
const NOT_FINAL = 4;

it.each((Object.keys(FAMILIES) as Family[]).filter(isServed))('%s, which this build serves, is tested by this suite', (family) => {
  expect(DRIVERS.map((driver) => driver.family)).toContain(family);
  expect(existsSync(`test/journeys/crash-cashout-${family}.test.ts`), 'and dies at every point of a cashout of its own').toBe(true);
});

describe.each(DRIVERS.map((driver) => [driver.family, driver] as const))('%s', (_family, driver) => {
  describeAddresses(driver);

  describe('on its local node', () => {
    const notFinal = FULL ? driver.deepest : NOT_FINAL;
    let rig: Rig;
    beforeAll(async () => {
      rig = await aRig(driver, { notFinal });
    });
    afterAll(() => rig?.stop());

    describe('a deposit', () => describeDeposits(() => rig));
    describe('a reorganisation', () => describeReorganisations(() => rig, notFinal));
    describe('a gap', () => describeGaps(() => rig));
    describeFaults(driver, () => rig);
  });

  describe('a payout', () => describePayouts(driver));
});

function isServed(family: Family): boolean {
  try {
    codecOf({ family, chainId: FAMILIES[family] });
    return true;
  } catch {
    return false;
  }
}
