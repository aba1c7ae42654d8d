import type { OwnOutput } from '../chain.ts';
import type { Need } from './need.ts';

/** A search that found nothing in so many steps is not worth more of the caller's time: a few milliseconds. */
const STEPS = 50_000;

/**
 * Outputs that together pay the amount and its fee and leave nothing that would have to come back: what is left over, and
 * goes to the fee, is no more than the change output itself would cost. Among several such sets the one with the lowest fee,
 * then the one with the larger outputs. Depth first over `sorted` (largest first, each worth spending).
 * @returns `fixed` and the found ones; null when there is no such set of at most `mostInputs`, or none was found in time
 */
export function findExact(sorted: readonly OwnOutput[], need: Need, fixed: readonly OwnOutput[], mostInputs: number): OwnOutput[] | null {
  const { rawAmount, feeOf } = need;
  /** What `sorted` still holds from each place on. */
  const rest = new Array<bigint>(sorted.length + 1).fill(0n);
  for (let at = sorted.length - 1; at >= 0; at--) rest[at] = (rest[at + 1] as bigint) + (sorted[at] as OwnOutput).rawAmount;

  const found: { inputs: OwnOutput[]; fee: bigint }[] = [];
  const chosen: OwnOutput[] = [];
  let steps = 0;

  const search = (from: number, fee: bigint): void => {
    steps += 1;
    const count = fixed.length + chosen.length;
    const lowest = found.at(-1)?.fee;
    if (count > mostInputs || (lowest !== undefined && fee >= lowest)) return;
    if (count > 0 && fee >= feeOf(count, false) && fee <= feeOf(count, true)) found.push({ inputs: [...fixed, ...chosen], fee });
    // Each further output brings more than it costs, so that too much stays too much.
    if (fee > feeOf(count + 1, true)) return;
    for (let at = from; at < sorted.length && steps < STEPS; at++) {
      const coin = sorted[at] as OwnOutput;
      // One just like it was tried at this very place already.
      if (at > from && sorted[at - 1]?.rawAmount === coin.rawAmount) continue;
      if (fee + (rest[at] as bigint) < feeOf(count + 1, false)) return;
      chosen.push(coin);
      search(at + 1, fee + coin.rawAmount);
      chosen.pop();
    }
  };
  // What is not amount is fee, and as long as there is too little it is less than none.
  search(
    0,
    fixed.reduce((sum, coin) => sum + coin.rawAmount, -rawAmount),
  );
  return found.at(-1)?.inputs ?? null;
}
