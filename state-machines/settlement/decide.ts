import { Invariant } from '#shared/core/errors.ts';
import { amount } from '#shared/core/money.ts';
import { GATES } from './gates/index.ts';
import type { Course, Decision, SettlementRequest } from './settlement.ts';

const START: Course = { pool: null, routedByService: false, riskScore: null, hold: null, park: null };

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

function conclude({ amount: gross, feeLocked }: SettlementRequest, { pool, routedByService, riskScore, hold, park }: Course): Decision {
  if (park !== null) return { outcome: 'park', status: park, pool, routedByService, riskScore };
  if (pool === null || feeLocked === undefined) throw new Invariant('a settlement passed every gate without a pool or a fee');
  const claim = { pool, feeLocked, netAmount: amount<'asset'>(gross - feeLocked), routedByService, riskScore };
  return hold === null ? { outcome: 'claim', ...claim } : { outcome: 'hold', reason: hold, ...claim };
}
