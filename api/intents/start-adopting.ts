import type { Deps } from '#api/deps.ts';
import { adoptOrders } from './adopt.ts';

/** Cashouts of the release before this one wait about this long for the signer of this one. */
const PAUSE_MILLISECONDS = 1_000;

/**
 * Countersigns what the release before this one accepts, again and again until stopped, in every http process of an upgrade; does nothing without
 * SLUICE_INTENT_ADOPT_BEFORE (decision 0036). Stopping finishes the round at hand.
 */
export function startAdopting(deps: Deps): { stop(): Promise<void> } {
  if (deps.config.SLUICE_INTENT_ADOPT_BEFORE === undefined) return { stop: () => Promise.resolve() };
  let stopping = false;
  let rouse: () => void = () => undefined;
  const loop = async (): Promise<void> => {
    while (!stopping) {
      await adoptOrders(deps).catch((error: unknown) => deps.log.warn({ err: error }, 'orders of the release before this one could not be countersigned'));
      if (stopping) break;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, PAUSE_MILLISECONDS);
        rouse = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  };
  const running = loop();
  return {
    stop: async () => {
      stopping = true;
      rouse();
      await running;
    },
  };
}
