import { pricePolicy, usablePrice } from '#api/clients/prices.ts';
import type { Chain, Deps } from '#api/deps.ts';
import { sumOutgoing } from '#api/store/payouts.ts';
import { findPrice } from '#api/store/prices.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import type { OutgoingLimits } from '#shared/core/assets.ts';
import { amount, type Coins, coinsToUsd, formatCents, fromUnits, parseTrusted, toUnits, type Usd } from '#shared/core/money.ts';

/** A fee that is this many times what the settlement locked is a spike or a mistake in units: it waits (reliability, threats). */
const FEE_TIMES_LOCKED = 10n;
/** No transaction of ours is worth more than this in fees, whatever it moves. */
export const FEE_CEILING_USD: Usd = parseTrusted('250');
/** Nobody tops up gas by more than this at once. */
const TOP_UP_CEILING_USD: Usd = parseTrusted('500');

/** Over how long what leaves is added up. */
export const WINDOWS = [
  { name: 'hourly', seconds: 3_600, limit: 'hourlyUsd' },
  { name: 'daily', seconds: 86_400, limit: 'dailyUsd' },
] as const;

/** Coins of one asset. */
export interface Moved {
  symbol: string;
  decimals: number;
  rawAmount: bigint;
  /** The network's own coin, which fees are paid in, rather than a token. */
  native: boolean;
}

/** What limits hold together: everything, or one class of assets by itself (reliability D15). */
interface Scope {
  name: string;
  limits: OutgoingLimits;
  counts(moved: Moved): boolean;
}

/** Why a transfer may not leave now. `lasting` means waiting will not help: somebody must change a limit. */
export type LimitProblem = { problem: string; lasting: boolean };

/** What a transaction takes away from us, to be held against the limits; `planned` counts what only waits for the signer, as its planner must. */
export interface LimitedTransfer extends Moved {
  /** The most it may cost beside that; absent where the fee is all that leaves, or is not known yet. */
  fee?: { symbol: string; decimals: number; rawFee: bigint };
  planned: boolean;
  /** A payout not to be counted among what was sent before: the one that is being looked at. */
  except?: string;
}

/**
 * Holds what leaves us against the network's limits per transaction, hour and day, of all assets and of the class it is in,
 * at fresh prices, or what was sent before at the last ones. One transaction is held by what it moves, the windows by its fee as well. Reads what was sent before,
 * fees included; call it under the paying wallet's lock for a verdict that still holds at commit.
 */
export async function checkLimits(deps: Deps, sql: Reads, chain: Chain, transfer: LimitedTransfer): Promise<LimitProblem | null> {
  const uncapped = capProblem(deps, chain, transfer, 'perTransaction', transfer.rawAmount);
  if (uncapped !== null) return { problem: uncapped, lasting: true };
  const value = await dollarsOf(deps, transfer);
  if (value === null) return noPrice(transfer.symbol);
  const scopes = scopesOf(chain);
  for (const { name, limits } of scopes.filter((scope) => scope.counts(transfer))) {
    const most = parseTrusted<'usd'>(limits.perTransactionUsd);
    if (value > most) return { problem: `${formatCents(value)} USD is above the limit of ${formatCents(most)} USD per transaction${name}`, lasting: true };
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
      // What is too much by itself, with its fee, will never fit, however long everything behind it waits.
      if (alone + earlier > limit)
        return { problem: `the ${window.name} limit of ${formatCents(limit)} USD${scope.name} is used up`, lasting: scope.counts(transfer) && alone > limit };
    }
  }
  return null;
}

/**
 * What the caps of an asset say against so many chain units of it, or null (decisions 10). The signer holds them against its own journal; they are asked
 * here as well, with the sums of the books, so that nothing gets a nonce which the signer will not sign.
 */
