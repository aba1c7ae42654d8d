import { describe, expect, it } from 'vitest';
import { spareOutputs } from '#state-machines/payout/spare-outputs.ts';

const of = (...amounts: bigint[]) => amounts.map((rawAmount) => ({ rawAmount }));
const amounts = (spare: ReturnType<typeof spareOutputs>) => spare && { outputs: spare.outputs.map((one) => one.rawAmount), rawAmount: spare.rawAmount };

describe('the outputs that bring excess out of a pool', () => {
  it('are whole ones, the largest first, and no more than the excess', () => {
    expect(amounts(spareOutputs(of(10n, 40n, 30n, 20n), { excess: 65n, most: 90n }))).toEqual({ outputs: [40n, 20n], rawAmount: 60n });
  });

  it('are one more with change where whole ones are less than half of it, and cashouts are left enough meanwhile', () => {
    expect(amounts(spareOutputs(of(100n, 60n, 5n), { excess: 50n, most: 80n }))).toEqual({ outputs: [5n, 60n], rawAmount: 50n });
    expect(amounts(spareOutputs(of(100n), { excess: 50n, most: 100n }))).toEqual({ outputs: [100n], rawAmount: 50n });
  });

  it('are only the whole ones, or none, where the change would be missed', () => {
    expect(amounts(spareOutputs(of(100n, 5n), { excess: 50n, most: 99n }))).toEqual({ outputs: [5n], rawAmount: 5n });
    expect(spareOutputs(of(100n), { excess: 50n, most: 99n })).toBeNull();
    expect(spareOutputs([], { excess: 50n, most: 99n })).toBeNull();
  });

  it('are never so many that one transaction could not carry them', () => {
    const spare = spareOutputs(
      Array.from({ length: 500 }, () => ({ rawAmount: 1n })),
      { excess: 400n, most: 450n },
    );
    expect(spare?.outputs).toHaveLength(100);
  });
});
