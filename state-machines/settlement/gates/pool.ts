import { formatAmount } from '#shared/core/money.ts';
import { type Gate, needs, refuse } from '../settlement.ts';

/** Parks or refuses what the routed pool cannot cover now (contract 4.3, over-request rule). */
export const pool: Gate = (request, course) => {
  // Already parked for another reason: nothing is claimed, so the pool does not matter yet.
  if (course.park !== null || course.pool === null) return { pass: course };
  if (request.pools === undefined) return needs('pools');
  // Without screening the held pool pays nothing, even where it still holds something (contract 4.3, route rule 4).
  const available = course.pool === 'held' && !request.screening.enabled ? 0n : request.pools[course.pool];
  if (request.amount <= available) return { pass: course };
  if (request.parkingEnabled || request.parkedAs !== null) return { pass: { ...course, park: 'UNDERFUNDED' } };
  return refuse('insufficient_balance', `amount: requested ${formatAmount(request.amount)}, available ${formatAmount(available)}`);
};
