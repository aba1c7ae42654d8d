import { setTimeout as pause } from 'node:timers/promises';
import { afterAnswer, afterRefusal, type Budget, freshBudget, isOwnNode, spend } from './budget.ts';
import { ChainUnavailable } from './chain.ts';

/** Limits the requests to one endpoint: how many run at the same time, and how many per second. */
export interface Gate {
  /**
   * Runs one request that counts as `calls` calls, once it is its turn.
   * @throws ChainUnavailable (busy) without a request when its turn is too far away
   */
  pass<T>(calls: number, work: () => Promise<T>): Promise<T>;
  /** Reports that calls were answered. */
  answered(calls: number): void;
  /** Reports that the endpoint wants fewer calls; `retryAfterMs` is what it asked for, if it did. */
  refused(retryAfterMs: number | undefined): void;
}

/** Most requests to one endpoint at the same time. */
const MOST_AT_ONCE = 16;
/** A request that would wait longer than this fails, so that the caller can ask another endpoint. */
const LONGEST_WAIT_MS = 5_000;

/** Opens the gate of one endpoint. The reader and the payer of a process share it. */
export function openGate(url: string, now: () => number = () => performance.now()): Gate {
  const provider = new URL(url).host;
  let budget: Budget = freshBudget(now(), isOwnNode(url));
  let running = 0;
  const queue: (() => void)[] = [];

  const enter = async (): Promise<void> => {
    if (running >= MOST_AT_ONCE) await new Promise<void>((resolve) => queue.push(resolve));
    else running += 1;
  };
  const leave = (): void => {
    const next = queue.shift();
    if (next === undefined) running -= 1;
    else next();
  };

  return {
    async pass(calls, work) {
      await enter();
      try {
        const taken = spend(budget, calls, now());
        if (taken.waitMs > LONGEST_WAIT_MS)
          throw new ChainUnavailable(`${provider} is asked again in ${Math.ceil(taken.waitMs / 1_000)} s`, { trouble: 'busy', retryAfterMs: taken.waitMs });
        budget = taken.budget;
        if (taken.waitMs > 0) await pause(taken.waitMs);
        return await work();
      } finally {
        leave();
      }
    },
    answered(calls) {
      budget = afterAnswer(budget, calls);
    },
    refused(retryAfterMs) {
      budget = afterRefusal(budget, now(), retryAfterMs ?? 0);
    },
  };
}
