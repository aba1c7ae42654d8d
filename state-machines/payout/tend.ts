import { POLICY } from '#shared/core/policy.ts';
import type { PayoutStatus } from './machine.ts';

/** What has to be found out from the chain itself before a decision that changes something. */
export interface MarketFacts {
  /** The node knows a transaction with this nonce, or one that spends the anchor, ours or not: the scan is about to tell which. */
  nonceUsed: boolean;
  /** A simulation says that the next bytes would do what they are for. */
  accepted: boolean;
  /** The wallet holds what they move and cost. */
  covered: boolean;
  /** Their fee is within every limit. */
  allowed: boolean;
}

export interface TendFacts {
  status: PayoutStatus;
  /** How attempts exclude each other: all use one nonce, all spend one output (the anchor), or each expires before the next is made. */
  exclusion: 'nonce' | 'anchor' | 'expiry';
  /** The next bytes, or the newest ones, use the nonce or the anchor up instead of paying. */
  closing: boolean;
  /** Attempts signed so far that pay. */
  transfers: number;
  /** Seconds since it was first found that nothing further can be sent, with nothing sent since; null while something can. */
  stuckSeconds: number | null;
  /** Seconds since the plan was last quoted, and until the chain takes no bytes of it; null where they never expire. */
  quoteAgeSeconds: number;
  quoteSecondsLeft: number | null;
  /** Of the newest signed bytes: their age in seconds, and in blocks we have scanned. Null while there are none. */
  last: { ageSeconds: number; ageBlocks: number } | null;
  /** No payout of the wallet with a lower nonce is still outside of a block. */
  nextInLine: boolean;
  /** A payout of the wallet with a higher nonce is in no block, and cannot be before this one's nonce is used. */
  holdsUpOthers: boolean;
  /** By our own scan of final blocks no block can hold any signed bytes, now or ever. */
  provenDead: boolean;
  /** Absent until asked for. */
  market?: MarketFacts;
  /** Whether the node knows any of the signed bytes to be in a block; absent until asked for. */
  inABlock?: boolean;
}

/**
 * `stuck`: nothing can be done now; note since when. `askMarket` and `askNode`: decide again with that fact. `requote`: plan the same bytes with
 * fresh fees. `bump`: sign another attempt at higher fees. `close`: sign one that uses the nonce or the anchor up and pays no recipient. `expire`:
 * nothing signed can take effect any more, so that another attempt may be made. `giveUp`: give an unsigned plan up, so that all of it is planned
 * anew. `abandon`: nothing signed can take effect any more and nothing further can be sent, so that a person may decide.
 */
export type TendDecision = 'wait' | 'stuck' | 'askMarket' | 'askNode' | 'requote' | 'bump' | 'close' | 'expire' | 'giveUp' | 'abandon';

/**
 * Decides what a payout that is not in a block needs (reliability D13, D14; chains 1.4, 3.6). Pure: the caller brings the facts, and checks them
 * again under lock before acting.
 */
export function tend(facts: TendFacts): TendDecision {
  const { status, exclusion } = facts;
  if (status === 'PLANNED' || status === 'REPLACING') return exclusion === 'expiry' ? tendExpiringPlan(facts) : tendPlan(facts);
  if (status === 'SIGNED' || status === 'BROADCAST') return exclusion === 'expiry' ? tendExpiring(facts) : tendSigned(facts);
  return 'wait';
}

/** A nonce or an anchor is held, and nothing (or nothing more) is signed for it yet. */
function tendPlan(facts: TendFacts): TendDecision {
  const { market, quoteAgeSeconds } = facts;
  if (quoteAgeSeconds < POLICY.payoutQuoteSeconds) return 'wait';
  if (market === undefined) return 'askMarket';
  // Nothing waits behind outputs: unsigned, they are simply given back, and the plan is made anew with those that are there.
  const loose = facts.exclusion === 'anchor' && facts.status === 'PLANNED';
  if (loose && (market.nonceUsed || !market.accepted || !market.covered)) return 'giveUp';
  if (market.nonceUsed) return 'wait';
  // Before anything is signed a high fee only waits for the signer; afterwards the bytes that exist may be all we can afford.
  const useful = market.accepted && market.covered && (market.allowed || facts.status === 'PLANNED');
  return useful ? 'requote' : tendStuck(facts);
}

function tendSigned(facts: TendFacts): TendDecision {
  const { last, market } = facts;
  // Raising the fee of one that waits for another would change nothing.
  if (last === null || !facts.nextInLine) return 'wait';
  if (last.ageSeconds < POLICY.payoutBumpSeconds || last.ageBlocks < POLICY.payoutBumpBlocks) return 'wait';
  if (market === undefined) return 'askMarket';
  if (market.nonceUsed) return 'wait';
  const possible = market.accepted && market.covered && market.allowed;
  return possible && (facts.closing || facts.transfers < POLICY.payoutAttempts) ? 'bump' : tendStuck(facts);
}

/** The nonce blocks its wallet, or the outputs are kept from others, and nothing better can be sent with them. */
function tendStuck({ exclusion, closing, stuckSeconds, holdsUpOthers, market }: TendFacts): TendDecision {
  // The destination causes what the network refuses, so other orders do not wait long for it.
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
  // What only lacks coins or gas is brought them; what the network itself refuses for this long, it refuses.
  if (market.accepted || facts.stuckSeconds === null || facts.stuckSeconds < POLICY.payoutCloseSeconds || !facts.provenDead) return 'stuck';
  if (facts.inABlock === undefined) return 'askNode';
  return facts.inABlock ? 'stuck' : 'abandon';
}

function tendExpiring(facts: TendFacts): TendDecision {
  if (!facts.provenDead) return 'wait';
  if (facts.inABlock === undefined) return 'askNode';
  // Our scan has not met it, so one of the two is wrong: unsure is never an answer.
  return facts.inABlock ? 'wait' : 'expire';
}
