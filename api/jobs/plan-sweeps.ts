import { planSweeps } from '#api/treasury/plan-sweeps.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Sweep } from './registry.ts';

/** Brings deposits that are worth it to the wallets, so that cashouts seldom wait for a sweep of their own. */
export const planSweepsSweep: Sweep = { name: 'plan-sweeps', everySeconds: POLICY.sweepSeconds, run: planSweeps };
