import { ONE } from '#shared/core/money.ts';
import { type Gate, needs, type SettlementRequest } from '../settlement.ts';

/** Holds for approval what is worth strictly more than the gateway's cap (contract 4.3). */
export const approvalCap: Gate = (request, course) => {
  // A parked settlement meets the cap when it is activated, at the price of that moment.
  if (request.approvalCapUsd === null || course.park !== null) return { pass: course };
  if (request.priceUsd === undefined) return needs('price');
  return { pass: exceedsCap(request) ? { ...course, hold: course.hold ?? 'approval_cap' } : course };
};

/** Whether it is worth strictly more than the gateway's cap; taken to be where there is a cap and no price to tell by. */
export function exceedsCap({ amount, priceUsd, approvalCapUsd }: Pick<SettlementRequest, 'amount' | 'priceUsd' | 'approvalCapUsd'>): boolean {
  if (approvalCapUsd === null) return false;
  return priceUsd === undefined || amount * priceUsd > approvalCapUsd * ONE;
}
