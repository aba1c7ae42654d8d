import type { Chain, Deps } from '#api/deps.ts';
import { sumOutgoing } from '#api/store/payouts.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import { amount, type Coins, coinsToUsd, formatCents, fromUnits, parseTrusted, type Usd } from '#shared/core/money.ts';

/** A fee that is this many times what the settlement locked is a spike or a mistake in units: it waits (reliability, threats). */
const FEE_TIMES_LOCKED = 10n;
/** No transaction of ours is worth more than this in fees, whatever it moves. */
const FEE_CEILING_USD: Usd = parseTrusted('250');
/** Nobody tops up gas by more than this at once. */
const TOP_UP_CEILING_USD: Usd = parseTrusted('500');

const WINDOWS = [
  { name: 'hourly', seconds: 3_600, limit: (chain: Chain) => chain.config.limits.hourlyUsd },
  { name: 'daily', seconds: 86_400, limit: (chain: Chain) => chain.config.limits.dailyUsd },
] as const;

/** Why a transfer may not leave now. `lasting` means waiting will not help: somebody must change a limit. */
export type LimitProblem = { problem: string; lasting: boolean };

/** What a transaction takes away from us, to be held against the limits; `planned` counts what only waits for the signer, as its planner must. */
export interface LimitedTransfer {
  symbol: string;
  decimals: number;
  rawAmount: bigint;
  planned: boolean;
  /** A payout not to be counted among what was sent before: the one that is being looked at. */
  except?: string;
}

/**
 * Holds what leaves us against the network's limits per transaction, hour and day, at fresh prices. Reads what was sent
 * before, fees included; call it under the paying wallet's lock for a verdict that still holds at commit.
 */
export async function checkLimits(deps: Deps, sql: Reads, chain: Chain, transfer: LimitedTransfer): Promise<LimitProblem | null> {
  const value = await dollarsOf(deps, transfer);
  if (value === null) return { problem: `there is no fresh price for ${transfer.symbol}`, lasting: false };
  const most = parseTrusted<'usd'>(chain.config.limits.perTransactionUsd);
  if (value > most) return { problem: `${formatCents(value)} USD is above the limit of ${formatCents(most)} USD per transaction`, lasting: true };
  for (const window of WINDOWS) {
    let sum: bigint = value;
    for (const before of await sumOutgoing(sql, { networkId: chain.id, seconds: window.seconds, planned: transfer.planned, except: transfer.except })) {
      const spent = await dollarsOf(deps, before);
      if (spent === null) return { problem: `there is no fresh price for ${before.symbol}`, lasting: false };
      sum += spent;
    }
    const limit = parseTrusted<'usd'>(window.limit(chain));
    if (sum > limit) return { problem: `the ${window.name} limit of ${formatCents(limit)} USD is used up`, lasting: value > limit };
  }
  return null;
}

/** Holds a fee against what was locked for it and against what any transaction may cost. */
export async function checkFee(
  deps: Deps,
  fee: { rawFee: bigint; native: { symbol: string; decimals: number } },
  locked: { coins: Coins; symbol: string } | null,
): Promise<LimitProblem | null> {
  const value = await dollarsOf(deps, { ...fee.native, rawAmount: fee.rawFee });
  if (value === null) return { problem: `there is no fresh price for ${fee.native.symbol}`, lasting: false };
  if (value > FEE_CEILING_USD)
    return { problem: `a fee of ${formatCents(value)} USD is above the ceiling of ${formatCents(FEE_CEILING_USD)} USD`, lasting: false };
  if (locked === null || locked.coins === 0n) return null;
  const price = await deps.prices.fresh(locked.symbol);
  if (price === undefined) return { problem: `there is no fresh price for ${locked.symbol}`, lasting: false };
  const most = amount<'usd'>(coinsToUsd(locked.coins, price.usd, 'up') * FEE_TIMES_LOCKED);
  return value > most ? { problem: `a fee of ${formatCents(value)} USD is more than ${FEE_TIMES_LOCKED} times what was locked for it`, lasting: false } : null;
}

/** Holds a gas top-up against what one may be. */
export async function checkTopUp(deps: Deps, topUp: { symbol: string; decimals: number; rawAmount: bigint }): Promise<LimitProblem | null> {
  const value = await dollarsOf(deps, topUp);
  if (value === null) return { problem: `there is no fresh price for ${topUp.symbol}`, lasting: false };
  return value > TOP_UP_CEILING_USD
    ? { problem: `a top-up of ${formatCents(value)} USD is above the ceiling of ${formatCents(TOP_UP_CEILING_USD)} USD`, lasting: true }
    : null;
}

async function dollarsOf(deps: Deps, moved: { symbol: string; decimals: number; rawAmount: bigint }): Promise<Usd | null> {
  const price = await deps.prices.fresh(moved.symbol);
  return price === undefined ? null : coinsToUsd(fromUnits(moved.rawAmount, moved.decimals), price.usd, 'up');
}
