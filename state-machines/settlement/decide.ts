import { Invariant } from '#shared/core/errors.ts';
import { amount } from '#shared/core/money.ts';
import { exceedsCap } from './gates/approval-cap.ts';
import { GATES } from './gates/index.ts';
import type { Approvals, Course, Decision, SettlementRequest } from './settlement.ts';

const START: Course = { verdict: null, pool: null, routedByService: false, riskScore: null, hold: null, park: null };

/**
 * Decides a settlement (contract 3.2, 4.3). Pure: call it, fetch the fact that it needs, and repeat until it needs nothing; then call it a last
 * time under the pool's lock with the current balance. Activating a parked settlement uses it too.
 */
export function decide(request: SettlementRequest): Decision {
  let course = START;
  for (const gate of GATES) {
    const answer = gate(request, course);
    if ('stop' in answer) return answer.stop;
    course = answer.pass;
  }
  return conclude(request, course);
}

function conclude(request: SettlementRequest, course: Course): Decision {
  const { amount: gross, feeLocked } = request;
  const { pool, routedByService, riskScore, hold, park } = course;
  const approvals = approvalsOf(request, course);
  if (park !== null) return { outcome: 'park', status: park, pool, routedByService, riskScore, ...approvals };
  if (pool === null || feeLocked === undefined) throw new Invariant('a settlement passed every gate without a pool or a fee');
  const claim = { pool, feeLocked, netAmount: amount<'asset'>(gross - feeLocked), routedByService, riskScore, ...approvals };
  return hold === null ? { outcome: 'claim', ...claim } : { outcome: 'hold', reason: hold, ...claim };
}

/** Of a settlement that is to be parked as it would be now: what was asked of it then is asked of it when it claims, whatever the price and the policies are by then. */
function approvalsOf(request: SettlementRequest, { verdict, hold, park }: Course): Approvals {
  const asked = verdict === null ? Number(park !== null && exceedsCap(request)) : verdict.outcome.kind === 'approve' ? verdict.outcome.people : 0;
  return { people: Math.max(asked, Number(hold !== null)), policy: verdict?.policy ?? null };
}
