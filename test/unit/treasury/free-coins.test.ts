import { describe, expect, it } from 'vitest';
import type { StoredPayout } from '#api/store/payouts.ts';
import { freeOf } from '#api/treasury/plan-transfer.ts';

const onTheWay = (contract: string | null, rawAmount: bigint, rawFee: string): StoredPayout =>
  ({ contract, rawAmount, rawFeeAtMost: BigInt(rawFee) }) as StoredPayout;

describe('what a wallet can still spend', () => {
  it('is what the chain shows when nothing is on its way', () => {
    expect(freeOf({ coins: 70n, native: 5n }, [], '0xusdt')).toEqual({ coins: 70n, native: 5n });
  });

  it('takes off tokens and gas of a payout on its way, and only the gas for another token', () => {
    expect(freeOf({ coins: 70n, native: 50n }, [onTheWay('0xusdt', 30n, '4'), onTheWay('0xusdc', 9n, '5')], '0xusdt')).toEqual({ coins: 40n, native: 41n });
  });

  it('takes off amount and gas of everything when the native coin itself is spent', () => {
    expect(freeOf({ coins: 100n, native: 100n }, [onTheWay(null, 30n, '4'), onTheWay('0xusdt', 9n, '5')], null)).toEqual({ coins: 61n, native: 61n });
  });

  it('goes below zero rather than hide that more is promised than there is', () => {
    expect(freeOf({ coins: 1n, native: 1n }, [onTheWay('0xusdt', 3n, '2')], '0xusdt')).toEqual({ coins: -2n, native: -1n });
  });
});
