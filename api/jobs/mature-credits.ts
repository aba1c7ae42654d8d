import { matureCredits } from '#api/ledger/mature-credits.ts';
import type { Sweep } from './registry.ts';

/** Makes credits withdrawable once their delay has passed and their block is final by the maturity rule. */
export const matureCreditsSweep: Sweep = { name: 'mature-credits', everySeconds: 5, run: matureCredits };
