import {
  FEE_TIMES_LOCKED,
  FEE_CEILING_USD,
  TOP_UP_CEILING_USD,
  WINDOWS,
  type Moved,
  type LimitProblem,
  type LimitedTransfer,
  capProblem,
  movedBy,
  scopesOf,
  noPrice,
} from '#api/payouts/rules/limits.ts';
import { pricePolicy, usablePrice } from '#api/clients/prices.ts';
import type { Chain, Deps } from '#api/deps.ts';
import { sumOutgoing } from '#api/store/payouts.ts';
import { findPrice } from '#api/store/prices.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import { amount, type Coins, coinsToUsd, formatCents, fromUnits, parseTrusted, type Usd } from '#shared/core/money.ts';
import { waitReason } from '#shared/core/wait-reasons.ts';

/**
 * Checks a transfer against the network's limits per transaction, hour and day, both of all assets and of its class. Returns why it may not leave,
 * or null.
 * The transfer is valued at fresh prices; earlier ones too, or at the last known price where there is no fresh one. The limits per transaction
 * count the amount it moves, those per hour and day also its fee and what was sent before. Call it under the paying wallet's lock for a verdict
 * that still holds at commit.
 */
export async function checkLimits(deps: Deps, sql: Reads, chain: Chain, transfer: LimitedTransfer): Promise<LimitProblem | null> {
  const uncapped = capProblem(deps, chain, transfer, 'perTransaction', transfer.rawAmount);
  if (uncapped !== null) return { problem: uncapped, lasting: true };
  const value = await dollarsOf(deps, transfer);
  if (value === null) return noPrice(transfer.symbol);
  const scopes = scopesOf(chain);
  for (const { name, limits } of scopes.filter((scope) => scope.counts(transfer))) {
    const most = parseTrusted<'usd'>(limits.perTransactionUsd);
    if (value > most) return { problem: waitReason('above_limit', { value: formatCents(value), limit: formatCents(most), scope: name }), lasting: true };
  }
  const leaving = movedBy(transfer);
  for (const window of WINDOWS) {
    const before = await sumOutgoing(sql, { networkId: chain.id, seconds: window.seconds, planned: transfer.planned, except: transfer.except });
    for (const moved of leaving) {
      const earlier = before.reduce((sum, { symbol, rawAmount }) => (symbol === moved.symbol ? sum + rawAmount : sum), 0n);
      const problem = capProblem(deps, chain, moved, window.name, moved.rawAmount + earlier);
      if (problem !== null) return { problem, lasting: capProblem(deps, chain, moved, window.name, moved.rawAmount) !== null };
    }
    for (const scope of scopes) {
      const limit = parseTrusted<'usd'>(scope.limits[window.limit]);
      const own = leaving.filter((moved) => scope.counts(moved));
      if (own.length === 0) continue;
      const [alone, earlier] = [
        await dollarsOfAll(deps, own),
        await dollarsOfEarlier(
          deps,
          sql,
          before.filter((moved) => scope.counts(moved)),
        ),
      ];
      if (typeof alone === 'object') return alone;
      if (typeof earlier === 'object') return earlier;
      // A transfer that alone exceeds a window, fee included, never fits, however long the orders behind it wait.
      if (alone + earlier > limit)
        return {
          problem: waitReason('limit_used', { window: window.name, limit: formatCents(limit), scope: scope.name }),
          lasting: scope.counts(transfer) && alone > limit,
        };
    }
  }
  return null;
}

/**
 * Checks a fee against the fee that was locked, and against the ceiling for any transaction.
 * The locked fee is for spending one output, whatever a wallet holds (decisions 10). `inputs` says how many outputs this fee is for, where coins
 * are outputs.
 */
export async function checkFee(
  deps: Deps,
  fee: { rawFee: bigint; native: { symbol: string; decimals: number }; inputs?: number },
  locked: { coins: Coins; symbol: string } | null,
): Promise<LimitProblem | null> {
  const value = await dollarsOf(deps, { ...fee.native, rawAmount: fee.rawFee });
  if (value === null) return noPrice(fee.native.symbol);
  if (value > FEE_CEILING_USD)
    return { problem: waitReason('fee_ceiling', { value: formatCents(value), limit: formatCents(FEE_CEILING_USD) }), lasting: false };
  if (locked === null || locked.coins === 0n) return null;
  const price = await deps.prices.fresh(locked.symbol);
  if (price === undefined) return noPrice(locked.symbol);
  const most = amount<'usd'>(coinsToUsd(locked.coins, price.usd, 'up') * FEE_TIMES_LOCKED * BigInt(fee.inputs ?? 1));
  return value > most ? { problem: waitReason('fee_times_locked', { value: formatCents(value), times: FEE_TIMES_LOCKED }), lasting: false } : null;
}

/** Checks a gas top-up against its ceiling. */
export async function checkTopUp(deps: Deps, topUp: { symbol: string; decimals: number; rawAmount: bigint }): Promise<LimitProblem | null> {
  const value = await dollarsOf(deps, topUp);
  if (value === null) return noPrice(topUp.symbol);
  return value > TOP_UP_CEILING_USD
    ? { problem: waitReason('top_up_ceiling', { value: formatCents(value), limit: formatCents(TOP_UP_CEILING_USD) }), lasting: true }
    : null;
}

/** The total value of coins at fresh prices, in US dollars rounded up; or the problem of a missing price. */
export async function dollarsOfAll(deps: Deps, all: readonly Moved[]): Promise<bigint | LimitProblem> {
  let sum = 0n;
  for (const moved of all) {
    const dollars = await dollarsOf(deps, moved);
    if (dollars === null) return noPrice(moved.symbol);
    sum += dollars;
  }
  return sum;
}

/**
 * The total value of coins sent before, in US dollars rounded up; or the problem of a missing price.
 * Where there is no fresh price the last known one is used, so that an order does not wait for the price of an asset that another order sent.
 */
export async function dollarsOfEarlier(deps: Deps, sql: Reads, all: readonly Omit<Moved, 'native'>[]): Promise<bigint | LimitProblem> {
  let sum = 0n;
  for (const moved of all) {
    const dollars = (await dollarsOf(deps, moved)) ?? (await dollarsAtLast(deps, sql, moved));
    if (dollars === null) return noPrice(moved.symbol);
    sum += dollars;
  }
  return sum;
}

async function dollarsAtLast(deps: Deps, sql: Reads, moved: { symbol: string; decimals: number; rawAmount: bigint }): Promise<Usd | null> {
  const stored = await findPrice(sql, moved.symbol);
  const price = stored && usablePrice(stored, { ...pricePolicy(deps.config), freshSeconds: Number.POSITIVE_INFINITY });
  return price === undefined ? null : coinsToUsd(fromUnits(moved.rawAmount, moved.decimals), price.usd, 'up');
}

/** The value of coins at a fresh price, in US dollars rounded up; null without a fresh price. */
export async function dollarsOf(deps: Deps, moved: { symbol: string; decimals: number; rawAmount: bigint }): Promise<Usd | null> {
  const price = await deps.prices.fresh(moved.symbol);
  return price === undefined ? null : coinsToUsd(fromUnits(moved.rawAmount, moved.decimals), price.usd, 'up');
}
