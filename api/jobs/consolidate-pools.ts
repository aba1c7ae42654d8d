import { consolidatePools } from '#api/treasury/consolidate-pools.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Sweep } from './registry.ts';

/** Joins small outputs while fees are low, so that cashouts seldom wait for it. */
export const consolidatePoolsSweep: Sweep = { name: 'consolidate-pools', everySeconds: POLICY.consolidationSeconds, run: consolidatePools };
