import { confirmDueSimulations } from '#api/payments/simulate.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Sweep } from './registry.ts';

/** Confirms the simulated deposits of `seen_then_confirmed` when their time has come. */
export const confirmSimulations: Sweep = { name: 'confirm-simulations', everySeconds: POLICY.sandboxSweepSeconds, run: confirmDueSimulations };