function capProblem({ config }: Deps, chain: Chain, { symbol }: Moved, cap: 'perTransaction' | 'hourly' | 'daily', rawAmount: bigint): string | null {
  const asset = chain.config.assets.find((one) => one.symbol === symbol);
  if (asset === undefined && config.NODE_ENV === 'production') return `the signer pays no ${symbol} out before its configuration names and caps it`;
  if (asset?.caps === undefined) return null;
  const { caps, decimals } = asset;
  if (rawAmount > (toUnits(parseTrusted(caps[cap]), decimals) ?? 0n)) return `more than ${caps[cap]} ${symbol} ${WORDS[cap]} would leave`;
  const usd = parseTrusted<'usd'>(chain.config.limits[LIMITS[cap]]);
  if (coinsToUsd(fromUnits(rawAmount, decimals), parseTrusted<'usd'>(caps.floorUsd), 'up') <= usd) return null;
  return `more than ${formatCents(usd)} USD ${WORDS[cap]} would leave, at the floor price of ${symbol}`;
}

const WORDS = { perTransaction: 'per transaction', hourly: 'hourly', daily: 'daily' } as const;
const LIMITS = { perTransaction: 'perTransactionUsd', hourly: 'hourlyUsd', daily: 'dailyUsd' } as const;

/** Everything that a transfer takes away: what it moves, and what it may cost. */
export function movedBy({ fee, ...moved }: LimitedTransfer): Moved[] {
  return fee === undefined ? [moved] : [moved, { ...fee, rawAmount: fee.rawFee, native: true }];
}

/** The limits of a network, with what each of them counts. */
export function scopesOf({ config: { limits } }: Chain): Scope[] {
  return [
    { name: '', limits, counts: () => true },
    ...(limits.native === undefined ? [] : [{ name: ' for the native coin', limits: limits.native, counts: (moved: Moved) => moved.native }]),
    ...(limits.tokens === undefined ? [] : [{ name: ' for tokens', limits: limits.tokens, counts: (moved: Moved) => !moved.native }]),
  ];
}

/** A limit in US dollars cannot be held without a price. */
export function noPrice(symbol: string): LimitProblem {
  return { problem: `there is no fresh price for ${symbol}`, lasting: false };
}

/**
 * Holds a fee against what was locked for it and against what any transaction may cost. What was locked is for one output spent,
 * whatever a wallet holds (decisions 10): `inputs` says how many it is for where coins are outputs.
 */
export async function checkFee(
  deps: Deps,
  fee: { rawFee: bigint; native: { symbol: string; decimals: number }; inputs?: number },
  locked: { coins: Coins; symbol: string } | null,
): Promise<LimitProblem | null> {
  const value = await dollarsOf(deps, { ...fee.native, rawAmount: fee.rawFee });
  if (value === null) return noPrice(fee.native.symbol);
  if (value > FEE_CEILING_USD)
    return { problem: `a fee of ${formatCents(value)} USD is above the ceiling of ${formatCents(FEE_CEILING_USD)} USD`, lasting: false };
  if (locked === null || locked.coins === 0n) return null;
  const price = await deps.prices.fresh(locked.symbol);
  if (price === undefined) return noPrice(locked.symbol);
  const most = amount<'usd'>(coinsToUsd(locked.coins, price.usd, 'up') * FEE_TIMES_LOCKED * BigInt(fee.inputs ?? 1));
  return value > most ? { problem: `a fee of ${formatCents(value)} USD is more than ${FEE_TIMES_LOCKED} times what was locked for it`, lasting: false } : null;
}

/** Holds a gas top-up against what one may be. */
export async function checkTopUp(deps: Deps, topUp: { symbol: string; decimals: number; rawAmount: bigint }): Promise<LimitProblem | null> {
  const value = await dollarsOf(deps, topUp);
  if (value === null) return noPrice(topUp.symbol);
  return value > TOP_UP_CEILING_USD
    ? { problem: `a top-up of ${formatCents(value)} USD is above the ceiling of ${formatCents(TOP_UP_CEILING_USD)} USD`, lasting: true }
    : null;
}

/** What coins are worth together at fresh prices, rounded up; or which price is missing. */
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
 * What coins that were sent before are worth together, rounded up: where there is no fresh price, at the last one there was, so that
 * nobody waits for the price of what somebody else sent; or which price is missing.
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

/** What coins are worth at a fresh price, rounded up; null without one. */
export async function dollarsOf(deps: Deps, moved: { symbol: string; decimals: number; rawAmount: bigint }): Promise<Usd | null> {
  const price = await deps.prices.fresh(moved.symbol);
  return price === undefined ? null : coinsToUsd(fromUnits(moved.rawAmount, moved.decimals), price.usd, 'up');
}
