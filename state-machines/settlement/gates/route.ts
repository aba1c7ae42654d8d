import type { Pool } from '../../ledger/accounts.ts';
import { type Gate, needs, refuse, type Route, type SettlementRequest } from '../settlement.ts';

/**
 * Decides which pool pays, and whether the destination may be paid without a person (contract 4.3, decisions 10). A screening costs money, so it is
 * bought only here, after every free gate has passed.
 */
export const route: Gate = (request, course) => {
  if (request.parkedAs === 'UNDERFUNDED') return screenAgain(request, course);
  const smart = request.route === 'SMART';
  const named = namedPool(request.route);
  // Without screening, AML_HELD continues and finds an empty pool; SMART is refused, because it would have to guess a verdict.
  if (!request.screening.enabled) return smart ? refuse('screening_required') : { pass: { ...course, pool: named } };
  if (request.screen === undefined) return needs('screen');

  if (request.screen === 'out_of_credit') {
    if (request.route === 'GREEN') return { pass: { ...course, pool: 'green', hold: 'screening_unavailable' } };
    return { pass: { ...course, pool: smart ? null : 'held', park: 'WAITING_AML_CREDIT' } };
  }
  if (request.screen === 'unavailable') {
    // A cashout that waits for a verdict keeps waiting. It has seven days, and no provider has to be asked yet.
    if (request.parkedAs === 'WAITING_AML_CREDIT') return { pass: { ...course, pool: smart ? null : named, park: 'WAITING_AML_CREDIT' } };
    return smart ? refuse('screening_required') : { pass: { ...course, pool: named, hold: 'screening_unavailable' } };
  }

  const flagged = isFlagged(request, request.screen.score);
  // For SMART the verdict chooses the pool. That is the answer to the request, and no reason to wait for approval.
  if (smart) return { pass: { ...course, pool: flagged ? 'held' : 'green', routedByService: true, riskScore: request.screen.score } };
  return { pass: { ...course, pool: named, hold: flagged ? 'destination_flagged' : course.hold } };
};

/** The pool that a fee is quoted for before the route is decided: the one that will pay, or the green pool while a SMART request has no verdict. */
export function likelyPool(request: Pick<SettlementRequest, 'route' | 'screening' | 'screen' | 'parkedAs' | 'parkedPool'>): Pool {
  if (request.parkedAs === 'UNDERFUNDED') return request.parkedPool ?? namedPool(request.route);
  if (request.route !== 'SMART') return namedPool(request.route);
  return typeof request.screen === 'object' && isFlagged(request, request.screen.score) ? 'held' : 'green';
}

/** An UNDERFUNDED settlement keeps its pool. If the screen does not pass now, a person must approve (contract 3.2). */
const screenAgain: Gate = (request, course) => {
  const pool = request.parkedPool ?? namedPool(request.route);
  if (!request.screening.enabled) return { pass: { ...course, pool } };
  if (request.screen === undefined) return needs('screen');
  if (typeof request.screen === 'string') return { pass: { ...course, pool, hold: 'screening_unavailable' } };
  // SMART chose the held pool because the destination is flagged, so a flag is expected there.
  const expected = request.route === 'SMART' && pool === 'held';
  return { pass: { ...course, pool, hold: isFlagged(request, request.screen.score) && !expected ? 'destination_flagged' : course.hold } };
};

function namedPool(asked: Route): Pool {
  return asked === 'AML_HELD' ? 'held' : 'green';
}

function isFlagged({ screening }: Pick<SettlementRequest, 'screening'>, score: number): boolean {
  return score >= screening.threshold;
}
