import { watchIssuers } from '#api/treasury/watch-issuers.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Sweep } from './registry.ts';

/** Stops tokens whose issuer does not let our wallets move them. */
export const watchIssuersSweep: Sweep = { name: 'watch-issuers', everySeconds: POLICY.issuerWatchSeconds, run: watchIssuers };
