import { ONE } from '#shared/core/money.ts';
import { type Gate, needs } from '../settlement.ts';

/** Holds for approval what is worth strictly more than the gateway's cap (contract 4.3). */
export const approvalCap: Gate = (request, course) => {
  // A parked settlement meets the cap when it is activated, at the price of that moment.
  if (request.approvalCapUsd === null || course.park !== null) return { pass: course };
  if (request.priceUsd === undefined) return needs('price');
  const over = request.amount * request.priceUsd > request.approvalCapUsd * ONE;
  return { pass: over ? { ...course, hold: course.hold ?? 'approval_cap' } : course };
};
