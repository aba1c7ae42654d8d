/** Chance that repeats itself: the same seed gives the same choices on every machine. */
export interface Random {
  /** At least 0 and below 1. */
  next(): number;
  /** A whole number from 0 to `limit` - 1. */
  below(limit: number): number;
  chance(probability: number): boolean;
  /** @throws when there is nothing to pick from */
  pick<T>(from: readonly T[]): T;
  /** Picks by weight; a weight of zero is never picked. */
  weighted<T extends { weight: number }>(from: readonly T[]): T;
  bytes(length: number): Uint8Array;
}

/** Chance from a seed (mulberry32). */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  const found = <T>(one: T | undefined): T => {
    if (one === undefined) throw new Error('there is nothing to pick from');
    return one;
  };
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick: (from) => found(from[below(from.length)]),
    weighted(from) {
      let left = next() * from.reduce((sum, { weight }) => sum + weight, 0);
      return found(
        from.find(({ weight }) => {
          left -= weight;
          return left < 0;
        }),
      );
    },
    bytes: (length) => Uint8Array.from({ length }, () => below(256)),
  };
}
