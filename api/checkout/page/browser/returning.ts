import type { Returning } from '../model.ts';
import type { TabMemory } from './memory.ts';

/** What the return to the merchant needs of the page around it (ux C11, decisions 7). */
export interface ReturnEffects {
  /** The payment is accepted. */
  isDue(): boolean;
  isVisible(): boolean;
  after(ms: number, run: () => void): () => void;
  memory: TabMemory;
  show(returning: Returning): void;
  /** Says it to those who cannot see it, once. */
  tell(secondsLeft: number): void;
  leave(): void;
}

/** The return as the page drives it. */
export interface Return {
  /** Begins to count when it is time to, once. */
  look(): void;
  /** The payer stays, for good. */
  stop(): void;
  /** The tab goes elsewhere: coming back with the browser's own button must not throw the payer out again. */
  left(): void;
}

/** For how long the page says that it returns to the merchant, in seconds (ux S5). */
const RETURN_SECONDS = 5;
const SECOND_MS = 1_000;
/** What a tab remembers of a return that happened, or was stopped. */
const SPENT = 'returned';

/** Counts down to the return. Seconds pass only while somebody can read them: who comes back from a wallet wants to see the result. */
export function openReturn(effects: ReturnEffects): Return {
  let hasBegun = false;
  let isTold = false;

  function count(secondsLeft: number): void {
    effects.show({ secondsLeft });
    if (!isTold && effects.isVisible()) {
      isTold = true;
      effects.tell(secondsLeft);
    }
    effects.after(SECOND_MS, () => goOn(effects.isVisible() ? secondsLeft - 1 : secondsLeft));
  }

  function goOn(secondsLeft: number): void {
    if (effects.memory.has(SPENT)) stop();
    else if (secondsLeft > 0) count(secondsLeft);
    else {
      stop();
      effects.leave();
    }
  }

  function stop(): void {
    effects.memory.add(SPENT);
    effects.show('stopped');
  }

  return {
    look: () => {
      if (hasBegun || !effects.isDue() || effects.memory.has(SPENT)) return;
      hasBegun = true;
      count(RETURN_SECONDS);
    },
    stop,
    left: () => {
      if (hasBegun) effects.memory.add(SPENT);
    },
  };
}
