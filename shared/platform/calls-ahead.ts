/** How long calls that were taken ahead may be spent. What is left of them then is lost, and comes back as the bucket drains. */
const AHEAD_MS = 1_000;
/** Calls that are taken together at most: what a busy process spends between two questions. */
const MOST = 64;
/** At most this part of what was spent is taken at once: whatever a client's rhythm, no more than that much beside leaves its bucket for nothing. */
const PART = 8;

/** What the last question brought. */
interface Taken {
  left: number;
  at: number;
  /** Calls since some were last lost, each question's own among them. */
  spent: number;
}

/**
 * Calls that this process took from a shared bucket ahead of time, so that nobody who calls often is asked about each time. They left that bucket
 * before they are spent: all processes together never let more pass than it holds.
 */
export interface CallsAhead {
  /** Spends one of them; false when none is left, or when their time is over. */
  spend(key: string): boolean;
  /**
   * Asks for one call, or for several that are kept here: an eighth of what was spent, while all that is taken is spent within a second. One question at a
   * time is for several; those beside it are for one.
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
      taken.spent += 1;
      return true;
    },
    async ask(key, question) {
      if (asking.has(key)) return question(1);
      const last = memory.get(key);
      const spent = last?.left === 0 && isFresh(last) ? last.spent : 0;
      asking.add(key);
      try {
        const answer = await question(Math.max(1, Math.min(MOST, Math.floor(spent / PART))));
        const calls = answer?.calls ?? 0;
        memory.set(key, calls === 0 ? { left: 0, at: now(), spent: 0 } : { left: calls - 1, at: now(), spent: spent + 1 });
        return answer;
      } finally {
        asking.delete(key);
      }
    },
  };
}
