import type { OwnOutput } from '../chain.ts';
import { findExact } from './exact-match.ts';
import { feeAt, type Need } from './need.ts';
import { INPUT_WEIGHT } from './vsize.ts';

/** A second of signing, and a seventieth of a block. */
export const MOST_INPUTS = 200;

/** Selections whose costs differ by no more than this part of what an input costs count as equally dear: rates move by more within minutes. */
const NEARLY_EQUAL = 10n;

/** Inputs, and what they leave: the fee is exactly what neither amount nor change takes. */
export interface Selection {
  inputs: OwnOutput[];
  /** Satoshis that come back; 0 where there is no change. */
  change: bigint;
  fee: bigint;
}

/** What one P2WPKH input costs at a rate, satoshis: so much does change cost its next payment. */
export function inputFee(feeRate: bigint): bigint {
  return feeAt(feeRate, INPUT_WEIGHT / 4n);
}

/** Whether spending an output brings more than it costs at that rate. */
export function isWorthSpending({ rawAmount }: OwnOutput, feeRate: bigint): boolean {
  return rawAmount * 4_000n > feeRate * INPUT_WEIGHT;
}

/**
 * Chooses which outputs pay. `fixed` ones are spent in any case and come first, in their order; of `coins` those that cost
 * more than they bring are left alone. An exact match without change is taken where it needs no more inputs than a payment
 * with change would, or one more and is cheaper even so: what spending the change will cost later counts, and of two that cost
 * the same to a tenth of an input the one with fewer inputs is taken (decision 0031). Else as few inputs as will do, the last
 * of them as small as will do, with change that is worth its own spending if that can be had. Only where not even dust would
 * come back, and no further output helps, does what is left go to the fee. The same question gets the same answer, whatever the
 * order of `coins`. Pure.
 * @returns `lacking`: the least that one more output would have to bring, when all of them are not enough
 */
export function selectCoins(coins: readonly OwnOutput[], need: Need, fixed: readonly OwnOutput[] = []): Selection | { lacking: bigint } {
  const useful = coins
    .filter((coin) => isWorthSpending(coin, need.feeRate))
    .sort(bySize)
    .slice(0, Math.max(0, MOST_INPUTS - fixed.length));
  const worthwhile = most(need.dust, inputFee(need.feeRate));
  const withChange =
    fewest(useful, fixed, (count) => need.rawAmount + need.feeOf(count, true) + worthwhile) ??
    fewest(useful, fixed, (count) => need.rawAmount + need.feeOf(count, true) + need.dust);
  const changed = withChange === null ? null : selection(withChange, need, true);
  const exact = findExact(useful, need, fixed, changed === null ? MOST_INPUTS : changed.inputs.length + 1);
  if (exact !== null) {
    const exactly = selection(exact, need, false);
    if (changed === null || isCheaper(exactly, changed, need.feeRate)) return exactly;
  }
  if (changed !== null) return changed;
  const bare = fewest(useful, fixed, (count) => need.rawAmount + need.feeOf(count, false));
  if (bare !== null) return selection(bare, need, false);
  const kept = [...fixed, ...useful].slice(0, MOST_INPUTS - 1);
  return { lacking: need.rawAmount + need.feeOf(kept.length + 1, false) - sumOf(kept) };
}

/** Whether an exact match costs less than a payment with change; when they are nearly the same, whether it has no more inputs. */
function isCheaper(exact: Selection, changed: Selection, feeRate: bigint): boolean {
  const later = inputFee(feeRate);
  const lost = changed.change < later ? changed.change : later;
  const saved = changed.fee + lost - exact.fee;
  return exact.inputs.length <= changed.inputs.length ? saved >= 0n : saved * NEARLY_EQUAL > later;
}

/** Largest first; outputs alike in size by their names, so that the order never depends on who asked the database. */
export function bySize(a: OwnOutput, b: OwnOutput): number {
  if (a.rawAmount !== b.rawAmount) return a.rawAmount > b.rawAmount ? -1 : 1;
  if (a.txid !== b.txid) return a.txid < b.txid ? -1 : 1;
  return a.vout - b.vout;
}

export function sumOf(coins: readonly OwnOutput[]): bigint {
  return coins.reduce((sum, { rawAmount }) => sum + rawAmount, 0n);
}

/** The fewest inputs that reach what so many inputs need: the largest ones, but for the last the smallest that still does. */
function fewest(sorted: readonly OwnOutput[], fixed: readonly OwnOutput[], needed: (count: number) => bigint): OwnOutput[] | null {
  let sum = sumOf(fixed);
  if (fixed.length > 0 && sum >= needed(fixed.length)) return [...fixed];
  for (const [at, coin] of sorted.entries()) {
    const missing = needed(fixed.length + at + 1) - sum;
    if (coin.rawAmount >= missing) {
      const last = sorted.findLast((other) => other.rawAmount >= missing) as OwnOutput;
      return [...fixed, ...sorted.slice(0, at), last];
    }
    sum += coin.rawAmount;
  }
  return null;
}

function selection(inputs: OwnOutput[], { rawAmount, feeOf }: Need, withChange: boolean): Selection {
  const sum = sumOf(inputs);
  const fee = withChange ? feeOf(inputs.length, true) : sum - rawAmount;
  return { inputs, change: withChange ? sum - rawAmount - fee : 0n, fee };
}

function most(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
