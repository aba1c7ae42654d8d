import type { Commit, Deps, Gateway, Reply } from '#api/deps.ts';
import { storeAddress } from '#api/store/address-book.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import type { SentJson } from '#shared/core/sent-json.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { needsPrice } from '#state-machines/settlement/policies.ts';
import type { Decision, SettlementRequest } from '#state-machines/settlement/settlement.ts';
import { claimSettlement, decideUnderLock } from './claim.ts';
import { askAbout, gatherFacts } from './gather-facts.ts';
import { addressOf, type Asked, type Asker, countCreated, insertAccepted } from './insert-accepted.ts';
import { type CreateSettlementBody, readOrder } from './read-request.ts';
import { sharedClaim } from './share-claims.ts';

export interface CreateSettlement {
  gateway: Gateway;
  body: CreateSettlementBody;
  /** The body as it was sent; absent when the caller is not an HTTP request. */
  sent?: () => SentJson;
  /** The person who asks for it in the console, or the key; absent when it is no request. */
  by?: Asker;
  commit: Commit;
}

/**
 * Creates a cashout (contract 4.3, decisions 10). First fetches every fact that the gates need; then decides a last time under the pool's lock, and
 * in that transaction claims the amount or parks the request. Claims of one moment on one pool share a transaction.
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
  const asked = { gateway, order: { ...order, initiator, ...(by && { by }) }, gathered: priced };
  const reply = await commit((tx) => decideAndInsert(tx, deps, asked), sharedClaim(deps, asked));
  deps.wake();
  return reply;
}

async function decideAndInsert(tx: Tx, deps: Deps, { gateway, order, gathered: { facts: fetched, quote } }: Asked): Promise<Reply> {
  const { asset, destination, initiator } = order;
  const at = { gatewayId: gateway.id, assetId: asset.id, networkId: asset.networkId, recipient: destination.canonical };
  const { decision, facts } = await decideUnderLock(tx, fetched, { ...at, settlementId: null, initiator });
  if (decision.outcome === 'refuse') throw refusal(decision);
  const id = uuidFrom(deps.randomBytes(16));
  const addressId = await storeAddress(tx, addressOf(deps, gateway, order));
  if (decision.outcome !== 'park') await claimSettlement(tx, { ...at, settlementId: id, amount: order.amount }, decision.pool);
  const [reply] = (await insertAccepted(tx, deps, [{ gateway, order, id, addressId, decision, facts, quote }])) as [Reply];
  countCreated(deps, reply, order);
  if (decision.outcome === 'park') crashPoint('park.inserted');
  return reply;
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
