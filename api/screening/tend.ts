import { countGatewaysThatScreen, listLeftScreenings, takeLeftScreening } from '#api/store/screenings.ts';
import { POLICY } from '#shared/core/policy.ts';
import { ask, giveUp, type ScreeningDeps, store } from './purchase.ts';

/** How many leftovers one run looks at; each may cost a question to the provider. */
const AT_ONCE = 50;

/**
 * Finishes questions whose asker died or gave up, and that nobody asked again since: a pending check is asked for once more,
 * and the credit of anything else is given back. Returns how many were left. Locks one question, or the credits of its
 * gateway and then it, at a time.
 */
export async function tendScreenings(deps: ScreeningDeps): Promise<number> {
  const left = await listLeftScreenings(deps.db.sql, AT_ONCE);
  for (const { id, attempt, gatewayId, providerRef, overdue } of left) {
    const held = await takeLeftScreening(deps.db.sql, { id, attempt });
    if (held === undefined) continue;
    if (providerRef === null || overdue) await giveUp(deps, gatewayId, held, 'no verdict in time');
    else {
      const answer = await ask(deps, { ref: providerRef }, AbortSignal.timeout(POLICY.screeningDeadlineMs));
      await store(deps, { gatewayId, held, ref: providerRef }, answer);
    }
  }
  deps.metrics?.amlGatewaysWithoutCredit.set((await countGatewaysThatScreen(deps.db.sql)).withoutCredit);
  return left.length;
}
