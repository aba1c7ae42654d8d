import { vsizeOf } from './vsize.ts';

/** What the chosen outputs have to bring. */
export interface Need {
  rawAmount: bigint;
  /** Satoshis for that many inputs, with or without change; it only grows with them. */
  feeOf(inputs: number, change: boolean): bigint;
  /** Satoshis per thousand virtual bytes, by which an output is judged worth spending. */
  feeRate: bigint;
  /** Smallest change there may be. */
  dust: bigint;
}

/** Fee of a P2WPKH spend at a rate in satoshis per thousand virtual bytes, rounded up so that it never falls below the rate. */
export function feeAt(feeRate: bigint, vsize: bigint): bigint {
  return (feeRate * vsize + 999n) / 1_000n;
}

/**
 * The most that a payment may cost below a cap on its rate: change that would be dust, and what making it would have cost,
 * may come on top.
 */
export function mostFee(cap: bigint, inputs: number, { payment, change, dust }: { payment: string; change: string; dust: bigint }): bigint {
  return feeAt(cap, vsizeOf(inputs, [payment, change])) + dust;
}

/** The plain need of a payment to `payment` with change to `change` (scripts, hexadecimal digits) at `feeRate`. */
export function needOf(rawAmount: bigint, feeRate: bigint, { payment, change, dust }: { payment: string; change: string; dust: bigint }): Need {
  return {
    rawAmount,
    feeOf: (inputs, withChange) => feeAt(feeRate, vsizeOf(inputs, withChange ? [payment, change] : [payment])),
    feeRate,
    dust,
  };
}
