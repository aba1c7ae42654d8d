/** What somebody who looks for work in the database waits on between two looks. */
export interface Bell {
  /** Ends this rest at once, or the next one if nobody rests. */
  ring(): void;
  /** Ends it within the interval of polling, so that looks which many ask for are one. */
  ringSoon(): void;
  /** Rests until it is rung, for `milliseconds` at most, or for one interval while no word can arrive. */
  rest(milliseconds: number): Promise<void>;
}

/** A silent bell. `deaf` says whether a word that there is work may be lost right now; then it is looked for every `pollMilliseconds`. */
export function createBell(pollMilliseconds: number, deaf: () => boolean): Bell {
  let [rung, soon] = [false, false];
  let rouse: () => void = () => undefined;
  return {
    ring() {
      rung = true;
      rouse();
    },
    ringSoon() {
      soon = true;
    },
    async rest(milliseconds) {
      for (let left = milliseconds; left > 0 && !rung; left -= pollMilliseconds) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, Math.min(left, pollMilliseconds));
          rouse = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        if (soon || deaf()) break;
      }
      [rung, soon] = [false, false];
    },
  };
}
