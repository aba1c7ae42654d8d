import { POLICY } from '#shared/core/policy.ts';
import type { PayoutStatus } from './machine.ts';

/** Facts that must be asked of the chain itself before a decision that changes something. */
export interface MarketFacts {
  /** Whether the node knows a transaction, ours or not, with this nonce or spending the anchor; the scan will soon tell which. */
  nonceUsed: boolean;
  /** Whether a simulation says that the next bytes would do what they are for. */
  accepted: boolean;
  /** Whether the wallet holds what they move and cost. */
  covered: boolean;
  /** Whether their fee is within every limit. */
  allowed: boolean;
}

export interface TendFacts {
  status: PayoutStatus;
  /** How attempts exclude each other: all use one nonce, all spend one output (the anchor), or each expires before the next is made. */
  exclusion: 'nonce' | 'anchor' | 'expiry';
  /** Whether the next or newest bytes use up the nonce or anchor instead of paying. */
  closing: boolean;
  /** Number of attempts signed so far that pay. */
  transfers: number;
  /** Seconds since it was first found that nothing further can be sent, if nothing was sent since; null while something can be sent. */
  stuckSeconds: number | null;
  /** Seconds since the plan was last quoted, and until the chain no longer accepts its bytes; the latter null where they never expire. */
  quoteAgeSeconds: number;
  quoteSecondsLeft: number | null;
  /** Age of the newest signed bytes, in seconds and in blocks we have scanned; null while there are none. */
  last: { ageSeconds: number; ageBlocks: number } | null;
  /** Whether every payout of the wallet with a lower nonce is in a block. */
  nextInLine: boolean;
  /** Whether a payout of the wallet with a higher nonce is in no block; it cannot be mined before this one's nonce is used. */
  holdsUpOthers: boolean;
  /** Whether our own scan of final blocks shows that no block can hold any signed bytes, now or ever. */
  provenDead: boolean;
  /** Absent until asked for. */
  market?: MarketFacts;
  /** Whether the node knows any of the signed bytes to be in a block; absent until asked for. */
  inABlock?: boolean;
}

/**
 * `stuck`: nothing can be done now; record since when. `askMarket`, `askNode`: decide again with that fact. `requote`: plan the same bytes at fresh
 * fees. `bump`: sign another attempt at higher fees. `close`: sign an attempt that uses up the nonce or anchor and pays no recipient. `expire`:
 * nothing signed can take effect any more, so another attempt may be made. `giveUp`: drop an unsigned plan, so that it is planned anew. `abandon`:
 * nothing signed can take effect and nothing further can be sent, so a person decides.
 */
export type TendDecision = 'wait' | 'stuck' | 'askMarket' | 'askNode' | 'requote' | 'bump' | 'close' | 'expire' | 'giveUp' | 'abandon';

/**
 * Decides what a payout that is in no block needs (reliability D13, D14; chains 1.4, 3.6). Pure: the caller fetches the facts, and checks them
 * again under lock before acting.
 */
export function tend(facts: TendFacts): TendDecision {
  const { status, exclusion } = facts;
  if (status === 'PLANNED' || status === 'REPLACING') return exclusion === 'expiry' ? tendExpiringPlan(facts) : tendPlan(facts);
  if (status === 'SIGNED' || status === 'BROADCAST') return exclusion === 'expiry' ? tendExpiring(facts) : tendSigned(facts);
  return 'wait';
}

/** A nonce or an anchor is held, and the next bytes for it are not signed yet. */
function tendPlan(facts: TendFacts): TendDecision {
  const { market, quoteAgeSeconds } = facts;
  if (quoteAgeSeconds < POLICY.payoutQuoteSeconds) return 'wait';
  if (market === undefined) return 'askMarket';
  // Nothing waits behind outputs. Without signed bytes they are simply released, and a new plan chooses from those that exist.
  const loose = facts.exclusion === 'anchor' && facts.status === 'PLANNED';
  if (loose && (market.nonceUsed || !market.accepted || !market.covered)) return 'giveUp';
  if (market.nonceUsed) return 'wait';
  // Before anything is signed, a high fee only makes the payout wait for the signer. Afterwards, the existing bytes may be all that we can afford.
  const useful = market.accepted && market.covered && (market.allowed || facts.status === 'PLANNED');
  return useful ? 'requote' : tendStuck(facts);
}

function tendSigned(facts: TendFacts): TendDecision {
  const { last, market } = facts;
  // Raising the fee of a payout that waits for another one would change nothing.
  if (last === null || !facts.nextInLine) return 'wait';
  if (last.ageSeconds < POLICY.payoutBumpSeconds || last.ageBlocks < POLICY.payoutBumpBlocks) return 'wait';
  if (market === undefined) return 'askMarket';
  if (market.nonceUsed) return 'wait';
  const possible = market.accepted && market.covered && market.allowed;
  return possible && (facts.closing || facts.transfers < POLICY.payoutAttempts) ? 'bump' : tendStuck(facts);
}

/** The nonce blocks its wallet, or the outputs are unavailable to others, and nothing better can be sent with them. */
function tendStuck({ exclusion, closing, stuckSeconds, holdsUpOthers, market }: TendFacts): TendDecision {
  // The destination causes the network's refusal, so other orders do not wait long for it.
  const hostage = exclusion === 'nonce' && holdsUpOthers && market?.accepted === false;
  const patience = exclusion === 'anchor' ? POLICY.anchorCloseSeconds : hostage ? POLICY.payoutHostageSeconds : POLICY.payoutCloseSeconds;
  return !closing && stuckSeconds !== null && stuckSeconds >= patience ? 'close' : 'stuck';
}

/** No nonce is held, so an unsigned plan can simply be made again. */
function tendExpiringPlan(facts: TendFacts): TendDecision {
  const { market, quoteAgeSeconds, quoteSecondsLeft } = facts;
  const stale = quoteAgeSeconds >= POLICY.payoutQuoteSeconds || (quoteSecondsLeft !== null && quoteSecondsLeft < POLICY.payoutRequoteMarginSeconds);
  if (!stale) return 'wait';
  if (market === undefined) return 'askMarket';
  if (market.accepted && market.covered) return 'requote';
  if (facts.status === 'PLANNED') return 'giveUp';
  // Coins or gas that are merely missing will be brought. If the network has refused it for this long, it will not accept it.
  if (market.accepted || facts.stuckSeconds === null || facts.stuckSeconds < POLICY.payoutCloseSeconds || !facts.provenDead) return 'stuck';
  if (facts.inABlock === undefined) return 'askNode';
  return facts.inABlock ? 'stuck' : 'abandon';
}

function tendExpiring(facts: TendFacts): TendDecision {
  if (!facts.provenDead) return 'wait';
  if (facts.inABlock === undefined) return 'askNode';
  // The node has it in a block, but our scan has not met it. One of the two is wrong, so nothing is decided.
  return facts.inABlock ? 'wait' : 'expire';
}
