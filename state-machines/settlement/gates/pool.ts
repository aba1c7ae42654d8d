import { type Coins, formatAmount, zero } from '#shared/core/money.ts';
import type { Pool } from '#state-machines/ledger/accounts.ts';
import { type Gate, needs, refuse, type SettlementRequest } from '../settlement.ts';

/** Parks or refuses an amount that the chosen pool cannot cover now (contract 4.3, over-request rule). */
export const pool: Gate = (request, course) => {
  // Already parked for another reason. Nothing is claimed, so the pool does not matter yet.
  if (course.park !== null || course.pool === null) return { pass: course };
  if (request.pools === undefined) return needs('pools');
  const available = availableIn(request, course.pool) ?? zero;
  if (request.amount <= available) return { pass: course };
  if (request.parkingEnabled || request.parkedAs !== null) return { pass: { ...course, park: 'UNDERFUNDED' } };
  return refuse('insufficient_balance', `amount: requested ${formatAmount(request.amount)}, available ${formatAmount(available)}`);
};

/** The amount that a pool has for cashouts; null before it was read. */
export function availableIn({ pools, screening }: Pick<SettlementRequest, 'pools' | 'screening'>, pool: Pool): Coins | null {
  if (pools === undefined) return null;
  // Without screening the held pool pays nothing, even if it still holds something (contract 4.3, route rule 4).
  return pool === 'held' && !screening.enabled ? zero : pools[pool];
}
