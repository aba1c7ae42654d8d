import { amount, type Coins } from '#shared/core/money.ts';
import type { Pool } from '../ledger/accounts.ts';
import type { Route } from './settlement.ts';

/** How far the fee of a parked cashout may rise until it is claimed, as a multiple of what it was when it was accepted (decision 0036). */
const FEE_RISE = 10n;

/**
 * The highest network fee a cashout may lock that is accepted before anything is claimed for it: ten times what was quoted, but no more than half of
 * its amount unless it was that much already, and so never all of it. `quoted` is null when the quote was not kept. Pure.
 */
export function feeCeiling(asked: Coins, quoted: Coins | null): Coins {
  const half = amount<'asset'>(asked / 2n);
  if (quoted === null) return half;
  const risen = amount<'asset'>(quoted * FEE_RISE);
  const most = risen < half ? risen : half;
  return most > quoted ? most : quoted;
}

/** Whether a cashout that was accepted for this route, and for this pool where one was settled, may be paid out of a pool. Pure. */
export function mayDraw(accepted: { route: Route; pool: Pool | null }, pool: Pool): boolean {
  if (accepted.pool !== null) return accepted.pool === pool;
  return accepted.route === 'SMART' || (accepted.route === 'AML_HELD' ? 'held' : 'green') === pool;
}
