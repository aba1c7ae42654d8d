import { amount, type Coins } from '#shared/core/money.ts';

/** How much a cashout takes of one credit; above zero. */
export interface Draw {
  id: string;
  taken: Coins;
}

/**
 * Takes `total` from credits in the given order, each to its last unit before the next (decisions 10). `missing` is what the credits do not hold.
 * Pure; exact.
 */
export function drawInOrder(credits: readonly { id: string; remaining: Coins }[], total: Coins): { draws: Draw[]; missing: Coins } {
  let missing: bigint = total;
  const draws: Draw[] = [];
  for (const { id, remaining } of credits) {
    if (missing === 0n) break;
    const taken = remaining < missing ? remaining : missing;
    if (taken === 0n) continue;
    missing -= taken;
    draws.push({ id, taken: amount(taken) });
  }
  return { draws, missing: amount(missing) };
}
