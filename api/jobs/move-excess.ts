import { moveExcess } from '#api/treasury/move-excess.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Sweep } from './registry.ts';

/** Brings what hot wallets hold above their ceilings to cold storage. */
export const moveExcessSweep: Sweep = { name: 'move-excess', everySeconds: POLICY.coldSeconds, run: moveExcess };
