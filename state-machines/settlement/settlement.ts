import type { ErrorCode } from '#shared/core/errors.ts';
import type { Coins, Usd } from '#shared/core/money.ts';
import type { Pool } from '../ledger/accounts.ts';
import type { Policy, PolicyFacts, Verdict } from './policies.ts';

export type Route = 'GREEN' | 'AML_HELD' | 'SMART';
export type ParkedStatus = 'UNDERFUNDED' | 'WAITING_AML_CREDIT';
export type HoldReason = 'approval_cap' | 'policy' | 'destination_flagged' | 'screening_unavailable';

/** The result of screening the destination: a score, a provider that is down, or no credit left to pay for it. */
export type Screen = { score: number } | 'unavailable' | 'out_of_credit';

/** A fact that a gate needs and that the use case must fetch before it calls `decide` again. */
export type Need = 'policies' | 'price' | 'fee' | 'screen' | 'pools' | 'parkedCount';

/** A gateway's policies, and what they look at that no other gate does. */
export interface PolicyQuestion extends Omit<PolicyFacts, 'amount' | 'priceUsd' | 'route'> {
  policies: readonly Policy[];
  /** They were read under the lock, where nothing more can be fetched. */
  final: boolean;
}

/**
 * Everything that a settlement is decided on. Facts that cost something to fetch are absent until a gate needs them. The last decision uses `policies`,
 * `pools` and `parkedCount` read under its locks.
 */
export interface SettlementRequest {
  amount: Coins;
  decimals: number;
  route: Route;
  /** The asset's own minimum; null means the equivalent of one dollar. */
  minimumSettlement: Coins | null;
  /** Whether this gateway screens destinations, and the score from which one is flagged. */
  screening: { enabled: boolean; threshold: number };
  parkingEnabled: boolean;
  parkedCap: number;
  /** Null means no cap. */
  approvalCapUsd: Usd | null;
  /** Set when a parked settlement is decided again; it keeps its place, whatever the cap is now. */
  parkedAs: ParkedStatus | null;
  /** The pool that an UNDERFUNDED settlement waits for; absent when its route names the pool. */
  parkedPool?: Pool | undefined;
  policies?: PolicyQuestion | undefined;
  /** Fresh price of one coin in dollars. */
  priceUsd?: Usd | undefined;
  /** Network fee in the asset, quoted for this destination. */
  feeLocked?: Coins | undefined;
  screen?: Screen | undefined;
  /** The amounts that can be withdrawn now. */
  pools?: { green: Coins; held: Coins } | undefined;
  /** How many settlements of the gateway are parked now. */
  parkedCount?: number | undefined;
}

/** The findings of the gates before the current one. */
export interface Course {
  /** What the gateway's policies ask; null when none is about it. */
  verdict: Verdict;
  /** The pool that it draws from; null until the route is decided. */
  pool: Pool | null;
  /** Whether SMART chose the pool, and the score it used. */
  routedByService: boolean;
  riskScore: number | null;
  hold: HoldReason | null;
  park: ParkedStatus | null;
}

/** Who has to approve a settlement. */
export interface Approvals {
  /** How many people; 0 when nobody has to. */
  people: number;
  /** The place of the policy that decided about it, counted from 1; null when none did. */
  policy: number | null;
}

/** A settlement that may be claimed, with everything to store on it. */
export interface Claim extends Approvals {
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
  /** Accept it and claim nothing. The pool is null only while a SMART route is undecided. */
  | ({ outcome: 'park'; status: ParkedStatus; pool: Pool | null; routedByService: boolean; riskScore: number | null } & Approvals)
  | { outcome: 'refuse'; code: ErrorCode; message?: string }
  | { outcome: 'needs'; fact: Need };

/** One rule: it stops with a decision, or passes the settlement on with what it found. */
export type Gate = (request: SettlementRequest, course: Course) => { stop: Decision } | { pass: Course };

export function needs(fact: Need): { stop: Decision } {
  return { stop: { outcome: 'needs', fact } };
}

export function refuse(code: ErrorCode, message?: string): { stop: Decision } {
  return { stop: message === undefined ? { outcome: 'refuse', code } : { outcome: 'refuse', code, message } };
}
