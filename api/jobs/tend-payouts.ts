import { tendPayouts } from '#api/payouts/tend-payouts.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Sweep } from './registry.ts';

/** Looks after payouts that no block holds yet: fresh quotes, higher fees, closed nonces, new bytes for expired ones. */
export const tendPayoutsSweep: Sweep = { name: 'tend-payouts', everySeconds: POLICY.payoutTendSeconds, run: tendPayouts };
