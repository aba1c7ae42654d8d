import type { Deps, Gateway, Reply } from '#api/deps.ts';
import { type Acceptance, acceptCashouts } from '#api/intents/cashout.ts';
import { orderMac } from '#api/intents/order-mac.ts';
import type { AddressBookEntry } from '#api/store/address-book.ts';
import { appendEvents } from '#api/store/advance.ts';
import { insertSettlementKeys } from '#api/store/key-makers.ts';
import { insertOutbox } from '#api/store/outbox.ts';
import { insertSettlementQuote } from '#api/store/settlement-fees.ts';
import { insertSettlements, type NewSettlement, type SettlementStart, type StoredSettlement } from '#api/store/settlements.ts';
import { allEnded } from '#shared/core/both-ended.ts';
import { rowId, uuidFrom } from '#shared/core/ids.ts';
import { POLICY } from '#shared/core/policy.ts';
import { masterKeys } from '#shared/platform/key-ring.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { feeCeiling } from '#state-machines/settlement/acceptance.ts';
import { networkFeePayer } from '#state-machines/settlement/network-fee.ts';
import type { SettlementRequest } from '#state-machines/settlement/settlement.ts';
import { type Claimant, claimedFields, type LastDecision, notePolicy, recordOf } from './claim.ts';
import type { Cashout, Gathered } from './gather-facts.ts';
import type { SettlementOrder } from './read-request.ts';
import { settlementView } from './view.ts';

const PARKED_SECONDS = POLICY.parkedDays * 86_400;

/** The person who asks for a cashout in the console, or the key. */
export type Asker = { personId: string } | { keyId: string };

/** A cashout that is asked for, with every fact that is fetched before anything is locked. */
export interface Asked {
  gateway: Gateway;
  order: SettlementOrder & Pick<NewSettlement, 'createdBy'> & Pick<Cashout, 'initiator'> & { by?: Asker };
  gathered: Pick<Gathered, 'facts' | 'decision' | 'quote'>;
}

/** A cashout that was decided about under the lock; what it claims is claimed already. */
export interface AcceptedCashout extends Pick<Asked, 'gateway' | 'order'>, Pick<Gathered, 'quote'> {
  id: string;
  /** Its entry of the address book. */
  addressId: string;
  decision: Accepted;
  facts: SettlementRequest;
}

/** A decision that creates a row. */
type Accepted = Exclude<LastDecision, { outcome: 'refuse' }>;

/** The address-book entry that a cashout makes where its destination is new. */
export function addressOf(deps: Deps, { id }: Gateway, { asset, destination, label }: SettlementOrder): AddressBookEntry {
  return { id: uuidFrom(deps.randomBytes(16)), gatewayId: id, networkId: asset.networkId, address: destination.canonical, label };
}

/** Writes cashouts with everything that is kept of them, in the transaction that claims for them, and returns how each is answered. Locks nothing. */
export async function insertAccepted(tx: Tx, deps: Deps, accepted: readonly AcceptedCashout[]): Promise<Reply[]> {
  const rows = accepted.map((one) => rowOf(deps, one));
  const stored = await insertSettlements(tx, rows);
  const made = accepted.map((one, place) => ({ ...one, start: (rows[place] as NewSettlement).start, settlement: stored.get(one.id) as StoredSettlement }));
  const asked = accepted.flatMap(({ id, order: { by } }) => (by !== undefined && 'keyId' in by ? [{ settlementId: id, keyId: by.keyId }] : []));
  const due = made.flatMap(({ id, settlement: { dispatchAt } }) =>
    dispatchAt === null ? [] : [{ id: rowId(deps), topic: 'settlement.dispatch' as const, refId: id, dueAt: dispatchAt }],
  );
  // Sent together: none of them needs another's answer.
  await allEnded<unknown>([
    ...(asked.length > 0 ? [insertSettlementKeys(tx, asked)] : []),
    acceptCashouts(
      tx,
      deps,
      made.map(({ settlement, order, facts, decision }) => ({ row: settlement, acceptance: acceptanceOf(order, facts, decision) })),
    ),
    ...made.flatMap(({ id, decision, quote, start }) => [
      notePolicy(tx, id, decision),
      ...(quote !== null && 'feeLocked' in start ? [insertSettlementQuote(tx, id, quote)] : []),
    ]),
    appendEvents(
      tx,
      'settlement',
      made.map(({ id, start, facts, decision }) => ({
        id,
        event: 'CREATED',
        from: null,
        to: start.status,
        facts: recordOf(facts, decision),
        actor: 'merchant',
      })),
    ),
    ...(due.length > 0 ? [insertOutbox(tx, ...due)] : []),
  ]);
  return made.map(({ id, decision, facts, settlement }) => {
    // Its history, from which reads have the price, was written just now.
    const data = settlementView(deps, { ...settlement, priceUsd: facts.priceUsd ?? null });
    return { status: decision.outcome === 'park' ? 202 : 200, data, resourceId: id };
  });
}

function rowOf(deps: Deps, { gateway, order, id, addressId, decision }: AcceptedCashout): NewSettlement {
  const { asset, destination } = order;
  const at = { gatewayId: gateway.id, assetId: asset.id, networkId: asset.networkId };
  return {
    ...at,
    id,
    addressId,
    address: destination.display,
    amountText: order.amountText,
    amount: order.amount,
    route: order.route,
    pool: decision.pool,
    routedByService: decision.routedByService,
    riskScore: decision.riskScore,
    metadata: order.metadata,
    createdBy: order.createdBy,
    start: startWith(deps, gateway, { order, decision, who: { ...at, recipient: destination.canonical, settlementId: id, amount: order.amount } }),
  };
}

/** Counts a cashout that was created. */
export function countCreated({ metrics }: Deps, { data }: Reply, { route }: SettlementOrder): void {
  metrics?.settlementTransitions.inc({ from: 'none', to: (data as { status: string }).status, route });
}

/** With what it claimed, or how long the request is parked; a parked request holds nothing. */
function startWith(deps: Deps, gateway: Gateway, { order, decision, who }: { order: SettlementOrder; decision: Accepted; who: Claimant }): SettlementStart {
  if (decision.outcome === 'park') {
    const asked = { ...who, route: order.route, pool: decision.pool };
    return { status: decision.status, parkedSeconds: PARKED_SECONDS, orderMac: orderMac(masterKeys(deps.config).current, asked) };
  }
  return {
    status: decision.outcome === 'hold' ? 'PENDING_APPROVAL' : 'REQUESTED',
    dispatchDelaySeconds: gateway.settings.cashout.dispatchDelaySeconds,
    ...claimedFields(deps, who, { decision, feePayer: networkFeePayer(gateway.billing, order.asset.type) }),
  };
}

/** The terms that the http role states as accepted: a claim exactly as it is, a parked request with room for its fee to rise before it claims. */
function acceptanceOf({ amount }: Pick<SettlementOrder, 'amount'>, facts: SettlementRequest, decision: Accepted): Acceptance {
  const { people } = decision;
  if (decision.outcome !== 'park') return { feeCeiling: decision.feeLocked, people, parked: false };
  return { feeCeiling: feeCeiling(amount, facts.feeLocked ?? null), people, parked: true };
}
