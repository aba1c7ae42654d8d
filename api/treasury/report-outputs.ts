import type { Deps } from '#api/deps.ts';
import { sumSpendable } from '#api/store/outputs.ts';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import { POOLS } from '#state-machines/ledger/accounts.ts';
import { purseOf } from '#api/payouts/rules/spending.ts';
import { poolWallet } from './wallets.ts';

/** Reports for each pool how many outputs are worth more than they cost to spend now; returns for how many pools it did. */
export async function reportOutputs(deps: Deps): Promise<number> {
  let said = 0;
  for (const chain of deps.chains.values()) {
    const { outputCost } = chain.payer;
    if (deps.metrics === undefined || outputCost === undefined) continue;
    try {
      const { input } = await outputCost();
      for (const pool of POOLS) {
        const { count } = await sumSpendable(deps.db.sql, purseOf(chain, await poolWallet(deps, chain, pool)), input);
        deps.metrics.poolOutputs.set({ chain: chain.config.name, pool }, count);
        said += 1;
      }
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      deps.log.debug({ err: error, network: chain.config.name }, 'nobody says what an output costs to spend');
    }
  }
  return said;
}
