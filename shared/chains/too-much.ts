/** How nodes and gateways say that they were asked for too much at once; each words it differently (chains 1.3). */
const TOO_MUCH = /range|limit|too (many|much|large|big|long)|exceed|response size|body size|payload|\b413\b|time(d)? ?out|took too long/i;

/**
 * Whether asking for less may help: the error, or one it came from, speaks of ranges, limits, sizes or time. Wrong guesses
 * cost a few small requests.
 */
export function isTooMuch(error: unknown): boolean {
  for (let current = error, depth = 0; current instanceof Error && depth < 10; current = current.cause, depth++) {
    if (TOO_MUCH.test(current.message)) return true;
    if (current instanceof AggregateError && current.errors.some(isTooMuch)) return true;
  }
  return false;
}

/** How much is asked for at once: halved when it was too much, half as much again after each success. */
export interface AskingSize {
  now(): number;
  grow(): void;
  /** False when it cannot be less. */
  shrink(): boolean;
}

/** Starts at `first` and never exceeds `most`; both at least 1. */
export function askingSize(first: number, most: number): AskingSize {
  let size = first;
  return {
    now: () => size,
    grow() {
      size = Math.min(most, Math.ceil(size * 1.5));
    },
    shrink() {
      const before = size;
      size = Math.max(1, Math.floor(size / 2));
      return size < before;
    },
  };
}
