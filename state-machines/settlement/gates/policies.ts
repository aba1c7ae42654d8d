import { judge, needsPrice } from '../policies.ts';
import { type Gate, needs, refuse } from '../settlement.ts';

/** Refuses what a policy of the gateway refuses, before anything is paid for, and keeps what the first one that is about it asks for (console 3). */
export const policies: Gate = (request, course) => {
  if (request.policies === undefined) return needs('policies');
  const { policies: all, final, ...facts } = request.policies;
  if (request.priceUsd === undefined && !final && needsPrice(all)) return needs('price');
  const { amount, priceUsd, route } = request;
  const verdict = judge(all, { ...facts, amount, priceUsd, route });
  if (verdict?.outcome.kind === 'refuse') return refuse('forbidden', `Policy ${verdict.policy} of this gateway refuses such a cashout.`);
  return { pass: { ...course, verdict } };
};
