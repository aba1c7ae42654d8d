import { activateParked } from '#api/settlements/activate-parked.ts';
import { expireParked } from '#api/settlements/expire-parked.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Sweep } from './registry.ts';

/** Activates parked cashouts that have become possible; each is looked at once a minute, and this looks for those whose minute is over. */
export const activateParkedSweep: Sweep = { name: 'activate-parked', everySeconds: POLICY.parkedSweepSeconds, run: activateParked };

/** Rejects parked cashouts whose seven days are over. */
export const expireParkedSweep: Sweep = { name: 'expire-parked', everySeconds: POLICY.parkedSweepSeconds, run: expireParked };
