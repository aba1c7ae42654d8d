import type { Commit, Deps, Gateway, Reply } from '#api/deps.ts';
import { type Acceptance, acceptCashout } from '#api/intents/cashout.ts';
import { storeAddress } from '#api/store/address-book.ts';
import { appendEvent } from '#api/store/advance.ts';
import { insertSettlementKey } from '#api/store/key-makers.ts';
import { insertOutbox } from '#api/store/outbox.ts';
import { insertSettlementQuote } from '#api/store/settlement-fees.ts';
import { insertSettlement, type NewSettlement, type SettlementStart } from '#api/store/settlements.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { rowId, uuidFrom } from '#shared/core/ids.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { SentJson } from '#shared/core/sent-json.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import { masterKeys } from '#shared/platform/key-ring.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { feeCeiling } from '#state-machines/settlement/acceptance.ts';
import { needsPrice } from '#state-machines/settlement/policies.ts';
import { networkFeePayer } from '#state-machines/settlement/network-fee.ts';
import type { Decision, SettlementRequest } from '#state-machines/settlement/settlement.ts';
import { type Claimant, claimedFields, claimSettlement, decideUnderLock, type LastDecision, notePolicy, recordOf } from './claim.ts';
import { askAbout, type Cashout, type Gathered, gatherFacts } from './gather-facts.ts';
import { orderMac } from '#api/intents/order-mac.ts';
import { type CreateSettlementBody, readOrder, type SettlementOrder } from './read-request.ts';
import { settlementView } from './view.ts';

const PARKED_SECONDS = POLICY.parkedDays * 86_400;

export interface CreateSettlement {
  gateway: Gateway;
  body: CreateSettlementBody;
  /** The body as it was sent; absent when the caller is not an HTTP request. */
  sent?: () => SentJson;
  /** The person who asks for it in the console, or the key; absent when it is no request. */
  by?: { personId: string } | { keyId: string };
  commit: Commit;
}

/** A decision that creates a row. */
type Accepted = Exclude<LastDecision, { outcome: 'refuse' }>;

/**
 * Creates a cashout (contract 4.3, decisions 10). First fetches every fact that the gates need; then decides a last time under the pool's lock, and
 * in that transaction claims the amount or parks the request.
 * Locks the pool's ledger account, then the credits it draws or, to park, the gateway's row.
 * @throws validation_error, below_minimum_settlement, amount_below_network_fee, insufficient_balance, too_many_parked_cashouts, screening_required,
 * fee_estimation_unavailable
 */
export async function createSettlement(deps: Deps, { gateway, body, sent, by, commit }: CreateSettlement): Promise<Reply> {
  const order = { ...(await readOrder(deps, body, sent)), createdBy: by !== undefined && 'personId' in by ? by.personId : null };
  const { asset, chain, amount, rawAmount, route } = order;
  const initiator = order.createdBy === null ? ('key' as const) : ('person' as const);
  const cashout = { gateway, asset, chain, recipient: order.destination.canonical, amount, rawAmount, route, initiator };
  const gathered = await gatherFacts(deps, cashout, askAbout(cashout, { parkedAs: null }));
  if (gathered.decision.outcome === 'refuse') throw refusal(gathered.decision);
  const priced = { ...gathered, facts: await withPrice(deps, gathered.facts, asset.symbol) };
  const reply = await commit((tx) => decideAndInsert(tx, deps, gateway, { ...order, initiator, ...(by && { by }) }, priced));
  deps.wake();
  return reply;
}

async function decideAndInsert(
  tx: Tx,
  deps: Deps,
  gateway: Gateway,
  order: SettlementOrder & Pick<NewSettlement, 'createdBy'> & Pick<Cashout, 'initiator'> & Pick<CreateSettlement, 'by'>,
  { facts: fetched, quote }: Gathered,
): Promise<Reply> {
  const { asset, destination, initiator } = order;
  const at = { gatewayId: gateway.id, assetId: asset.id, networkId: asset.networkId, recipient: destination.canonical };
  const { decision, facts } = await decideUnderLock(tx, fetched, { ...at, settlementId: null, initiator });
  if (decision.outcome === 'refuse') throw refusal(decision);
  const id = uuidFrom(deps.randomBytes(16));
  const who = { ...at, settlementId: id, amount: order.amount };
  const row: NewSettlement = {
    id,
    gatewayId: gateway.id,
    assetId: asset.id,
    networkId: asset.networkId,
    addressId: await storeAddress(tx, {
      id: uuidFrom(deps.randomBytes(16)),
      gatewayId: gateway.id,
      networkId: asset.networkId,
      address: destination.canonical,
      label: order.label,
    }),
    address: destination.display,
    amountText: order.amountText,
    amount: order.amount,
    route: order.route,
    pool: decision.pool,
    routedByService: decision.routedByService,
    riskScore: decision.riskScore,
    metadata: order.metadata,
    createdBy: order.createdBy,
    start: await startWith(tx, deps, gateway, { order, decision, who }),
  };
  const settlement = await insertSettlement(tx, row);
  if (order.by !== undefined && 'keyId' in order.by) await insertSettlementKey(tx, id, order.by.keyId);
  await notePolicy(tx, id, decision);
  await acceptCashout(tx, deps, settlement, acceptanceOf(order, facts, decision));
  if (quote !== null && 'feeLocked' in row.start) await insertSettlementQuote(tx, id, quote);
  const { status } = row.start;
  await appendEvent(tx, 'settlement', { id, event: 'CREATED', from: null, to: status, facts: recordOf(facts, decision), actor: 'merchant' });
  if (settlement.dispatchAt !== null) {
    await insertOutbox(tx, { id: rowId(deps), topic: 'settlement.dispatch', refId: id, dueAt: settlement.dispatchAt });
  }
  deps.metrics?.settlementTransitions.inc({ from: 'none', to: status, route: order.route });
  if (decision.outcome === 'park') crashPoint('park.inserted');
  // Its history, from which reads have the price, was written just now.
  const made = { ...settlement, priceUsd: facts.priceUsd ?? null };
  return { status: decision.outcome === 'park' ? 202 : 200, data: settlementView(deps, made), resourceId: id };
}

/** Claims the amount, or returns how long the request is parked; a parked request holds nothing. */
async function startWith(
  tx: Tx,
  deps: Deps,
  gateway: Gateway,
  { order, decision, who }: { order: SettlementOrder; decision: Accepted; who: Claimant },
): Promise<SettlementStart> {
  if (decision.outcome === 'park') {
    const asked = { ...who, route: order.route, pool: decision.pool };
    return { status: decision.status, parkedSeconds: PARKED_SECONDS, orderMac: orderMac(masterKeys(deps.config).current, asked) };
  }
  await claimSettlement(tx, who, decision.pool);
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

/** Fetches the price if the gateway has an approval cap, or policies that ask for one, even when parking needs no price: above the cap, a cashout is accepted only with approval. */
async function withPrice(deps: Deps, facts: SettlementRequest, symbol: string): Promise<SettlementRequest> {
  if (facts.priceUsd !== undefined || (facts.approvalCapUsd === null && !needsPrice(facts.policies?.policies ?? []))) return facts;
  return { ...facts, priceUsd: (await deps.prices.fresh(symbol))?.usd };
}

function refusal({ code, message }: Extract<Decision, { outcome: 'refuse' }>): ServiceError {
  // What a policy refuses is not wrong in any one field.
  const field = code === 'screening_required' ? 'route' : code === 'forbidden' ? undefined : 'amount';
  return new ServiceError(code, { ...(field !== undefined && { field }), ...(message !== undefined && { message }) });
}
