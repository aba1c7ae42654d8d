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

/** Who takes how much of what several draw together. */
export interface SharedDraw extends Draw {
  settlementId: string;
}

/** Hands what was drawn together to those it was drawn for, in their order, so that each has what it would have drawn had it drawn then. Pure; exact. */
export function shareDraws(draws: readonly Draw[], claims: readonly { settlementId: string; amount: Coins }[]): SharedDraw[] {
  let left: { id: string; remaining: Coins }[] = draws.map(({ id, taken }) => ({ id, remaining: taken }));
  return claims.flatMap(({ settlementId, amount: total }) => {
    const own = drawInOrder(left, total).draws;
    const taken = new Map(own.map((draw) => [draw.id, draw.taken]));
    left = left.map(({ id, remaining }) => ({ id, remaining: amount<'asset'>(remaining - (taken.get(id) ?? 0n)) })).filter(({ remaining }) => remaining > 0n);
    return own.map((draw) => ({ settlementId, ...draw }));
  });
}
