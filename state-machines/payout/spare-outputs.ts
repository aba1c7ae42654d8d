/** At most this many outputs are taken at once; a transaction of more than a few thousand virtual bytes is split into several. */
const MOST_TOGETHER = 100;

/** Outputs to spend, and how much of them is excess, before the transaction's fee. */
export interface Spare<Output> {
  outputs: Output[];
  rawAmount: bigint;
}

/**
 * Chooses the outputs that bring `excess` out of a pool; null when none can go. Pure.
 * Cashouts cannot use spent outputs until their change is final, so whole outputs are taken, largest first, as long as they do not exceed the
 * excess. If these are less than half of it, one more may be taken, with change, provided that all of them do not exceed `most`, the amount that
 * may be unavailable for that long.
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
