import { amount, type Coins } from '#shared/core/money.ts';
import type { Pool } from '../ledger/accounts.ts';
import type { Route } from './settlement.ts';

/** How far the fee of a parked cashout may rise before it is claimed, as a multiple of the fee when it was accepted (decision 0036). */
const FEE_RISE = 10n;

/**
 * The highest network fee that a parked cashout may lock later: ten times the quoted fee, but at most half of its amount unless the quote was
 * already more, and so never all of it. `quoted` is null when the quote was not kept. Pure.
 */
export function feeCeiling(asked: Coins, quoted: Coins | null): Coins {
  const half = amount<'asset'>(asked / 2n);
  if (quoted === null) return half;
  const risen = amount<'asset'>(quoted * FEE_RISE);
  const most = risen < half ? risen : half;
  return most > quoted ? most : quoted;
}

/** Whether a pool may pay a cashout that was accepted for this route, and for this pool where one was chosen. Pure. */
export function mayDraw(accepted: { route: Route; pool: Pool | null }, pool: Pool): boolean {
  if (accepted.pool !== null) return accepted.pool === pool;
  return accepted.route === 'SMART' || (accepted.route === 'AML_HELD' ? 'held' : 'green') === pool;
}
