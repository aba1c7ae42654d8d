/** A bell for one waiter: rung before anybody waits, the next wait returns at once. */
export interface Wake {
  ring(): void;
  /** Returns when the bell rings, after `ms`, or when `signal` aborts, whichever is first; true when it rang. */
  wait(ms: number, signal: AbortSignal): Promise<boolean>;
}

/** A silent bell. */
export function createWake(): Wake {
  let rung = false;
  let wakeUp: (() => void) | undefined;
  return {
    ring() {
      rung = true;
      wakeUp?.();
    },
    async wait(ms, signal) {
      if (!rung && !signal.aborted)
        await new Promise<void>((resolve) => {
          const done = (): void => {
            clearTimeout(timer);
            signal.removeEventListener('abort', done);
            wakeUp = undefined;
            resolve();
          };
          const timer = setTimeout(done, ms);
          signal.addEventListener('abort', done);
          wakeUp = done;
        });
      const rang = rung;
      rung = false;
      return rang;
    },
  };
}
