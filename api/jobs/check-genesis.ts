import { pinGenesis } from '#api/operator/pin-genesis.ts';
import type { Sweep } from './registry.ts';

/** Checks every chain's identity again each minute, so that an endpoint that changes sides is noticed. */
export const checkGenesis: Sweep = {
  name: 'check-genesis',
  everySeconds: 60,
  run: async (deps) => {
    await pinGenesis(deps.db, deps.chains.values(), deps.log);
    return 0;
  },
};
