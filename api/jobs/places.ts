/** Room for runs that are begun without being waited for. */
export interface Places {
  /** How many may begin now. */
  free(): number;
  /** Runs this in a place until it ends; the caller saw that one is free. It never rejects, nor does what is returned. */
  run(work: () => Promise<void>): Promise<void>;
  /**
   * Waits until `many` places are free, or all but those of runs that have gone on for more than `atMostMs` milliseconds already; or until one is and as many milliseconds are
   * over, or no more are wanted.
   */
  untilFree(many: number, atMostMs: number): Promise<void>;
  /** Lets nobody wait for a place any longer, and waits for what runs. */
  close(): Promise<void>;
}

/** Opens `all` places. */
export function openPlaces(all: number): Places {
  /** When each of them began, milliseconds. */
  const running = new Map<Promise<void>, number>();
  /** What is looked at whenever a place becomes free. */
  const waiting = new Set<() => void>();
  let closed = false;
  const free = (): number => all - running.size;
  return {
    free,
    run: (work) => {
      const run = work().finally(() => {
        running.delete(run);
        for (const look of waiting) look();
      });
      running.set(run, performance.now());
      return run;
    },
    untilFree: (many, atMostMs) =>
      new Promise((resolve) => {
        const now = performance.now();
        // Where runs hang `many` are never free: the few others would be used again only once in that time, however quick what runs there.
        const hanging = [...running.values()].filter((beganMs) => now - beganMs > atMostMs).length;
        let least = Math.max(1, Math.min(many, all - hanging));
        const look = (): void => {
          if (free() < least && !closed) return;
          clearTimeout(timer);
          waiting.delete(look);
          resolve();
        };
        const timer = setTimeout(() => {
          least = 1;
          look();
        }, atMostMs);
        waiting.add(look);
        look();
      }),
    close: async () => {
      closed = true;
      for (const look of waiting) look();
      await Promise.allSettled(running.keys());
    },
  };
}
