import { type Coins, ONE, type Usd } from '#shared/core/money.ts';
import type { WrittenPolicy } from '#shared/core/written-policies.ts';

type Route = NonNullable<WrittenPolicy['when']['route']>;

/** When a policy is about a cashout: all that it names has to hold, and a policy that names nothing is about every one. */
export interface PolicyCondition {
  /** Worth strictly more than this. */
  aboveUsd?: Usd | undefined;
  /** What the gateway asked for in the last 24 hours is, with this one, worth strictly more than this. */
  dayAboveUsd?: Usd | undefined;
  /** One of these assets, by id. */
  assetIds?: readonly string[] | undefined;
  /** Whether the gateway's address book has the destination. */
  destination?: 'known' | 'unknown' | undefined;
  /** The destination is in the address book for fewer whole days than this, or not at all. */
  youngerThanDays?: number | undefined;
  /** Who asks for it. */
  initiator?: 'key' | 'person' | undefined;
  route?: Route | undefined;
}

/** What a policy asks for: nothing, so many people who approve, or that the cashout is not made. */
export type PolicyOutcome = { kind: 'allow' } | { kind: 'approve'; people: number } | { kind: 'refuse' };

/** One rule of a gateway about its cashouts (console 3). */
export interface Policy {
  when: PolicyCondition;
  outcome: PolicyOutcome;
}

/** What policies look at in a cashout. */
export interface PolicyFacts {
  amount: Coins;
  /** Price of one coin in dollars; absent when none is known. */
  priceUsd?: Usd | undefined;
  /** Worth of what the gateway asked for in the 24 hours before; null when some of it has no price. */
  dayUsd: Usd | null;
  assetId: string;
  /** Whole days since the destination came into the address book; null when it is not there. */
  knownForDays: number | null;
  initiator: 'key' | 'person';
  route: Route;
}

/** What a gateway's policies ask of a cashout, and the place of the one that decided, counted from 1; null when none is about it. */
export type Verdict = { policy: number; outcome: PolicyOutcome } | null;

/**
 * The first policy that is about a cashout decides; the rest are not looked at (console 3). What cannot be known, because there is no price, counts against the cashout: of all
 * that might be the first one, the strictest decides, and of equals the first. Pure.
 */
export function judge(policies: readonly Policy[], facts: PolicyFacts): Verdict {
  let strictest: { verdict: Verdict; strictness: number } | undefined;
  for (const [at, { when, outcome }] of policies.entries()) {
    const about = isAbout(when, facts);
    if (about === 'no') continue;
    const strictness = strictnessOf(outcome);
    if (strictest === undefined || strictness > strictest.strictness) strictest = { verdict: { policy: at + 1, outcome }, strictness };
    if (about === 'yes') return strictest.verdict;
  }
  // That none is about it might be as well, and leaves it to the cap.
  return strictest === undefined || strictest.strictness === 0 ? null : strictest.verdict;
}

/** How much a policy asks for, to be compared. */
function strictnessOf(outcome: PolicyOutcome): number {
  return outcome.kind === 'approve' ? outcome.people : outcome.kind === 'refuse' ? Number.POSITIVE_INFINITY : 0;
}

/** Whether a policy cannot be judged without a price. Pure. */
export function needsPrice(policies: readonly Policy[]): boolean {
  return policies.some(({ when }) => when.aboveUsd !== undefined || when.dayAboveUsd !== undefined);
}

/** The most people that any of these policies asks for; 0 when none does. Pure. */
export function mostPeople(policies: readonly Policy[]): number {
  return Math.max(0, ...policies.map(({ outcome }) => (outcome.kind === 'approve' ? outcome.people : 0)));
}

function isAbout(when: PolicyCondition, facts: PolicyFacts): 'yes' | 'no' | 'perhaps' {
  const { amount, priceUsd, dayUsd, assetId, knownForDays, initiator, route } = facts;
  // Dollars times 10^18, so that nothing is rounded.
  const worth = priceUsd === undefined ? null : amount * priceUsd;
  const day = worth === null || dayUsd === null ? null : worth + dayUsd * ONE;
  const exceeds = (limit: Usd | undefined, scaled: bigint | null): boolean => limit === undefined || scaled === null || scaled > limit * ONE;
  const fits =
    exceeds(when.aboveUsd, worth) &&
    exceeds(when.dayAboveUsd, day) &&
    (when.assetIds === undefined || when.assetIds.includes(assetId)) &&
    (when.destination === undefined || (knownForDays !== null) === (when.destination === 'known')) &&
    (when.youngerThanDays === undefined || knownForDays === null || knownForDays < when.youngerThanDays) &&
    (when.initiator === undefined || when.initiator === initiator) &&
    (when.route === undefined || when.route === route);
  if (!fits) return 'no';
  return (when.aboveUsd !== undefined && worth === null) || (when.dayAboveUsd !== undefined && day === null) ? 'perhaps' : 'yes';
}
