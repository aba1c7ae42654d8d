import type { Coin } from './coins.ts';
import type { Tx } from './transaction.ts';

/** A transaction that waits, with what it was when it came. */
export interface Entry {
  tx: Tx;
  fee: bigint;
  /** Unix seconds. */
  time: number;
  /** Height of the head at the time. */
  height: number;
  /** What its inputs spend, in their order. */
  spent: Coin[];
}
