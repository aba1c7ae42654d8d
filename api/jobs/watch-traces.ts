import { watchTraces } from '#api/treasury/watch-traces.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Sweep } from './registry.ts';

/** Takes native coins out of the offers while nobody sees all of their transfers. */
export const watchTracesSweep: Sweep = { name: 'watch-traces', everySeconds: POLICY.lacksWatchSeconds, run: watchTraces };
