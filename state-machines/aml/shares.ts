import { amount, type Coins } from '#shared/core/money.ts';
import type { Pool } from '../ledger/accounts.ts';

/** Why a held credit's pool can no longer draw it. */
export type Taken = 'withheld' | 'refunding' | 'refunded';

/** The facts about one credit that decide which account holds it. */
export interface PooledCredit {
  assetId: string;
  pool: Pool;
  /** Null while its pool can draw it. */
  taken: Taken | null;
  matured: boolean;
  net: Coins;
  /** The part that no cashout has drawn. */
  remaining: Coins;
}

/** What the credits of one asset still hold, by account. */
export interface Share {
  maturing: Coins;
  matured: Coins;
}

/** Sums per asset what is left of credits; assets with nothing left are omitted. Pure. */
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
