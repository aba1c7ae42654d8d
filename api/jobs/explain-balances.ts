import { explainBalances } from '#api/treasury/explain-balances.ts';
import type { Sweep } from './registry.ts';

/** Looks for coins that arrived unseen, on networks whose endpoints do not show internal transfers. */
export const explainBalancesSweep: Sweep = { name: 'explain-balances', everySeconds: 15, run: explainBalances };
