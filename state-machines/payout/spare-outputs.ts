/** Outputs that are taken together at most: what costs more than a few thousand virtual bytes is made in several transactions. */
const MOST_TOGETHER = 100;

/** Outputs to spend, and how much of them is excess; what a transaction costs is not taken off yet. */
export interface Spare<Output> {
  outputs: Output[];
  rawAmount: bigint;
}

/**
 * Chooses which outputs bring `excess` out of a pool. Whatever is spent is kept from cashouts until its change is final, so whole outputs
 * go, the largest first, as long as they are no more than the excess. Where these are less than half of it one more may go along, with
 * change, if all of them are no more than `most`: what may be away for as long as that takes. Null when nothing can go. Pure.
 */
export function spareOutputs<Output extends { rawAmount: bigint }>(
  outputs: readonly Output[],
  { excess, most }: { excess: bigint; most: bigint },
): Spare<Output> | null {
  const sorted = [...outputs].sort((a, b) => (a.rawAmount > b.rawAmount ? -1 : a.rawAmount < b.rawAmount ? 1 : 0));
  const whole: Output[] = [];
  let sum = 0n;
  for (const output of sorted) {
    if (whole.length === MOST_TOGETHER || sum + output.rawAmount > excess) continue;
    whole.push(output);
    sum += output.rawAmount;
  }
  if (2n * sum >= excess) return whole.length === 0 ? null : { outputs: whole, rawAmount: sum };
  const last = sorted.findLast((output) => !whole.includes(output) && output.rawAmount >= excess - sum && sum + output.rawAmount <= most);
  if (last !== undefined) return { outputs: [...whole, last], rawAmount: excess };
  return whole.length === 0 ? null : { outputs: whole, rawAmount: sum };
}
