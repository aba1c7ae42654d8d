import { type Gate, needs, refuse } from '../settlement.ts';

/**
 * Settles which pool pays and whether the destination may be paid without a person (contract 4.3, decisions 10). A
 * screening is bought only here, after everything that is free has passed.
 */
export const route: Gate = (request, course) => {
  const smart = request.route === 'SMART';
  const named = request.route === 'AML_HELD' ? 'held' : 'green';
  // Without screening nothing is ever held, so AML_HELD goes on to find an empty pool; SMART never guesses a verdict.
  if (!request.screening.enabled) return smart ? refuse('screening_required') : { pass: { ...course, pool: named } };
  if (request.screen === undefined) return needs('screen');

  if (request.screen === 'out_of_credit') {
    if (request.route === 'GREEN') return { pass: { ...course, pool: 'green', hold: 'screening_unavailable' } };
    return { pass: { ...course, pool: smart ? null : 'held', park: 'WAITING_AML_CREDIT' } };
  }
  if (request.screen === 'unavailable') return smart ? refuse('screening_required') : { pass: { ...course, pool: named, hold: 'screening_unavailable' } };

  const flagged = request.screen.score >= request.screening.threshold;
  // For SMART the verdict chooses the pool; that is the service's answer to it, not a reason to wait for approval.
  if (smart) return { pass: { ...course, pool: flagged ? 'held' : 'green', routedByService: true, riskScore: request.screen.score } };
  return { pass: { ...course, pool: named, hold: flagged ? 'destination_flagged' : course.hold } };
};
