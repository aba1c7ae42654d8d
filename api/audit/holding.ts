import type { ChainUnavailable } from '#shared/chains/chain.ts';
import type { Coins } from '#shared/core/money.ts';

/** What the books and the chain say about one asset at one block. */
export interface Holding {
  network: string;
  assetId: string;
  symbol: string;
  /** Whether it is the coin that fees are paid in. */
  native: boolean;
  /** The block both sides are taken at. */
  height: number;
  /** What our addresses should hold: the books, plus what the chain has shown but finality has not yet let into them. */
  expected: Coins;
  /** What they hold. */
  actual: Coins;
  /** actual − expected; anything but zero is money nobody can explain. */
  difference: Coins;
  /** `actual` by role of the wallet: hot, funding, held, deposit. */
  byRole: ReadonlyMap<string, Coins>;
}

/** An asset that cannot be compared: nothing is known about it, good or bad. */
export interface UnreadHolding {
  network: string;
  symbol: string;
  /** What the chain said instead of a balance; `unopened` while what a wallet held before it was watched is not in the books. */
  why: ChainUnavailable | 'unopened';
}
