import { type Gate, needs, refuse } from '../settlement.ts';

/** Refuses to park more settlements than the gateway may have parked (contract 4.3, decisions 10). */
export const parkedCap: Gate = (request, course) => {
  if (course.park === null || request.parkedAs !== null) return { pass: course };
  if (request.parkedCount === undefined) return needs('parkedCount');
  return request.parkedCount < request.parkedCap
    ? { pass: course }
    : refuse('too_many_parked_cashouts', `${request.parkedCount} cashouts are parked; at most ${request.parkedCap} may be`);
};
