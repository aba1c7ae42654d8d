import { expireDuePayments } from '#api/payments/expire.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Sweep } from './registry.ts';

/** Expires overdue payments well inside the contract's "about a minute". */
export const expirePayments: Sweep = { name: 'expire-payments', everySeconds: POLICY.expirySweepSeconds, run: expireDuePayments };
