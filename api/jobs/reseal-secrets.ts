import { resealEverything } from '#api/operator/reseal.ts';
import type { Sweep } from './registry.ts';

/** Brings what is stored under a previous master key over to the current one, for as long as there is a previous one (decision 0026). */
export const resealSecretsSweep: Sweep = {
  name: 'reseal-secrets',
  everySeconds: 60,
  run: async (deps) => {
    const { secrets, orders } = await resealEverything(deps);
    return secrets + orders;
  },
};
