/** How long calls that were taken ahead may be spent. What is left of them then is lost, and comes back as the bucket drains. */
const AHEAD_MS = 1_000;
/** Calls that are taken together at most: what a busy process spends between two questions. */
const MOST = 64;

/** What one question brought, the call that asked included. */
interface Taken {
  calls: number;
  left: number;
  at: number;
}

/**
 * Calls that this process took from a shared bucket ahead of time, so that nobody who calls often is asked about each time. They left that bucket
 * before they are spent: all processes together never let more pass than it holds.
 */
export interface CallsAhead {
  /** Spends one of them; false when none is left, or when their time is over. */
  spend(key: string): boolean;
  /**
   * Asks for one call, or for several that are kept here: twice as many as the last time while those are spent within a second. One question at a time is
   * for several; those beside it are for one.
   */
  ask<T extends { calls: number } | undefined>(key: string, question: (calls: number) => Promise<T>): Promise<T>;
}

/** Keeps what was taken in `memory`, by the name of the bucket; forgetting it costs what is left of it. */
export function createCallsAhead(now: () => number, memory: { get(key: string): Taken | undefined; set(key: string, taken: Taken): void }): CallsAhead {
  const asking = new Set<string>();
  const isFresh = ({ at }: Taken): boolean => Math.abs(now() - at) < AHEAD_MS;
  return {
    spend(key) {
      const taken = memory.get(key);
      if (taken === undefined || taken.left === 0 || !isFresh(taken)) return false;
      taken.left -= 1;
      return true;
    },
    async ask(key, question) {
      if (asking.has(key)) return question(1);
      const last = memory.get(key);
      asking.add(key);
      try {
        const answer = await question(last?.left === 0 && isFresh(last) ? Math.min(MOST, last.calls * 2) : 1);
        const calls = answer?.calls ?? 0;
        memory.set(key, { calls: Math.max(1, calls), left: Math.max(0, calls - 1), at: now() });
        return answer;
      } finally {
        asking.delete(key);
      }
    },
  };
}
