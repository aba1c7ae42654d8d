import { creditFinalDeposits } from '#api/payments/credit-deposit.ts';
import type { Sweep } from './registry.ts';

/** Books final deposits that the consumer did not get to: it crashed after its commit, or a price was missing then. */
export const creditDeposits: Sweep = {
  name: 'credit-deposits',
  everySeconds: 5,
  run: async (deps) => {
    let moved = 0;
    for (const chain of deps.chains.values()) moved += await creditFinalDeposits(deps, chain.id);
    return moved;
  },
};
