import type { Deps, Gateway } from '#api/deps.ts';
import { listPastCashouts, type PastCashout } from '#api/store/policies.ts';
import { amount, coinsToUsd, formatCents, parseTrusted, type Usd } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import { exceedsCap } from '#state-machines/settlement/gates/approval-cap.ts';
import { judge } from '#state-machines/settlement/policies.ts';
import type { PolicyBook, PolicyTrial, TrialRow, TrialVerdict } from '#shared/core/written-policies.ts';
import { asPolicy } from './read-policies.ts';

/** Rows in which the day before a cashout is added up. */
const DAY_WINDOW = 1_000;
const DAY_MS = 86_400_000;

/**
 * Tries policies on the last cashouts of a gateway, with what was known when each was made; of the day before them, as far as the newest thousand tell, at the latest prices. Changes
 * nothing and locks nothing.
 */
export async function tryPolicies(
  deps: Pick<Deps, 'db'>,
  { gateway, before, after }: { gateway: Pick<Gateway, 'id'>; before: PolicyBook; after: PolicyBook },
): Promise<PolicyTrial> {
  const past = await listPastCashouts(deps.db.sql, gateway.id, DAY_WINDOW);
  const looked = past.slice(0, POLICY.policyTrialCashouts);
  const rows = looked.map((one, at): TrialRow => {
    const priceUsd = one.priceUsd === null ? undefined : parseTrusted<'usd'>(one.priceUsd);
    const facts = { ...one, priceUsd, amount: parseTrusted<'asset'>(one.amount), dayUsd: dayBefore(past, at) };
    const verdictOf = ({ policies, capUsd }: PolicyBook): TrialVerdict => {
      const verdict = judge(policies.map(asPolicy), facts);
      if (verdict === null)
        return { policy: null, outcome: exceedsCap({ ...facts, approvalCapUsd: capUsd === null ? null : parseTrusted(capUsd) }) ? 'cap' : 'none' };
      return { policy: verdict.policy, outcome: verdict.outcome.kind === 'approve' ? { people: verdict.outcome.people } : verdict.outcome.kind };
    };
    return {
      id: one.id,
      at: one.createdAt.toISOString(),
      amount: one.amount,
      asset: one.symbol,
      amountUsd: priceUsd === undefined ? null : formatCents(coinsToUsd(facts.amount, priceUsd, 'half-up')),
      before: verdictOf(before),
      after: verdictOf(after),
    };
  });
  return { looked: looked.length, different: rows.filter((row) => effectOf(row.before) !== effectOf(row.after)) };
}

/** What a verdict comes to, whichever policy it is of. */
function effectOf({ outcome }: TrialVerdict): string {
  if (typeof outcome === 'object') return `people ${outcome.people}`;
  return outcome === 'cap' ? 'people 1' : outcome === 'refuse' ? 'refuse' : 'nothing';
}

/** What was asked for in the 24 hours before a cashout and not rejected; null when a coin of it has no price. */
function dayBefore(past: readonly PastCashout[], at: number): Usd | null {
  const until = (past[at] as PastCashout).createdAt.getTime();
  let sum = 0n;
  for (const one of past.slice(at + 1)) {
    if (until - one.createdAt.getTime() >= DAY_MS) break;
    if (one.rejected) continue;
    if (one.latestUsd === null) return null;
    sum += coinsToUsd(parseTrusted<'asset'>(one.amount), parseTrusted<'usd'>(one.latestUsd), 'half-up');
  }
  return amount<'usd'>(sum);
}
