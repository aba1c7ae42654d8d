import type { Deps, Gateway } from '#api/deps.ts';
import { acceptancesOf, acceptCashout, type Accepted, ceilingOf } from '#api/intents/cashout.ts';
import { advance } from '#api/store/advance.ts';
import { insertSettlementQuote } from '#api/store/settlement-fees.ts';
import { findSettlement, lockSettlement, type StoredSettlement } from '#api/store/settlements.ts';
import { Invariant } from '#shared/core/errors.ts';
import { formatAmount } from '#shared/core/money.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import { masterKeys } from '#shared/platform/key-ring.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { availableIn } from '#state-machines/settlement/gates/pool.ts';
import { NO_SETTLEMENT_FACTS } from '#state-machines/settlement/machine.ts';
import type { SettlementRequest } from '#state-machines/settlement/settlement.ts';
import { type Claimant, claimedFields, claimSettlement, decideUnderLock, type LastDecision, notePolicy, recordOf } from './claim.ts';
import type { Gathered } from './gather-facts.ts';
import { isOrdered, orderMac } from '#api/intents/order-mac.ts';
import { waitReason } from '#shared/core/wait-reasons.ts';
import { initiatorOf, reasonOf, SHORT } from './prepare-activation.ts';
import { queueDispatch } from './queue-dispatch.ts';

/** The result for a parked cashout: it moved on, it stays for a reason, or it is no longer parked in the same way. */
export type Activated = { moved: StoredSettlement } | { stays: string } | { gone: true };

export interface Activation {
  gateway: Gateway;
  id: string;
  /** As `prepareActivation` found them. */
  facts: SettlementRequest;
  quote: Gathered['quote'];
  feePayer: 'MERCHANT' | 'PLATFORM';
  actor: 'merchant' | 'sweeper';
}

/**
 * Activates a parked cashout whose facts were fetched: decides again under the locks of its row and pool, then claims (contract 3.2, 4.3).
 * It claims only what the http role accepted when the cashout was parked. A row that says otherwise stays parked. A cashout whose fee rose above
 * the accepted ceiling also stays, until its merchant asks for it over HTTP again (decision 0036). Locks the settlement, the pool's ledger account,
 * and the credits it draws.
 */
export async function activate(tx: Tx, deps: Deps, { gateway, id, facts: fetched, quote, feePayer, actor }: Activation): Promise<Activated> {
  const row = await lockSettlement(tx, id);
  if (row === undefined || row.status !== fetched.parkedAs) return { gone: true };
  const who: Claimant = {
    settlementId: id,
    gatewayId: row.gatewayId,
    assetId: row.assetId,
    networkId: row.networkId,
    recipient: row.canonicalAddress,
    amount: row.amount,
  };
  const order = { ...who, route: row.requestedRoute, pool: row.pool };
  const accepted = await acceptancesOf(tx, deps, row);
  if (!Array.isArray(accepted) && 'wait' in accepted) return { stays: accepted.wait };
  if (!Array.isArray(accepted) || !isOrdered(masterKeys(deps.config), order, row.orderMac)) {
    const reason = Array.isArray(accepted) ? 'its pool is not the one that was chosen' : accepted.refuse;
    deps.log.error({ settlement: id, reason }, 'a parked cashout is not what was asked for: somebody changed its row');
    return { stays: waitReason('not_as_asked') };
  }
  const { decision: decided, facts } = await decideUnderLock(
    tx,
    { ...fetched, amount: row.amount, parkedPool: row.pool ?? undefined },
    { ...who, initiator: initiatorOf(row) },
  );
  if (decided.outcome === 'refuse') return { stays: reasonOf(decided) };
  if (decided.outcome === 'park' && decided.status === row.status) return { stays: SHORT };
  const decision = asAccepted(decided, accepted);
  const anew = decision.outcome !== 'park' && decision.feeLocked > ceilingOf(accepted);
  if (anew && actor !== 'merchant')
    return {
      stays: waitReason('fee_above_accepted', { fee: formatAmount(decision.feeLocked), accepted: formatAmount(ceilingOf(accepted)) }),
    };

  const claimed = decision.outcome === 'park' ? null : claimedFields(deps, who, { decision, feePayer });
  const advanced = await advance(tx, 'settlement', {
    id,
    event: row.status === 'UNDERFUNDED' ? 'ACTIVATED' : 'SCREENED',
    actor,
    facts: () => ({
      facts: {
        ...NO_SETTLEMENT_FACTS,
        amount: row.amount,
        available: decision.pool === null ? null : availableIn(facts, decision.pool),
        holdReason: decision.outcome === 'hold' ? decision.reason : null,
      },
      columns: {
        wait_reason: null,
        ...(row.status === 'WAITING_AML_CREDIT' && routeColumns(decision)),
        ...(decision.outcome === 'park' && { order_mac: orderMac(masterKeys(deps.config).current, { ...order, pool: decision.pool }) }),
        ...(claimed !== null && {
          fee_locked: formatAmount(claimed.feeLocked),
          net_amount: formatAmount(claimed.netAmount),
          fee_payer: claimed.feePayer,
          hold_reason: claimed.holdReason,
          intent_mac: claimed.intentMac,
        }),
      },
      record: recordOf(facts, decision),
    }),
    effects: {
      reserve: async () => {
        if (decision.outcome === 'park') throw new Invariant(`settlement ${id} was parked by its gates and claimed by its machine`);
        await notePolicy(tx, id, decision);
        await claimSettlement(tx, who, decision.pool);
        if (quote !== null) await insertSettlementQuote(tx, id, quote);
      },
      dispatch: () => queueDispatch(tx, deps, { settlementId: id, delaySeconds: gateway.settings.cashout.dispatchDelaySeconds }),
    },
  });
  const moved = (await findSettlement(tx, id)) as StoredSettlement;
  if (anew) {
    const { feeLocked, people } = decision;
    await acceptCashout(tx, deps, moved, { feeCeiling: feeLocked, people, parked: false, by: 'retry' });
  }
  deps.metrics?.settlementTransitions.inc({ from: advanced.from, to: advanced.to, route: row.requestedRoute });
  crashPoint('park.activated');
  return { moved };
}

/** A cashout that was accepted only with approval is never claimed without it, whatever the cap and the price are now. */
function asAccepted(decision: Moving, accepted: readonly Accepted[]): Moving {
  if (decision.outcome === 'park') return decision;
  const people = Math.max(decision.people, Math.min(...accepted.map((one) => one.people)));
  if (people === 0) return decision;
  return decision.outcome === 'hold' ? { ...decision, people } : { ...decision, people, outcome: 'hold', reason: people > 1 ? 'policy' : 'approval_cap' };
}

type Moving = Exclude<LastDecision, { outcome: 'refuse' }>;

/** The columns about the route that a verdict decided. An UNDERFUNDED cashout keeps those of its creation. */
function routeColumns({ pool, routedByService, riskScore }: Exclude<LastDecision, { outcome: 'refuse' }>): Record<string, unknown> {
  return { pool, routed_by_service: routedByService, destination_risk_score: riskScore };
}
