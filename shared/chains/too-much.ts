/** How nodes and gateways say that one request asked for too much; each words it differently (chains 1.3). */
const TOO_MUCH = /range|limit|too (many|much|large|big|long)|exceed|response size|body size|payload|\b413\b|time(d)? ?out|took too long/i;

/**
 * Whether asking for less may help: the error, or one of its causes, speaks of ranges, limits, sizes or time. A wrong guess costs only a few small
 * requests.
 */
export function isTooMuch(error: unknown): boolean {
  for (let current = error, depth = 0; current instanceof Error && depth < 10; current = current.cause, depth++) {
    if (TOO_MUCH.test(current.message)) return true;
    if (current instanceof AggregateError && current.errors.some(isTooMuch)) return true;
  }
  return false;
}

/** How much to ask for at once: halved after it was too much, half as much again after each success. */
export interface AskingSize {
  now(): number;
  grow(): void;
  /** Makes it smaller; false when it cannot be smaller. */
  shrink(): boolean;
}

/** Starts at `first` and never exceeds `most`; both are at least 1. */
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
