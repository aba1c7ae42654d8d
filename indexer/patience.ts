import type { IndexerDeps } from './life.ts';

/** How long a child tries again by itself before it gives its epoch up. */
const GIVE_UP_MS = 15_000;
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 2_000;

/** Counts failures in a row: each answers how long to wait, until it has gone on too long. */
export interface Patience {
  reset(): void;
  /** Milliseconds to wait before the next try. @throws the error itself once nothing has worked for 15 s */
  next(error: Error): number;
}

/** A fresh count. */
export function createPatience(deps: Pick<IndexerDeps, 'monotonicMs' | 'log'>): Patience {
  let failures = 0;
  let since = 0;
  return {
    reset() {
      failures = 0;
    },
    next(error) {
      const now = deps.monotonicMs();
      if (failures === 0) {
        since = now;
        deps.log.warn({ err: error }, 'trying again');
      }
      failures += 1;
      if (now - since > GIVE_UP_MS) throw error;
      return Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(failures - 1, 10));
    },
  };
}
