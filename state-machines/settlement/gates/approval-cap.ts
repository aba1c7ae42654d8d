import { ONE } from '#shared/core/money.ts';
import { type Gate, needs, type SettlementRequest } from '../settlement.ts';

/** Holds a cashout for approval if its gateway's policies ask for people, or, when none is about it, if it is worth strictly more than the gateway's cap (contract 4.3). */
export const approvalCap: Gate = (request, course) => {
  // The cap applies to a parked settlement when it is activated, at the price then.
  if (course.park !== null) return { pass: course };
  if (course.verdict !== null) return { pass: course.verdict.outcome.kind === 'approve' ? { ...course, hold: course.hold ?? 'policy' } : course };
  if (request.approvalCapUsd === null) return { pass: course };
  if (request.priceUsd === undefined) return needs('price');
  return { pass: exceedsCap(request) ? { ...course, hold: course.hold ?? 'approval_cap' } : course };
};

/** Whether a cashout is worth strictly more than the gateway's cap. Without a price it counts as more. */
export function exceedsCap({ amount, priceUsd, approvalCapUsd }: Pick<SettlementRequest, 'amount' | 'priceUsd' | 'approvalCapUsd'>): boolean {
  if (approvalCapUsd === null) return false;
  return priceUsd === undefined || amount * priceUsd > approvalCapUsd * ONE;
}
