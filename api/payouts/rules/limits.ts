import type { Chain, Deps } from '#api/deps.ts';
import type { OutgoingLimits } from '#shared/core/assets.ts';
import { coinsToUsd, formatCents, fromUnits, parseTrusted, toUnits, type Usd } from '#shared/core/money.ts';
import { waitReason } from '#shared/core/wait-reasons.ts';

/** A fee of more than this many times the locked fee is a price spike or a mistake in units, so the transaction waits (reliability, threats). */
export const FEE_TIMES_LOCKED = 10n;

/** No transaction of ours may cost more than this in fees, whatever it moves. */
export const FEE_CEILING_USD: Usd = parseTrusted('250');

/** A gas top-up is never more than this. */
export const TOP_UP_CEILING_USD: Usd = parseTrusted('500');

/** The windows over which outgoing amounts are summed. */
export const WINDOWS = [
  { name: 'hourly', seconds: 3_600, limit: 'hourlyUsd' },
  { name: 'daily', seconds: 86_400, limit: 'dailyUsd' },
] as const;

/** An amount of one asset. */
export interface Moved {
  symbol: string;
  decimals: number;
  rawAmount: bigint;
  /** Whether it is the network's own coin, which fees are paid in, and not a token. */
  native: boolean;
}

/** Assets that are limited together: all of them, or one class (reliability D15). */
interface Scope {
  name: string;
  limits: OutgoingLimits;
  counts(moved: Moved): boolean;
}

/** Why a transfer may not leave now. `lasting`: waiting does not help; an operator must change a limit. */
export type LimitProblem = { problem: string; lasting: boolean };

/**
 * What a transaction takes away from us, for checking against the limits. `planned` also counts payouts that only wait for the signer; the planner
 * must set it.
 */
export interface LimitedTransfer extends Moved {
  /** The most that it may cost on top; absent where the fee is all that leaves, or is not known yet. */
  fee?: { symbol: string; decimals: number; rawFee: bigint };
  planned: boolean;
  /** Id of a payout that is not counted among those sent before: the one being checked. */
  except?: string;
}

/**
 * Why the caps of an asset do not allow so many chain units of it, or null (decisions 10). The signer checks the caps against its own journal. They
 * are checked here too, against the sums of the books, so that nothing gets a nonce that the signer will not sign.
 */
export function capProblem({ config }: Deps, chain: Chain, { symbol }: Moved, cap: 'perTransaction' | 'hourly' | 'daily', rawAmount: bigint): string | null {
  const asset = chain.config.assets.find((one) => one.symbol === symbol);
  if (asset === undefined && config.NODE_ENV === 'production') return waitReason('uncapped', { asset: symbol });
  if (asset?.caps === undefined) return null;
  const { caps, decimals } = asset;
  if (rawAmount > (toUnits(parseTrusted(caps[cap]), decimals) ?? 0n)) return waitReason('above_cap', { limit: caps[cap], asset: symbol, window: WORDS[cap] });
  const usd = parseTrusted<'usd'>(chain.config.limits[LIMITS[cap]]);
  if (coinsToUsd(fromUnits(rawAmount, decimals), parseTrusted<'usd'>(caps.floorUsd), 'up') <= usd) return null;
  return waitReason('above_floor_cap', { limit: formatCents(usd), window: WORDS[cap], asset: symbol });
}

const WORDS = { perTransaction: 'per transaction', hourly: 'hourly', daily: 'daily' } as const;

const LIMITS = { perTransaction: 'perTransactionUsd', hourly: 'hourlyUsd', daily: 'dailyUsd' } as const;

/** All that a transfer takes away: the amount it moves, and the most it may cost. */
export function movedBy({ fee, ...moved }: LimitedTransfer): Moved[] {
  return fee === undefined ? [moved] : [moved, { ...fee, rawAmount: fee.rawFee, native: true }];
}

/** The limits of a network, each with the assets it counts. */
export function scopesOf({ config: { limits } }: Chain): Scope[] {
  return [
    { name: '', limits, counts: () => true },
    ...(limits.native === undefined ? [] : [{ name: ' for the native coin', limits: limits.native, counts: (moved: Moved) => moved.native }]),
    ...(limits.tokens === undefined ? [] : [{ name: ' for tokens', limits: limits.tokens, counts: (moved: Moved) => !moved.native }]),
  ];
}

/** The problem of a missing price: a limit in US dollars cannot be checked without one. */
export function noPrice(symbol: string): LimitProblem {
  return { problem: waitReason('no_price', { asset: symbol }), lasting: false };
}
