import type { ErrorCode } from '#shared/core/errors.ts';
import type { Coins, Usd } from '#shared/core/money.ts';
import type { Pool } from '../ledger/accounts.ts';

export type Route = 'GREEN' | 'AML_HELD' | 'SMART';
export type ParkedStatus = 'UNDERFUNDED' | 'WAITING_AML_CREDIT';
export type HoldReason = 'approval_cap' | 'destination_flagged' | 'screening_unavailable';

/** What screening the destination came to: a score, a provider that is down, or no credit left to ask with. */
export type Screen = { score: number } | 'unavailable' | 'out_of_credit';

/** A fact that a gate asked for and that the use case must fetch before `decide` is called again. */
export type Need = 'price' | 'fee' | 'screen' | 'pools' | 'parkedCount';

/**
 * Everything a settlement is decided on. Facts that cost something to fetch are absent until a gate needs them; the last
 * decision is made under the pool's lock with live `pools` and `parkedCount`.
 */
export interface SettlementRequest {
  amount: Coins;
  decimals: number;
  route: Route;
  /** The asset's own minimum; null means the equivalent of one dollar. */
  minimumSettlement: Coins | null;
  /** Whether this gateway screens destinations, and from which score one is flagged. */
  screening: { enabled: boolean; threshold: number };
  parkingEnabled: boolean;
  parkedCap: number;
  /** Null means no cap. */
  approvalCapUsd: Usd | null;
  /** Set when a parked settlement is decided again: it keeps its place whatever the cap says now. */
  parkedAs: ParkedStatus | null;
  /** The pool an UNDERFUNDED one waits for; absent when its route names it. */
  parkedPool?: Pool | undefined;
  /** Dollars for one coin, fresh. */
  priceUsd?: Usd | undefined;
  /** Network fee in the asset, quoted for this destination. */
  feeLocked?: Coins | undefined;
  screen?: Screen | undefined;
  /** Withdrawable now. */
  pools?: { green: Coins; held: Coins } | undefined;
  /** Settlements of the gateway that are parked now. */
  parkedCount?: number | undefined;
}

/** What gates before the current one have found out. */
export interface Course {
  /** The pool it draws from; null until the route is settled. */
  pool: Pool | null;
  /** Whether SMART picked the pool, and the score it went by. */
  routedByService: boolean;
  riskScore: number | null;
  hold: HoldReason | null;
  park: ParkedStatus | null;
}

/** A settlement that may be claimed, with everything to be written on it. */
export interface Claim {
  pool: Pool;
  feeLocked: Coins;
  netAmount: Coins;
  routedByService: boolean;
  riskScore: number | null;
}

export type Decision =
  /** Claim the amount: REQUESTED. */
  | ({ outcome: 'claim' } & Claim)
  /** Claim the amount and wait for approval: PENDING_APPROVAL. */
  | ({ outcome: 'hold'; reason: HoldReason } & Claim)
  /** Accept and claim nothing. The pool is null only while a SMART route is unsettled. */
  | { outcome: 'park'; status: ParkedStatus; pool: Pool | null; routedByService: boolean; riskScore: number | null }
  | { outcome: 'refuse'; code: ErrorCode; message?: string }
  | { outcome: 'needs'; fact: Need };

/** One rule of the road: it stops with a decision, or lets the settlement pass with what it found out. */
export type Gate = (request: SettlementRequest, course: Course) => { stop: Decision } | { pass: Course };

export function needs(fact: Need): { stop: Decision } {
  return { stop: { outcome: 'needs', fact } };
}

export function refuse(code: ErrorCode, message?: string): { stop: Decision } {
  return { stop: message === undefined ? { outcome: 'refuse', code } : { outcome: 'refuse', code, message } };
}
