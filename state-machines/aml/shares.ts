import { amount, type Coins } from '#shared/core/money.ts';
import type { Pool } from '../ledger/accounts.ts';

/** What became of a held credit that its pool cannot draw any more. */
export type Taken = 'withheld' | 'refunding' | 'refunded';

/** One credit of a payment, as far as its pool and its end are decided by it. */
export interface PooledCredit {
  assetId: string;
  pool: Pool;
  /** Null while its pool can draw it. */
  taken: Taken | null;
  matured: boolean;
  net: Coins;
  /** Not drawn by a cashout. */
  remaining: Coins;
}

/** What credits of one asset still hold, by the account it is in. */
export interface Share {
  maturing: Coins;
  matured: Coins;
}

/** Adds up per asset what is left of credits, those that hold nothing left out. Pure. */
export function sharesOf(credits: readonly PooledCredit[]): Map<string, Share> {
  const shares = new Map<string, Share>();
  for (const { assetId, matured, remaining } of credits) {
    if (remaining === 0n) continue;
    const share = shares.get(assetId) ?? { maturing: amount<'asset'>(0n), matured: amount<'asset'>(0n) };
    const place = matured ? 'matured' : 'maturing';
    shares.set(assetId, { ...share, [place]: amount<'asset'>(share[place] + remaining) });
  }
  return shares;
}
